import ControlAPI
import Doctor
import VideoCapture

/// The cameras of this machine: V4L2's nodes, and what libcamera lists.
enum MachineCameras {
    /// By their names only: no camera is opened.
    static func names() -> [VideoNodeDocument] {
        let nodes = CaptureNodes.find(isOpening: false).filter(\.isCamera) + ((try? CSICameras.find()) ?? [])
        return nodes.map { VideoNodeDocument($0) }
    }

    /// All video devices, with what cameras deliver.
    static func asked(controls: Bool) -> DiscoveryDocument {
        var nodes = CaptureNodes.find()
        var limits: [String] = []
        do throws(CaptureError) {
            nodes += try CSICameras.find()
        } catch {
            // Where there is nothing at a ribbon cable, nobody misses the program for it.
            let isMissed = nodes.contains { node in
                node.verdict == .rejected(.rawBayer) || node.verdict == .rejected(.mediaController)
            }
            switch error {
            case .noHelper where !isMissed: break
            case .helper: limits.append("CSI cameras are not listed: \(error.why)")
            default: limits.append("CSI cameras are not listed: \(error.why) \(error.hint)")
            }
        }
        return DiscoveryDocument(
            nodes: nodes.map { VideoNodeDocument(asking: $0, controls: controls) }, limits: limits)
    }
}
