internal import CV4L2
internal import Platform

/// Classifies a node: by what it says of itself, and where it does not say enough, by its driver's name. What a
/// device is labelled with says nothing: anyone may call a v4l2loopback "Display".
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
        if capability.isMemoryToMemory { return .rejected(hasEncodedFormats ? .codec : .imageProcessor) }
        guard capability.isCapture else {
            if capability.isMetadata { return .rejected(.metadata) }
            return .rejected(capability.isOutput ? .output : .radioOrTouch)
        }
        if !isUSB, let rejection = Self.rejection(ofDriver: capability.driver) {
            return .rejected(rejection)
        }
        if capability.isMediaControlled { return .rejected(.mediaController) }
        guard capability.isStreaming else { return .rejected(.noStreaming) }
        let formats: [FormatDescription]
        do throws(CallFailure) {
            formats = try FormatDescription.list(
                calls, descriptor, type: BufferCall.type(isMultiplanar: capability.isMultiplanar))
        } catch {
            return .unknown("Its driver refuses to list its formats: \(SystemMessage.text(error.errno)).")
        }
        if formats.isEmpty { return .rejected(.noFormats) }
        return formats.allSatisfy(\.pixelFormat.isBayer) ? .rejected(.rawBayer) : .camera
    }

    /// FFmpeg's names of the codecs that the node encodes to, of frames that an encoder is given here.
    func codecs() -> Set<String> {
        guard capability.isMemoryToMemory,
            rawFormats.contains(where: { $0 == .yu12 || $0 == .nv12 || $0 == FourCC("YM12") || $0 == FourCC("NM12") })
        else { return [] }
        var codecs: Set<String> = []
        for format in encoded {
            if format == .h264 { codecs.insert("h264") }
            if format == .hevc { codecs.insert("hevc") }
        }
        return codecs
    }

    private var hasEncodedFormats: Bool { (rawFormats + encoded).contains(where: \.isCompressed) }

    /// What the node takes.
    private var rawFormats: [FourCC] {
        list(capability.isMultiplanar ? V4L2_BUF_TYPE_VIDEO_OUTPUT_MPLANE : V4L2_BUF_TYPE_VIDEO_OUTPUT)
    }

    /// What it gives.
    private var encoded: [FourCC] {
        list(capability.isMultiplanar ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE)
    }

    private func list(_ type: v4l2_buf_type) -> [FourCC] {
        ((try? FormatDescription.list(calls, descriptor, type: type.rawValue)) ?? []).map(\.pixelFormat)
    }

    /// Of drivers whose nodes convert frames instead of taking them (Raspberry Pi, Rockchip, Allwinner, NXP,
    /// MediaTek, Qualcomm, Samsung, Amlogic, Chips&Media). Most say so themselves (M2M, media controller); not all
    /// versions do.
    private static let codecs = [
        "allegro", "amphion", "bcm2835-codec", "cedrus", "coda", "hantro", "meson-vdec", "mtk-jpeg", "mtk-vcodec",
        "mxc-jpeg",
        "qcom-venus", "rcar_jpu", "rkvdec", "rkvenc", "rockchip-vpu", "rpi-hevc", "rpivid", "s5p-jpeg", "s5p-mfc",
        "tegra-vde",
        "vicodec", "visl", "wave5",
    ]
    private static let processors = [
        "bcm2835-isp", "exynos-gsc", "mtk-mdp", "pispbe", "rkisp", "rkispp", "rockchip-rga", "sun6i-isp", "sun8i-di",
        "sun8i-rotate", "vim2m",
    ]

    /// - Parameter driver: as VIDIOC_QUERYCAP or sysfs has it; or a label of a node that begins with it.
    static func rejection(ofDriver driver: String) -> CaptureNode.Rejection? {
        let lower = driver.lowercased()
        if codecs.contains(where: { isNamed(lower, $0) }) { return .codec }
        return processors.contains(where: { isNamed(lower, $0) }) ? .imageProcessor : nil
    }

    /// The name, or the name and a part that follows: "bcm2835-codec-decode", "rkisp1", "hantro-vpu"; not "codability".
    private static func isNamed(_ name: String, _ driver: String) -> Bool {
        guard name.hasPrefix(driver) else { return false }
        return name.dropFirst(driver.count).first.map { !$0.isLetter } ?? true
    }
}
