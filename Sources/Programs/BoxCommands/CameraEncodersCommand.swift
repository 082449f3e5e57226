import ArgumentParser
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient

struct CameraEncodersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encoders", abstract: "What encodes the cameras' frames, why that, and what this machine has.",
        discussion: """
            A camera takes hardware where an encoder really encodes, which it tries out beforehand, and else software, at a \
            size and a rate that the processor holds. --probe tries every encoder out here, each in a process of its own \
            that is ended when it hangs; the cameras go on meanwhile. Needs no daemon for the machine's part.

              watchboxctl camera encoders
              watchboxctl camera encoders --probe --size 1920x1080 --rate 30
            """)

    @Flag(help: "Let each encoder encode a second of moving images.")
    var probe = false

    @Option(help: "Size for --probe, 1280x720.")
    var size = "1280x720"

    @Option(help: "Frames per second for --probe.")
    var rate = 30.0

    @OptionGroup var output: OutputOptions

    /// Nil unless it is WIDTHxHEIGHT.
    private var pixels: (width: Int, height: Int)? {
        let parts = size.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let width = parts[0], let height = parts[1], (16...8192).contains(width),
            (16...8192).contains(height), width % 2 == 0, height % 2 == 0
        else { return nil }
        return (width, height)
    }

    func validate() throws {
        guard pixels != nil else { throw ValidationError("--size is WIDTHxHEIGHT with even numbers: 1280x720.") }
        guard (1...240).contains(rate) else { throw ValidationError("--rate is 1 to 240.") }
    }

    func run() async throws {
        try output.box.requireThisMachine()
        if probe, !MachineEncoders.canProbe {
            throw CommandFailure(
                what: "the encoders cannot be tried", why: "there is no \(MachineEncoders.daemon), which does it",
                hint: "install watchboxd beside watchboxctl", status: .failed)
        }
        let cameras = try? await output.client.get(CameraListDocument.self, APIPath.cameras())
        let pixels = pixels ?? (1280, 720)
        var document = await MachineEncoders.read(
            probing: probe ? .init(width: pixels.width, height: pixels.height, rate: rate) : nil)
        document.cameras = cameras?.cameras.compactMap { Self.use($0) }
        let shown = document
        output.show(shown, rows: shown.libraries) { style in
            EncodersView.lines(shown, style: style, header: !output.noHeaders)
        }
    }

    private static func use(_ camera: CameraDocument) -> CameraEncodersDocument.Use? {
        guard let capture = camera.stream.statistics?.capture else { return nil }
        return CameraEncodersDocument.Use(
            camera: camera.id, encoder: capture.encoder, isHardware: capture.isHardwareEncoder,
            reason: capture.encoderReason, width: capture.width, height: capture.height, rate: capture.rate,
            limit: capture.limit, hangs: capture.encoderHangs)
    }
}
