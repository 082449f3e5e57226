import ArgumentParser
import BoxView
import CameraModel
import Console
import ControlAPI
import ControlClient
import Glibc
import Platform
import VideoCapture
import VideoCodec

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

    private static let software = ["libx264", "libopenh264", "libx265"]
    private static let hardware = ["h264_v4l2m2m": "h264", "hevc_v4l2m2m": "hevc"]

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
        if probe, access(Self.daemon, X_OK) != 0 {
            throw CommandFailure(
                what: "the encoders cannot be tried", why: "there is no \(Self.daemon), which does it",
                hint: "install watchboxd beside watchboxctl", status: .failed)
        }
        let cameras = try? await output.client.get(CameraListDocument.self, APIPath.cameras())
        let (probe, rate) = (probe, rate)
        let pixels = pixels ?? (1280, 720)
        let progress = ProgressLine()
        if probe { progress.update("trying the encoders") }
        let machine = await OwnThread.value {
            let nodes = CaptureNodes.encoders()
            let libraries = Self.libraries(nodes) { name in
                probe
                    ? EncoderProbeChild(executable: Self.daemon)
                        .run(encoder: name, width: pixels.width, height: pixels.height, rate: rate) : nil
            }
            return (nodes: nodes, libraries: libraries)
        }
        progress.clear()
        let document = CameraEncodersDocument(
            cameras: cameras?.cameras.compactMap { Self.use($0) },
            nodes: machine?.nodes.map {
                .init(device: $0.device, card: $0.card, driver: $0.driver, codecs: $0.codecs.sorted())
            } ?? [], libraries: machine?.libraries ?? [])
        output.show(document, rows: document.libraries) { style in
            EncodersView.lines(document, style: style, header: !output.noHeaders)
        }
    }

    /// `watchboxd` beside this program: what cameras let try their encoders.
    private static var daemon: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = buffer.withUnsafeBytes { String(decoding: $0.prefix(max(0, count)), as: UTF8.self) }
        guard let slash = own.lastIndex(of: "/") else { return "/usr/bin/watchboxd" }
        return own[...slash] + "watchboxd"
    }

    private static func use(_ camera: CameraDocument) -> CameraEncodersDocument.Use? {
        guard let capture = camera.stream.statistics?.capture else { return nil }
        return CameraEncodersDocument.Use(
            camera: camera.id, encoder: capture.encoder, isHardware: capture.isHardwareEncoder,
            reason: capture.encoderReason, width: capture.width, height: capture.height, rate: capture.rate,
            limit: capture.limit, hangs: capture.encoderHangs)
    }

    private static func libraries(
        _ nodes: [EncoderNode], probe: (String) -> EncoderProbeResult?
    ) -> [CameraEncodersDocument.Library] {
        func library(_ name: String, isHardware: Bool, missing: String?) -> CameraEncodersDocument.Library {
            var library = CameraEncodersDocument.Library(
                name: name, isHardware: isHardware, isAvailable: missing == nil)
            library.reason = missing
            if missing == nil, let result = probe(name) {
                library.works = result.works
                library.reason = result.reason
                library.rate = result.works ? result.fps : nil
            }
            return library
        }
        let devices = hardware.sorted { $0.key < $1.key }.map { name, codec in
            // Opened where there is none, libavcodec would look through all of /dev for it.
            let isThere = nodes.contains { $0.codecs.contains(codec) }
            return library(
                name, isHardware: true, missing: isThere ? nil : "no device of this machine encodes \(codec)")
        }
        return devices + software.map { library($0, isHardware: false, missing: whyMissing($0)) }
    }

    /// Opens a software encoder for small frames; nil when it opens.
    private static func whyMissing(_ name: String) -> String? {
        var configuration = VideoEncoderConfiguration(width: 320, height: 240, frameRate: 25, bitsPerSecond: 200_000)
        configuration.encoders = [name]
        do throws(VideoCodecError) {
            _ = try VideoEncoder(configuration)
            return nil
        } catch .noEncoder(let rejections) {
            return rejections.first?.reason ?? "it does not open"
        } catch {
            return "\(error)"
        }
    }
}
