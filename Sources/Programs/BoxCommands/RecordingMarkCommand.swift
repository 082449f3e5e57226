import ArgumentParser
import Console
import ControlAPI
import ControlClient

struct RecordingMarkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mark", abstract: "Record what happens at a camera now, of one that is recorded around events.",
        discussion: """
            What was before it comes from memory, as before any other event (record_before). A camera that is recorded all the \
            time has it anyway.

              watchboxctl recording mark front
              watchboxctl recording mark front --for 300
            """)

    @OptionGroup var camera: CameraArgument

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Record for so long from now on, 1 to 3600; as long as after any other event unless given.",
            valueName: "seconds"))
    var seconds: Double?

    @OptionGroup var output: OutputOptions

    static func done(_ document: RecordingMarkDocument) -> String {
        document.isMarked ? "marked" : "recorded all the time, nothing to mark"
    }

    func validate() throws {
        guard RecordingMarkRequest(seconds: seconds).isPossible else { throw ValidationError("--for is 1 to 3600.") }
    }

    func run() async throws {
        let document = try await output.client.send(
            .post, camera.path + "/recording/mark", body: RecordingMarkRequest(seconds: seconds),
            as: RecordingMarkDocument.self, or: "\(camera.id) was not marked")
        output.report(
            "\(camera.id): \(Self.done(document)).",
            Done(object: "camera.\(camera.id)", action: document.isMarked ? "marked" : "unchanged"))
    }
}
