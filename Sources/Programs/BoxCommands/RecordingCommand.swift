import ArgumentParser
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient
import Glibc
internal import Platform
internal import Settings
import TDFCryptography

struct RecordingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recording", abstract: "Record cameras on the box, encrypted from the first byte.",
        discussion: """
            What is recorded is sealed for the key access server, as the stream is: neither the box nor who takes its disk can \
            look at it. watchboxctl archive list shows what there is, archive export takes a part out.
            """,
        subcommands: [
            RecordingOnCommand.self, RecordingOffCommand.self, RecordingMarkCommand.self, RecordingStatusCommand.self,
        ])

    /// - Parameter note: what a person should know of the camera beside `done`; nil: nothing.
    static func change(
        _ camera: CameraArgument, _ settings: [String: SettingValue], _ done: String, _ output: OutputOptions,
        note: (_ camera: CameraDocument) -> String? = { _ in nil }
    ) async throws {
        let what = "the recording of \(camera.id) was not changed"
        let look = try await output.client.look(CameraDocument.self, camera.path, or: what)
        let document = try await output.client.send(
            .patch, camera.path, body: CameraRequest(settings: settings), ifMatch: look?.eTag, as: CameraDocument.self,
            or: what)
        let note = note(document).map { ": \($0)" } ?? ""
        output.report("\(camera.id): \(done)\(note).", Done(object: "camera.\(camera.id)", action: done))
    }
}

struct RecordingOnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on",
        abstract: "Record a camera, from now on and after every start: all the time, or around events.",
        discussion: """
            The camera starts again, which viewers see as a gap of a second or two. What is not named stays as it was; at first \
            that is 8 gigabytes, 30 days, and 1 gigabyte that is left free. Around events: what an onvif:// camera reports as motion, \
            tampering or an input, and watchboxctl recording mark; with 10 seconds before it and 30 after it. With a schedule, its \
            spans are recorded whole, by the box's time zone; without --events nothing else is then.

              watchboxctl recording on front
              watchboxctl recording on front --gigabytes 50 --days 14
              watchboxctl recording on front --recovery-key recovery-public.pem
              watchboxctl recording on front --events --before 20 --after 60
              watchboxctl recording on front --events --schedule "mon-fri 18:00-07:00" --schedule sat-sun
            """)

    @OptionGroup var camera: CameraArgument

    @Flag(help: "Only around events.")
    var events = false

    @Option(help: "Seconds before an event, 0 to 60.")
    var before: Double?

    @Option(help: "Seconds after an event, 1 to 600.")
    var after: Double?

    @Option(
        help: ArgumentHelp(
            "Days, hours or both that are recorded whole; may be repeated; always: there are none.",
            valueName: "days from-to"))
    var schedule: [String] = []

    @Option(
        help: ArgumentHelp(
            "PEM file of the public RSA key whose private half opens what is recorded from now on as well, without a KAS; none: the KAS alone does.",
            valueName: "file"),
        completion: .file())
    var recoveryKey: String?

    @Option(help: "Gigabytes that its recordings may take together; then the oldest go.")
    var gigabytes: Double?

    @Option(help: "Days until a recording goes.")
    var days: Double?

    @Option(help: "Gigabytes of the disk that stay free, whoever fills it.")
    var freeGigabytes: Double?

    @OptionGroup var output: OutputOptions

    /// Takes a schedule back.
    private static let always = "always"
    /// Takes a recovery key back.
    private static let none = "none"

    func validate() throws {
        for (option, seconds, range) in [
            ("--before", before, CameraConfiguration.Recording.before),
            ("--after", after, CameraConfiguration.Recording.after),
        ] where seconds.map(range.contains) == false {
            throw ValidationError("\(option) is \(Int(range.lowerBound)) to \(Int(range.upperBound)).")
        }
        guard schedule != [Self.always] else { return }
        for text in schedule {
            do throws(WeekSpan.Fault) { _ = try WeekSpan(text) } catch {
                throw ValidationError("--schedule \"\(text.terminalSafe)\": \(error).")
            }
        }
    }

    func run() async throws {
        var settings: [String: SettingValue] = [
            "record": .string((events ? CameraConfiguration.RecordingMode.events : .continuous).rawValue)
        ]
        settings["record_before"] = before.map { .real($0) }
        settings["record_after"] = after.map { .real($0) }
        if !schedule.isEmpty { settings["record_schedule"] = .strings(schedule == [Self.always] ? [] : schedule) }
        settings["record_gigabytes"] = gigabytes.map { .real($0) }
        settings["record_days"] = days.map { .real($0) }
        settings["record_free_gigabytes"] = freeGigabytes.map { .real($0) }
        var done = events ? "is recorded around events" : "is recorded"
        if recoveryKey == Self.none {
            settings["record_recovery_key"] = .string("")
        } else if let recoveryKey {
            let key = try Self.key(recoveryKey, camera.id)
            settings["record_recovery_key"] = .string(key.text)
            done += ", and opens with the recovery key \(key.fingerprint) as well"
        }
        try await RecordingCommand.change(camera, settings, done, output) { Self.note($0.settings, of: camera.id) }
    }

    /// Looked at here: a private key that somebody named by mistake goes nowhere.
    static func key(_ file: String, _ camera: String) throws(CommandFailure) -> RecoveryKey {
        let what = "the recording of \(camera) was not changed"
        // It may be the wrong half.
        ClearFilm.forbidCoreDumps()
        var bytes: [UInt8]
        do throws(SmallFile.Failure) { bytes = try SmallFile.whole(file, limit: 64 << 10) } catch {
            throw CommandFailure(
                what: what, why: "\(file): \(error)", hint: "check the file and its permissions", status: .usage)
        }
        defer { bytes.withUnsafeMutableBytes { if let start = $0.baseAddress { explicit_bzero(start, $0.count) } } }
        do throws(RecoveryKey.Fault) { return try RecoveryKey(String(decoding: bytes, as: UTF8.self)) } catch {
            throw CommandFailure(
                what: what, why: "\(file) \(error)",
                hint: error == .isPrivate
                    ? "keep that file off the box, and name its public half: openssl pkey -in FILE -pubout -out public.pem"
                    : "name the PEM file of a public RSA key of 2048 to 4096 bits: openssl pkey -in FILE -pubout -out public.pem",
                status: .usage)
        }
    }

    /// What a person may not expect of it; nil: nothing.
    static func note(_ settings: [String: SettingValue], of camera: String) -> String? {
        let spans: [String]
        if case .strings(let texts)? = settings["record_schedule"] { spans = texts } else { spans = [] }
        guard settings["record"] == .string(CameraConfiguration.RecordingMode.events.rawValue) else {
            guard !spans.isEmpty else { return nil }
            return "in its schedule alone: \(spans.joined(separator: ", ")); --schedule always takes it back"
        }
        let rest = spans.isEmpty ? "for marks alone" : "for marks and its schedule alone"
        guard case .string(let source)? = settings["source"], source.lowercased().hasPrefix("onvif://") else {
            return "\(rest), since cameras of this kind report no events"
        }
        guard settings["events"] == .boolean(false) else { return nil }
        let remedy = "watchboxctl camera edit \(ShellWord.quoted(camera)) --events takes them"
        return "\(rest), since `events` of this camera is off: \(remedy)"
    }
}

struct RecordingOffCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "off", abstract: "Record a camera no more; what there is stays.",
        discussion: """
            While it is off, nothing is deleted for its age or its size: watchboxctl archive delete does that.

              watchboxctl recording off front
            """)

    @OptionGroup var camera: CameraArgument
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let off = CameraConfiguration.RecordingMode.off.rawValue
        try await RecordingCommand.change(camera, ["record": .string(off)], "is not recorded", output)
    }
}

struct RecordingStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "What is recorded, how much there is, and what goes to the disk in a day.",
        discussion: """
              watchboxctl recording status
              watchboxctl recording status front --json
            """)

    @Argument(help: "ID of a camera; all unless given.", completion: CameraNames.completion)
    var camera: String?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        let what = "the recordings cannot be shown"
        var cameras: [CameraDocument]
        if let camera {
            cameras = [try await output.client.get(CameraDocument.self, APIPath.cameras(camera), or: what)]
        } else {
            cameras = try await output.client.get(CameraListDocument.self, APIPath.cameras(), or: what).cameras
        }
        let document = RecordingListDocument(cameras)
        output.show(document, rows: document.recordings, isWell: document.isWell) {
            RecordingView.lines(
                document.recordings.map { ($0.camera, $0.isOn, $0.recording) }, now: Clocks.wallMilliseconds, style: $0)
        }
    }
}

/// What `recording status` prints for programs.
struct RecordingListDocument: Codable {
    struct Row: Codable {
        var camera: String
        /// It is to be recorded.
        var isOn: Bool
        /// As its process says; nil: it does not say anything yet, or nothing of it is recorded.
        var recording: RecordingStatistics?
        /// Bytes that go to the disk in a day at the rate so far; nil in the first seconds.
        var bytesPerDay: Double?

        var isWell: Bool { !isOn || recording != nil && recording?.code == nil }
    }

    var schema = "watchbox.recording-status/1"
    var recordings: [Row]

    init(_ cameras: [CameraDocument]) {
        let off = SettingValue.string(CameraConfiguration.RecordingMode.off.rawValue)
        recordings = cameras.map { camera in
            let recording = camera.stream.statistics?.recording
            return Row(
                camera: camera.id, isOn: (camera.settings["record"] ?? off) != off, recording: recording,
                bytesPerDay: recording?.bytesPerDay)
        }
    }

    var isWell: Bool { recordings.allSatisfy { $0.isWell } }
}
