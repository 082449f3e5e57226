public import ControlAPI
internal import Systemd

/// The video devices that this machine shows, without opening one: opening could disturb a camera that runs.
public enum VideoNodes {
    /// Names of drivers whose nodes convert pictures instead of taking them (Raspberry Pi, Rockchip, Allwinner, NXP, MediaTek,
    /// Qualcomm).
    private static let processors = [
        "codec", "isp", "hevc", "-dec", "-enc", "decoder", "encoder", "vpu", "cedrus", "hantro", "rkvdec", "rga",
        "jpeg",
        "coda", "wave5", "venus", "scaler", "pispbe", "m2m", "vicodec", "vim2m", "stateless",
    ]

    /// - Parameter root: in front of `/sys` and `/dev`; empty for the machine itself.
    public static func find(root: String = "") -> [VideoNodeDocument] {
        let classDirectory = "\(root)/sys/class/video4linux"
        let byID = links("\(root)/dev/v4l/by-id")
        let byPath = links("\(root)/dev/v4l/by-path")
        let nodes: [(number: Int, node: VideoNodeDocument)] = SmallFile.names(in: classDirectory).compactMap { device in
            guard device.hasPrefix("video"), let number = Int(device.dropFirst("video".count)) else { return nil }
            let directory = "\(classDirectory)/\(device)"
            let name = SmallFile.line("\(directory)/name") ?? device
            let index = SmallFile.number("\(directory)/index").flatMap { Int(exactly: $0) } ?? 0
            return (
                number,
                VideoNodeDocument(
                    device: "/dev/\(device)", name: name, kind: kind(name, index: index, byID: byID[device]),
                    bus: bus(directory), index: index, stableID: byID[device], stablePath: byPath[device])
            )
        }
        return nodes.sorted { $0.number < $1.number }.map(\.node)
    }

    private static func kind(_ name: String, index: Int, byID: String?) -> VideoNodeDocument.Kind {
        let lower = name.lowercased()
        if processors.contains(where: { lower.contains($0) }) { return .processor }
        // uvcvideo gives each camera a second node that only describes the pictures of the first.
        return byID?.hasSuffix("-index0") ?? (index == 0) ? .camera : .metadata
    }

    /// `usb`, `platform`, `pci`, `virtual`: the subsystem of the parent device.
    private static func bus(_ directory: String) -> String {
        guard let link = SmallFile.link("\(directory)/device/subsystem") else {
            return SmallFile.exists("\(directory)/device") ? "platform" : "virtual"
        }
        return link.split(separator: "/").last.map(String.init) ?? "platform"
    }

    /// Device name → the first link that points to it.
    private static func links(_ directory: String) -> [String: String] {
        var links: [String: String] = [:]
        for name in SmallFile.names(in: directory) {
            guard let target = SmallFile.link("\(directory)/\(name)")?.split(separator: "/").last else { continue }
            if links[String(target)] == nil {
                links[String(target)] = "/dev/v4l/\(directory.split(separator: "/").last ?? "")/\(name)"
            }
        }
        return links
    }
}
