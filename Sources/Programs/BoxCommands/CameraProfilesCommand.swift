import ArgumentParser
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient

struct CameraProfilesCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "profiles", abstract: "Streams that a network camera offers, and its own encoders.",
        discussion: """
            With --set, an encoder inside the camera is changed, for everybody who watches it; its stream may break off \
            for a moment. Which of the streams is published is a setting of this box: watchboxctl camera edit yard \
            --profile sub.

              watchboxctl camera profiles yard
              watchboxctl camera profiles yard --set Encoder_1 --size 1280x720 --rate 15 --bitrate 1000000 --gop 15
            """)

    @OptionGroup var camera: CameraArgument

    @Option(help: ArgumentHelp("Change this encoder, or that of this profile.", valueName: "token"))
    var set: String?

    @Option(help: "With --set: h264, hevc or mjpeg.")
    var codec: String?

    @Option(help: "With --set: 1280x720.")
    var size: String?

    @Option(help: "With --set: frames per second.")
    var rate: Double?

    @Option(help: "With --set: bits per second.")
    var bitrate: Int?

    @Option(help: "With --set: frames from one key frame to the next.")
    var gop: Int?

    @OptionGroup var output: OutputOptions

    private struct Document: Encodable {
        var schema = "watchbox.camera-streams/1"
        var profiles: CameraProfileListDocument
        /// Nil: the camera did not report it.
        var encoders: CameraEncoderListDocument?
    }

    private var hasChange: Bool { codec != nil || size != nil || rate != nil || bitrate != nil || gop != nil }

    private var pixels: CameraEncoder.Size? {
        let parts = (size ?? "").split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1], (1...16_384).contains(width),
            (1...16_384).contains(height)
        else { return nil }
        return .init(width: width, height: height)
    }

    func validate() throws {
        guard hasChange == (set != nil) else {
            throw ValidationError(
                set == nil ? "Name the encoder to change: --set TOKEN." : "Name what to change; see --help.")
        }
        guard size == nil || pixels != nil else { throw ValidationError("--size is WIDTHxHEIGHT: 1280x720.") }
        guard rate.map({ (0.1...1000).contains($0) }) ?? true, bitrate ?? 1 > 0, gop ?? 1 > 0 else {
            throw ValidationError("--rate, --bitrate and --gop are above 0.")
        }
    }

    func run() async throws {
        var client = output.client
        // The camera itself is asked, in several calls.
        client.readTimeout = .seconds(28)
        let patient = client
        if let set { try await change(set, patient) }
        let profiles = try await patient.get(
            CameraProfileListDocument.self, camera.path + "/profiles", or: "the streams of \(camera.id) are not known")
        // A camera without ONVIF has none, and one that is away reports none.
        let encoders = await Waiting.during("asking \(camera.id.terminalSafe)") {
            () async -> CameraEncoderListDocument? in
            try? await patient.get(CameraEncoderListDocument.self, camera.path + "/encoders")
        }
        output.show(Document(profiles: profiles, encoders: encoders), rows: profiles.profiles) { style in
            CameraProfilesView.lines(profiles, encoders: encoders, style: style, header: !output.noHeaders)
        }
    }

    private func change(_ token: String, _ client: ControlClient) async throws(CommandFailure) {
        let change = CameraEncoder.Change(
            token: token, codec: codec, size: pixels, rate: rate, bitrate: bitrate, gop: gop)
        try await Waiting.during("changing \(camera.id.terminalSafe)") { () async throws(CommandFailure) in
            try await client.send(
                .patch, camera.path + "/encoders", body: change, or: "the encoder of \(camera.id) was not changed")
        }
        if !output.quiet { StandardError.writeLine("Changed.") }
    }
}
