internal import CV4L2

/// VIDIOC_QUERYCAP's answer, of this node and not of its whole device.
struct Capability {
    var driver: String
    var card: String
    var bus: String
    private var flags: UInt32

    init(_ calls: any DeviceCalls, _ descriptor: Int32) throws(CallFailure) {
        var answer = v4l2_capability()
        try calls.perform(descriptor, watchbox_VIDIOC_QUERYCAP, &answer)
        driver = withUnsafeBytes(of: &answer.driver) { Sysfs.text($0) }
        card = withUnsafeBytes(of: &answer.card) { Sysfs.text($0) }
        bus = withUnsafeBytes(of: &answer.bus_info) { Sysfs.text($0) }
        flags = answer.capabilities & UInt32(V4L2_CAP_DEVICE_CAPS) != 0 ? answer.device_caps : answer.capabilities
    }

    private func has(_ flag: Int32) -> Bool { flags & UInt32(bitPattern: flag) != 0 }

    var isMemoryToMemory: Bool { has(V4L2_CAP_VIDEO_M2M) || has(V4L2_CAP_VIDEO_M2M_MPLANE) }
    var isCapture: Bool { has(V4L2_CAP_VIDEO_CAPTURE) || has(V4L2_CAP_VIDEO_CAPTURE_MPLANE) }
    var isMultiplanar: Bool {
        has(V4L2_CAP_VIDEO_M2M_MPLANE) || (has(V4L2_CAP_VIDEO_CAPTURE_MPLANE) && !has(V4L2_CAP_VIDEO_CAPTURE))
    }
    var isOutput: Bool {
        has(V4L2_CAP_VIDEO_OUTPUT) || has(V4L2_CAP_VIDEO_OUTPUT_MPLANE) || has(V4L2_CAP_VIDEO_OVERLAY)
            || has(V4L2_CAP_VIDEO_OUTPUT_OVERLAY)
    }
    var isMetadata: Bool { has(V4L2_CAP_META_CAPTURE) || has(V4L2_CAP_META_OUTPUT) }
    var isStreaming: Bool { has(V4L2_CAP_STREAMING) }
    var isMediaControlled: Bool { has(V4L2_CAP_IO_MC) }
}

/// One answer of VIDIOC_ENUM_FMT.
struct FormatDescription {
    /// A driver that lists more says the same for ever.
    static let maxCount = 128

    var pixelFormat: FourCC
    var name: String
    var isCompressed: Bool

    /// - Parameter type: V4L2_BUF_TYPE_….
    static func list(
        _ calls: any DeviceCalls, _ descriptor: Int32, type: UInt32
    ) throws(CallFailure) -> [FormatDescription] {
        var list: [FormatDescription] = []
        for index in 0..<UInt32(maxCount) {
            var answer = v4l2_fmtdesc()
            answer.index = index
            answer.type = type
            do throws(CallFailure) {
                try calls.perform(descriptor, watchbox_VIDIOC_ENUM_FMT, &answer)
            } catch {
                // EINVAL is the end of the list, ENOTTY a driver without one.
                if error.errno == EINVAL || error.errno == ENOTTY { break }
                throw error
            }
            let format = FourCC(rawValue: answer.pixelformat)
            list.append(
                FormatDescription(
                    pixelFormat: format, name: withUnsafeBytes(of: &answer.description) { Sysfs.text($0) },
                    isCompressed: answer.flags & UInt32(V4L2_FMT_FLAG_COMPRESSED) != 0 || format.isCompressed))
        }
        return list
    }
}
