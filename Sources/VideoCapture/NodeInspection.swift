internal import CV4L2

/// Tells what a node is: by what it says of itself, and where it does not say enough, by its driver's name.
struct NodeInspection {
    let capability: Capability
    private let calls: any DeviceCalls
    private let descriptor: Int32

    init(_ calls: any DeviceCalls, _ descriptor: Int32) throws(CallFailure) {
        self.calls = calls
        self.descriptor = descriptor
        capability = try Capability(calls, descriptor)
    }

    /// - Parameter isUSB: an image processor is part of the machine; a webcam may be called "Crisp".
    func verdict(isUSB: Bool) -> CaptureNode.Verdict {
        if capability.isMemoryToMemory { return .rejected(hasCodedFormats ? .codec : .imageProcessor) }
        guard capability.isCapture else {
            if capability.isMetadata { return .rejected(.metadata) }
            return .rejected(capability.isOutput ? .output : .radioOrTouch)
        }
        if !isUSB, let rejection = Self.rejection(byName: "\(capability.driver) \(capability.card)") {
            return .rejected(rejection)
        }
        if capability.isMediaControlled { return .rejected(.mediaController) }
        guard capability.isStreaming else { return .rejected(.noStreaming) }
        let formats: [FormatDescription]
        do throws(CallFailure) {
            formats = try FormatDescription.list(
                calls, descriptor, type: BufferCall.type(isMultiplanar: capability.isMultiplanar))
        } catch {
            return .unknown("Its driver refuses to list its formats: \(String(cString: strerror(error.errno))).")
        }
        if formats.isEmpty { return .rejected(.noFormats) }
        return formats.allSatisfy(\.pixelFormat.isBayer) ? .rejected(.rawBayer) : .camera
    }

    /// FFmpeg's names of the codecs that the node codes to, of pictures that an encoder is given here.
    func codecs() -> Set<String> {
        guard capability.isMemoryToMemory,
            pictures.contains(where: { $0 == .yu12 || $0 == .nv12 || $0 == FourCC("YM12") || $0 == FourCC("NM12") })
        else { return [] }
        var codecs: Set<String> = []
        for format in coded {
            if format == .h264 { codecs.insert("h264") }
            if format == .hevc { codecs.insert("hevc") }
        }
        return codecs
    }

    private var hasCodedFormats: Bool { (pictures + coded).contains(where: \.isCompressed) }

    /// What the node takes.
    private var pictures: [FourCC] {
        list(capability.isMultiplanar ? V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE : V4L2_BUF_TYPE_VIDEO_OUTPUT)
    }

    /// What it gives.
    private var coded: [FourCC] {
        list(capability.isMultiplanar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE)
    }

    private func list(_ type: v4l2_buf_type) -> [FourCC] {
        ((try? FormatDescription.list(calls, descriptor, type: type.rawValue)) ?? []).map(\.pixelFormat)
    }

    private static let codecs = [
        "codec", "hevc", "-dec", "-enc", "decoder", "encoder", "vpu", "cedrus", "hantro", "rkvdec", "jpeg", "coda",
        "wave5", "venus", "stateless",
    ]
    private static let processors = ["isp", "rga", "scaler", "m2m", "vim2m", "resizer"]

    /// By names of drivers whose nodes convert pictures instead of taking them (Raspberry Pi, Rockchip, Allwinner, NXP,
    /// MediaTek, Qualcomm).
    static func rejection(byName name: String) -> CaptureNode.Rejection? {
        let lower = name.lowercased()
        if codecs.contains(where: { lower.contains($0) }) { return .codec }
        return processors.contains(where: { lower.contains($0) }) ? .imageProcessor : nil
    }
}
