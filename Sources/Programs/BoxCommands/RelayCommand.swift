import ArgumentParser
import Console
import FoundationEssentials
import RTMP
import RTMPTransport
import RelayProbe

struct RelayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "relay", abstract: "Relays: those that this box publishes to, and the one that runs on it.",
        subcommands: [
            RelayListCommand.self, RelayShowCommand.self, RelayAddCommand.self, RelayEditCommand.self,
            RelayRemoveCommand.self, RelayUseCommand.self, RelayTestCommand.self,
            RelayKeyCommand.self, RelayLinkCommand.self, RelayStatusCommand.self, RelayStreamsCommand.self,
            RelayConnectionsCommand.self, RelayKickCommand.self, RelayDrainCommand.self,
            RelayEventsCommand.self,
        ])
}

struct RelayTestCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test",
        abstract: "Say what a relay does to an encrypted stream, before a camera depends on it.",
        discussion: """
            Publishes three seconds of random bytes, sealed under a key that no one has, and plays them back twice.

              watchboxctl relay test rtmp://127.0.0.1:1935/live
              watchboxctl relay test --url-file relay.url
            """)

    @Argument(help: "rtmp://host/app, or with a stream name that is not in use.")
    var url: String?

    @Option(help: "File that holds the URL, when it is a secret.")
    var urlFile: String?

    @Option(help: "PEM file of the authorities to trust for the relay instead of the system's.")
    var relayCA: String?

    @Option(
        help: ArgumentHelp(
            "The only public key of the relay that is accepted, beside its certificates.", valueName: "sha256//…"))
    var relayPin: String?

    @Flag(help: "Print a JSON document.")
    var json = false

    @OptionGroup(visibility: .hidden) var box: HostOption

    func validate() throws {
        guard (url == nil) != (urlFile == nil) else { throw ValidationError("Name a URL, or a file with --url-file.") }
        if let url, url.contains("@") || url.contains("?") {
            throw ValidationError(
                "This URL holds a secret, and others can read command lines. Put it into a file: --url-file.")
        }
    }

    func run() async throws {
        try box.requireThisMachine()
        let (url, ownsName) = try relayURL()
        let progress = ProgressLine()
        let findings: RelayFindings
        do {
            let probe = RelayProbe(
                url: url, tls: try RTMPClientTLS(authorityFile: relayCA, pin: relayPin), ownsName: ownsName)
            findings = try await probe.run { progress.step($0.rawValue) }
        } catch let error as RTMPTransportError {
            throw CommandFailure(
                what: "the relay takes no stream: \(error.what)", why: error.why, hint: error.hint,
                status: .remoteUnreachable)
        }
        StandardOutput.show(findings, json: json, Self.table(findings))
        if findings.verdict == .cannotCarry { throw ExitCode(ExitStatus.degraded.rawValue) }
    }

    /// And whether the stream's name is made up here.
    private func relayURL() throws -> (RTMPURL, ownsName: Bool) {
        do {
            let text = try url ?? TextFile.firstLine(of: urlFile ?? "")
            do {
                return (try RTMPURL(text), false)
            } catch .missingStreamName {
                let name = "watchbox-test-\(UInt32.random(in: 0 ... .max))"
                return (try RTMPURL(server: text, streamName: name), true)
            }
        } catch let error as RTMPURLError {
            throw CommandFailure(
                what: "no relay can be tested", why: "the URL is not understood: \(error)",
                hint: "use rtmp://host/app or rtmps://host/app", status: .usage)
        }
    }

    private static func table(_ findings: RelayFindings) -> [String] {
        func time(_ value: Double?) -> String { value.map { "\(Int($0.rounded())) ms" } ?? "no answer" }
        let rows = [
            ("publish accepted", time(findings.publishMilliseconds)),
            ("answer to a ping", time(findings.roundTripMilliseconds)),
            ("frames unchanged", "\(findings.framesExact) of \(findings.framesSent)"),
            ("header in metadata", findings.keepsMetadata ? "passes" : "lost"),
            ("header frame", findings.passesHeaderFrame ? "passes" : "lost"),
            ("late joiner", lateJoiner(findings)),
            ("verdict", "\(findings.verdict.rawValue): \(findings.reason)."),
        ]
        return rows.map { label, value in label + String(repeating: " ", count: 20 - label.count) + value }
    }

    private static func lateJoiner(_ findings: RelayFindings) -> String {
        guard let milliseconds = findings.lateJoinerMilliseconds else { return "got no key frame" }
        return "key frame after \(Int(milliseconds.rounded())) ms, "
            + (findings.lateJoinerHasHeader ? "its NanoTDF header before it" : "WITHOUT its NanoTDF header")
            + (findings.lateJoinerBeginsWithKeyFrame ? "" : "; frames that cannot be decoded before it")
    }
}
