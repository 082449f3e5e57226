import Console
import ControlAPI
import Glibc
import Platform
import VideoCapture
import VideoCodec

/// What this machine has to encode with, and whether it does.
enum MachineEncoders {
    /// One second of moving images for each encoder.
    struct Probing {
        var width: Int
        var height: Int
        var rate: Double
    }

    private static let software = ["libx264", "libopenh264", "libx265"]
    private static let hardware = ["h264_v4l2m2m": "h264", "hevc_v4l2m2m": "hevc"]

    /// Each encoder is tried in a process of its own, which is `watchboxd`.
    static var canProbe: Bool { access(daemon, X_OK) == 0 }

    /// - Parameter probing: nil: none is tried.
    /// - Returns: without the cameras' part.
    static func read(probing: Probing?) async -> CameraEncodersDocument {
        let progress = ProgressLine()
        if probing != nil { progress.update("trying the encoders") }
        let machine = await OwnThread.value {
            let nodes = CaptureNodes.encoders()
            let libraries = Self.libraries(nodes) { name in
                probing.map {
                    EncoderProbeChild(executable: Self.daemon)
                        .run(encoder: name, width: $0.width, height: $0.height, rate: $0.rate)
                }
            }
            return (nodes: nodes, libraries: libraries)
        }
        progress.clear()
        return CameraEncodersDocument(
            cameras: nil,
            nodes: machine?.nodes.map {
                .init(device: $0.device, card: $0.card, driver: $0.driver, codecs: $0.codecs.sorted())
            } ?? [], libraries: machine?.libraries ?? [])
    }

    /// `watchboxd` beside this program: what cameras let try their encoders.
    static var daemon: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        let own = buffer.withUnsafeBytes { String(decoding: $0.prefix(max(0, count)), as: UTF8.self) }
        guard let slash = own.lastIndex(of: "/") else { return "/usr/bin/watchboxd" }
        return own[...slash] + "watchboxd"
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
