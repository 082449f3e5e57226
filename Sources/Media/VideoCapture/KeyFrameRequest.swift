internal import CV4L2

extension CaptureDevice {
    /// Asks a camera that encodes video for a key frame: by V4L2's control of codecs, or by the H.264 extension unit of
    /// a USB camera.
    ///
    /// - Returns: whether the camera has such a control and took it; when the key frame comes is its own business.
    @discardableResult
    public func requestKeyFrame() -> Bool {
        guard descriptor >= 0 else { return false }
        var control = v4l2_control(id: watchbox_force_key_frame, value: 1)
        if (try? calls.perform(descriptor, watchbox_VIDIOC_S_CTRL, &control)) != nil { return true }
        guard let h264ExtensionUnit else { return false }
        return h264ExtensionUnit.requestKeyFrame(calls, descriptor)
    }
}

/// The unit of a USB camera that rules its H.264 encoder (USB Device Class Definition for Video Devices: H.264 Payload
/// 1.0, section 3.3).
struct H264ExtensionUnit: Equatable, Sendable {
    /// bUnitID.
    var id: UInt8

    /// A29E7641-DE04-47E3-8B2B-F4341AFF003B, as descriptors have it.
    private static let identifier: [UInt8] = [
        0x41, 0x76, 0x9E, 0xA2, 0x04, 0xDE, 0xE3, 0x47, 0x8B, 0x2B, 0xF4, 0x34, 0x1A, 0xFF, 0x00, 0x3B,
    ]
    /// UVCX_PICTURE_TYPE_CONTROL, and in it: an IDR frame with new parameter sets, of all layers.
    private static let pictureType: UInt8 = 0x09
    private static let newKeyFrame: [UInt8] = [0, 0, 2, 0]

    /// - Parameters:
    ///   - descriptors: of the whole device, as sysfs has them; whatever the device says.
    ///   - interface: of the camera; a device may have several.
    /// - Returns: nil when the camera has no such unit.
    init?(descriptors: [UInt8], interface: Int) {
        var position = 0
        var isControl = false
        while position + 2 <= descriptors.count {
            let length = Int(descriptors[position])
            guard length >= 2, position + length <= descriptors.count else { return nil }
            let descriptor = descriptors[position..<(position + length)]
            position += length
            let begin = descriptor.startIndex
            switch descriptor[begin + 1] {
            case UInt8(Self.interfaceType) where length >= 9:
                isControl =
                    Int(descriptor[begin + 2]) == interface && descriptor[begin + 5] == Self.videoClass
                    && descriptor[begin + 6] == UInt8(UVC_SC_VIDEOCONTROL)
            case UInt8(Self.classInterfaceType) where isControl && length >= 20:
                guard descriptor[begin + 2] == UInt8(UVC_VC_EXTENSION_UNIT),
                    descriptor[(begin + 4)..<(begin + 20)].elementsEqual(Self.identifier)
                else { continue }
                id = descriptor[begin + 3]
                return
            default: break
            }
        }
        return nil
    }

    /// bDescriptorType of an interface, and of what a class says of one.
    private static let interfaceType = 0x04
    private static let classInterfaceType = 0x24
    /// bInterfaceClass CC_VIDEO.
    private static let videoClass: UInt8 = 0x0E

    func requestKeyFrame(_ calls: any DeviceCalls, _ descriptor: Int32) -> Bool {
        var value = Self.newKeyFrame
        return value.withUnsafeMutableBufferPointer { bytes in
            var query = uvc_xu_control_query()
            query.unit = id
            query.selector = Self.pictureType
            query.query = UInt8(UVC_SET_CUR)
            query.size = UInt16(bytes.count)
            query.data = bytes.baseAddress
            return (try? calls.perform(descriptor, watchbox_UVCIOC_CTRL_QUERY, &query)) != nil
        }
    }
}
