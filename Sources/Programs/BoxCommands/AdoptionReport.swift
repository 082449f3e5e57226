import BoxConfiguration
import Console
import ErrorCatalog
import Settings
import Wire

/// What has become of a file, for programs and, as `watchbox-result.txt`, for whoever wrote it. Holds no secret.
struct AdoptionReport: Codable, Equatable, Sendable {
    enum Outcome: String, Codable, Sendable {
        /// All of it, and the file is wiped.
        case taken
        /// It could be taken: a dry run.
        case checked
        /// The file has to be corrected; nothing was changed.
        case refused
        /// The box could not take it.
        case failed
        /// There is no file.
        case nothing
        /// The box is somebody's already, and the file is on a drive that anybody can put in. Nothing was done to it.
        case notTaken
    }

    /// Why the box could not take it.
    struct Problem: Codable, Equatable, Sendable {
        var what: String
        var why: String
        var hint: String
        /// Nothing of the file is in use.
        var isUnchanged: Bool
    }

    var schema = "watchbox.adoption/1"
    var outcome: Outcome
    /// A run before did all but end.
    var isRest = false
    var name: String?
    var hostName: String?
    /// `192.168.1.20/24`, or `DHCP`; nil: as it was.
    var ethernet: String?
    var wirelessNetwork: String?
    /// Their comments.
    var administratorKeys: [String]?
    /// What has to be corrected.
    var issues: [ConfigurationIssue] = []
    /// What is incomplete.
    var notes: [ConfigurationIssue] = []
    var problem: Problem?
    var changes: [ConfigurationChange] = []
    /// Their places, `kas.token`.
    var secrets: [String] = []
    /// Files of the system, below the root.
    var files: [String] = []
    /// Units that read them again.
    var restart: [String] = []
    /// Exit status of the command.
    var status = ExitStatus.ok.rawValue

    init(_ outcome: Outcome) {
        self.outcome = outcome
        if outcome == .nothing || outcome == .notTaken { status = ExitStatus.notFound.rawValue }
    }

    init(refusals: [ConfigurationIssue]) {
        self.init(.refused)
        issues = refusals.filter { !$0.isWarning }
        status = ExitStatus.invalidConfiguration.rawValue
    }

    /// Of the file as a whole.
    init(refusal reason: String, _ hint: String) {
        self.init(refusals: [
            ConfigurationIssue(
                code: .unreadableFile, file: AdoptionVolume.fileName, key: "", reason: reason, hint: hint)
        ])
    }

    mutating func describe(_ file: AdoptionFile) {
        name = file.name
        ethernet = file.ethernet.map { $0.address ?? "DHCP" }
        wirelessNetwork = file.wireless?.ssid
        administratorKeys = file.administratorKeys.map { keys in
            keys.map { $0.comment.isEmpty ? $0.type : $0.comment }
        }
        secrets = file.secrets.map(\.key)
    }

    mutating func describe(_ system: [SystemFile]) {
        files = system.map(\.path)
        restart = system.compactMap(\.restarts)
        hostName = system.first { $0.path == AdoptionSystem.hostName }.map { String($0.text.dropLast()) }
    }

    mutating func fail(_ error: any Error, isUnchanged: Bool) {
        outcome = .failed
        let failure =
            error as? CommandFailure
            ?? CommandFailure(
                what: "nothing was changed", why: "\(error)", hint: "start the box again with this drive")
        problem = Problem(what: failure.what, why: failure.why, hint: failure.hint, isUnchanged: isUnchanged)
        status = failure.status.rawValue
    }

    /// It failed, and not for what the file says: the same file may be taken a minute later.
    var mayPass: Bool {
        outcome == .failed
            && [ExitStatus.failed, .daemonUnreachable, .remoteUnreachable].contains { $0.rawValue == status }
    }

    // MARK: For people

    /// With the line ends that every editor shows.
    var text: String { lines.map { $0 + "\r\n" }.joined() }

    var lines: [String] {
        switch outcome {
        case .taken where isRest: ["WatchBox: an earlier start has taken this file; its wiping has ended now."]
        case .taken: ["WatchBox: all of \(AdoptionVolume.fileName) was taken.", ""] + summary + wiped
        case .checked: ["WatchBox: \(AdoptionVolume.fileName) can be taken. Nothing was changed.", ""] + summary
        case .refused: refusal
        case .failed: failure
        case .nothing: ["WatchBox: there is no \(AdoptionVolume.fileName) here."]
        case .notTaken:
            [
                "WatchBox: \(AdoptionVolume.fileName) was not taken: this box is adopted already, and anybody can put a stick in.",
                "Next: to begin again, put an empty file WATCHBOX/factory-reset on the stick.",
            ]
        }
    }

    private var summary: [String] {
        var lines: [String] = []
        func say(_ label: String, _ text: String?) {
            guard let text else { return }
            lines.append(label + String(repeating: " ", count: max(1, 16 - label.count)) + text)
        }
        say("Box:", name)
        say("Host name:", hostName)
        say("Ethernet:", ethernet.map { $0 == "DHCP" ? "address from your router (DHCP)" : $0 })
        say("Wi-Fi:", wirelessNetwork.map { ShownText.cleaned($0, limit: 32) })
        say("SSH keys:", administratorKeys.map { $0.isEmpty ? "none: nobody logs in" : $0.joined(separator: ", ") })
        say("Objects:", changes.isEmpty ? nil : changes.map { "\($0.object) \($0.kind)" }.joined(separator: ", "))
        say("Encrypted:", secrets.isEmpty ? nil : secrets.joined(separator: ", "))
        if !notes.isEmpty { lines += ["", "Incomplete:"] + notes.map(Self.line) }
        return lines
    }

    private var wiped: [String] {
        let place: String
        if let ethernet, ethernet != "DHCP" {
            place = "In your network the box is at \(ethernet.prefix { $0 != "/" })."
        } else {
            place = "Your router's list of devices shows the box's address\(hostName.map { " beside \($0)" } ?? "")."
        }
        return [
            "",
            "\(AdoptionVolume.fileName) was overwritten with zeros and deleted, since it may have held passwords.",
            "A memory card can keep old copies all the same: format this drive when you need it no more.",
            "", "Next: take the stick out, if it is one. \(place)",
        ]
    }

    private var refusal: [String] {
        ["WatchBox: \(AdoptionVolume.fileName) was NOT taken. Nothing was changed.", ""]
            + issues.map(Self.line)
            + [
                "",
                "Next: correct \(issues.count == 1 ? "this" : "these") in \(AdoptionVolume.fileName), save it, "
                    + "and start the box with this drive again.",
            ]
    }

    private var failure: [String] {
        guard let problem else { return [] }
        return [
            "WatchBox: \(AdoptionVolume.fileName) was NOT taken."
                + (problem.isUnchanged ? " Nothing was changed." : " A part of it may be in use already."),
            "", "\(problem.what): \(problem.why).", "", "Next: \(problem.hint).", "",
            "\(AdoptionVolume.fileName) stays as it is, with the passwords in it.",
        ]
    }

    /// `Line 3: relay.main.ur is not known, did you mean `url`? Write `url`. (WB-1003)`
    private static func line(_ issue: ConfigurationIssue) -> String {
        let subject = issue.key.isEmpty ? AdoptionVolume.fileName : issue.key
        let end = issue.reason.hasSuffix("?") ? "" : "."
        return (issue.line.map { "Line \($0): " } ?? "") + "\(subject) \(issue.reason)\(end) \(issue.hint). "
            + "(\(issue.code))"
    }
}
