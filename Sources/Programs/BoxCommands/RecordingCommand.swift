import ArgumentParser
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient
internal import Settings

struct RecordingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "recording", abstract: "Record cameras on the box, encrypted from the first byte.",
        discussion: """
            What is recorded is sealed for the key access server, as the stream is: neither the box nor who takes its disk can \
            look at it. watchboxctl archive list shows what there is, archive export takes a part out.
            """,
        subcommands: [RecordingOnCommand.self, RecordingOffCommand.self, RecordingStatusCommand.self])

    static func change(
        _ camera: CameraArgument, _ settings: [String: SettingValue], _ done: String, _ output: OutputOptions
    ) async throws {
        let what = "the recording of \(camera.id) was not changed"
        let look = try await output.client.look(CameraDocument.self, camera.path, or: what)
        _ = try await output.client.send(
            .patch, camera.path, body: CameraRequest(settings: settings), ifMatch: look?.eTag, as: CameraDocument.self,
            or: what)
        output.report("\(camera.id): \(done).", Done(object: "camera.\(camera.id)", action: done))
    }
}

struct RecordingOnCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "on", abstract: "Record a camera, from now on and after every start.",
        discussion: """
            The camera starts again, which viewers see as a gap of a second or two. What is not named stays as it was; at first \
            that is 8 gigabytes, 30 days, and 1 gigabyte that is left free.

              watchboxctl recording on front
              watchboxctl recording on front --gigabytes 50 --days 14
            """)

    @OptionGroup var camera: CameraArgument

    @Option(help: "Gigabytes that its recordings may take together; then the oldest go.")
    var gigabytes: Double?

    @Option(help: "Days until a recording goes.")
    var days: Double?

    @Option(help: "Gigabytes of the disk that stay free, whoever fills it.")
    var freeGigabytes: Double?

    @OptionGroup var output: OutputOptions

    func run() async throws {
        var settings: [String: SettingValue] = [
            "record": .string(CameraConfiguration.RecordingMode.continuous.rawValue)
        ]
        settings["record_gigabytes"] = gigabytes.map { .real($0) }
        settings["record_days"] = days.map { .real($0) }
        settings["record_free_gigabytes"] = freeGigabytes.map { .real($0) }
        try await RecordingCommand.change(camera, settings, "is recorded", output)
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
            RecordingView.lines(document.recordings.map { ($0.camera, $0.isOn, $0.recording) }, style: $0)
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
