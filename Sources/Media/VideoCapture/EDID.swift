internal import CV4L2

/// What an HDMI bridge reports to its sender about the frames that it takes (VESA E-EDID 1.3 with one block of CTA-861).
///
/// Without one a sender sends nothing: bridges such as the TC358743 come up with none, and show no signal for ever.
enum EDID {
    private static let blockBytes = 128

    /// 1080 lines at 30, 25 and 24 frames a second and 720 lines at up to 60, none of which needs more than 74.25 MHz: what
    /// two CSI lanes and an encoder of level 4.0 carry.
    static let standard: [UInt8] = block(base) + block(extension861)

    /// With zeros to its end, and the checksum as its last byte.
    private static func block(_ parts: [[UInt8]]) -> [UInt8] {
        let content = Array(parts.joined())
        let bytes = content + [UInt8](repeating: 0, count: blockBytes - 1 - content.count)
        return bytes + [0 &- bytes.reduce(0, &+)]
    }

    // A list of parts: their sum as one expression is more than Swift 6.2 checks.
    private static let base: [[UInt8]] = [
        [0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x00],
        // "LNX", product 1, no serial number, 2024; EDID 1.3.
        [0x31, 0xD8, 0x01, 0x00, 0, 0, 0, 0, 0, 34, 1, 3],
        // Digital, no size, gamma 2.2, the first timing is the preferred one.
        [0x80, 0, 0, 0x78, 0x0A],
        // The colours of sRGB.
        [0xEE, 0x91, 0xA3, 0x54, 0x4C, 0x99, 0x26, 0x0F, 0x50, 0x54],
        // 640x480 at 60, which every sender must know; no others of the old lists.
        [0x20, 0, 0], [UInt8](repeating: 0x01, count: 16),
        fullHD30, hd60,
        [0, 0, 0, 0xFC, 0], Array("WatchBox\n    ".utf8),
        // 23 to 61 Hz, 15 to 68 kHz, 80 MHz.
        [0, 0, 0, 0xFD, 0, 23, 61, 15, 68, 8, 0, 0x0A, 0x20, 0x20, 0x20, 0x20, 0x20, 0x20],
        // One extension.
        [1],
    ]

    /// 1920x1080 of 2200x1125, 74.25 MHz.
    private static let fullHD30: [UInt8] = [
        0x01, 0x1D, 0x80, 0x18, 0x71, 0x38, 0x2D, 0x40, 0x58, 0x2C, 0x45, 0x00, 0, 0, 0, 0, 0, 0x1E,
    ]
    /// 1280x720 of 1650x750, 74.25 MHz.
    private static let hd60: [UInt8] = [
        0x01, 0x1D, 0x00, 0x72, 0x51, 0xD0, 0x1E, 0x20, 0x6E, 0x28, 0x55, 0x00, 0, 0, 0, 0, 0, 0x1E,
    ]

    private static let extension861: [[UInt8]] = [
        // Revision 3, no further timings, whole frames, YCbCr 4:4:4 and 4:2:2.
        [0x02, 0x03, 0x16, 0xB0],
        // By number: 1080p30 (native), 25, 24; 720p60, 50, 30, 25, 24; 640x480.
        [0x49, 0x80 | 34, 33, 32, 4, 19, 62, 61, 60, 1],
        // HDMI, address 1.0.0.0, 80 MHz.
        [0x67, 0x03, 0x0C, 0x00, 0x10, 0x00, 0x00, 16],
    ]

    /// Gives a bridge without an EDID the standard one; what another program has set stays.
    ///
    /// - Returns: whether it was given: the sender then needs a moment to begin.
    static func giveIfMissing(_ calls: any DeviceCalls, _ descriptor: Int32) -> Bool {
        var asked = v4l2_edid()
        do throws(CallFailure) {
            try calls.perform(descriptor, watchbox_VIDIOC_G_EDID, &asked)
            guard asked.blocks == 0 else { return false }
        } catch {
            // So a driver says that there is none; others have no such call.
            guard error.errno == ENODATA else { return false }
        }
        var bytes = standard
        return bytes.withUnsafeMutableBufferPointer { buffer in
            var given = v4l2_edid()
            given.blocks = UInt32(buffer.count / blockBytes)
            given.edid = buffer.baseAddress
            return (try? calls.perform(descriptor, watchbox_VIDIOC_S_EDID, &given)) != nil
        }
    }
}
