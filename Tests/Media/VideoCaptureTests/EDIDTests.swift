import CV4L2
import Glibc
import ScriptedDevice
import Synchronization
import Testing

@testable import VideoCapture

struct EDIDTests {
    private let request = CaptureRequest(width: 640, height: 480, rate: 30)

    /// A bridge with its sender, which sends a while after it was given the bridge's EDID.
    private final class Bridge: Sendable {
        let given = Mutex<[UInt8]>([])
        let isSending = Mutex(false)

        /// - Parameter missing: what the driver says when it has none; nil: it has one.
        func device(missing: Int32?) -> ScriptedDevice {
            ScriptedDevice { script in
                script.answers[watchbox_VIDIOC_QUERY_DV_TIMINGS] = { _, _ in
                    self.isSending.withLock { $0 } ? 0 : ENOLINK
                }
                script.answers[watchbox_VIDIOC_S_DV_TIMINGS] = { _, _ in 0 }
                script.answers[watchbox_VIDIOC_G_EDID] = { _, argument in
                    let answer = argument.assumingMemoryBound(to: v4l2_edid.self)
                    let blocks = self.given.withLock { $0.count / 128 }
                    answer.pointee.blocks = UInt32(missing == nil ? 2 : blocks)
                    return blocks == 0 ? missing ?? 0 : 0
                }
                script.answers[watchbox_VIDIOC_S_EDID] = { _, argument in
                    let edid = argument.assumingMemoryBound(to: v4l2_edid.self).pointee
                    guard edid.pad == 0, edid.start_block == 0 else { return EINVAL }
                    let bytes = Array(UnsafeBufferPointer(start: edid.edid, count: Int(edid.blocks) * 128))
                    self.given.withLock { $0 = bytes }
                    return 0
                }
            }
        }
    }

    @Test(arguments: [ENODATA, 0]) func `a bridge that has none is given one, and then there is a signal`(
        missing: Int32
    )
        throws
    {
        let bridge = Bridge()
        let scripted = bridge.device(missing: missing)
        let device = try CaptureDevice(path: "/dev/video0", calls: scripted)
        #expect(throws: CaptureError.noSignal(path: "/dev/video0")) { try device.negotiate(request) }
        #expect(bridge.given.withLock { $0 } == EDID.standard)
        #expect(device.events.contains(.edidGiven))
        #expect(throws: CaptureError.noSignal(path: "/dev/video0")) { try device.negotiate(request) }
        #expect(scripted.calls(of: watchbox_VIDIOC_S_EDID) == 1, "it has one now")
        bridge.isSending.withLock { $0 = true }
        #expect(try device.negotiate(request).width == 640)
    }

    @Test func `one that somebody has set stays, and a camera is not asked for any`() throws {
        let bridge = Bridge()
        let scripted = bridge.device(missing: nil)
        let device = try CaptureDevice(path: "/dev/video0", calls: scripted)
        #expect(throws: CaptureError.noSignal(path: "/dev/video0")) { try device.negotiate(request) }
        #expect(scripted.calls(of: watchbox_VIDIOC_S_EDID) == 0 && device.events.isEmpty)
        let camera = ScriptedDevice()
        _ = try CaptureDevice(path: "/dev/video0", calls: camera).negotiate(request)
        #expect(camera.calls(of: watchbox_VIDIOC_G_EDID) == 0)
    }

    @Test func `a driver that takes no EDID, or has no such call, is a bridge without a signal`() throws {
        for refusal in [ENOTTY, EINVAL, EPERM] {
            let scripted = ScriptedDevice { script in
                script.answers[watchbox_VIDIOC_QUERY_DV_TIMINGS] = { _, _ in ENOLINK }
                script.answers[watchbox_VIDIOC_G_EDID] = { _, _ in refusal == ENOTTY ? ENOTTY : ENODATA }
                script.answers[watchbox_VIDIOC_S_EDID] = { _, _ in refusal }
            }
            let device = try CaptureDevice(path: "/dev/video0", calls: scripted)
            #expect(throws: CaptureError.noSignal(path: "/dev/video0")) { try device.negotiate(request) }
            #expect(device.events.isEmpty)
        }
    }

    @Test func `it is two whole blocks that name 1080p30 first, and nothing above 74,25 MHz`() {
        let edid = EDID.standard
        #expect(edid.count == 256 && edid[126] == 1)
        #expect(edid[..<128].reduce(0, &+) == 0 && edid[128...].reduce(0, &+) == 0)
        #expect(edid.prefix(8) == [0, 255, 255, 255, 255, 255, 255, 0] && edid[18] == 1 && edid[19] == 3)
        for (offset, width, height, totals) in [(54, 1920, 1080, 2200 * 1125), (72, 1280, 720, 1650 * 750)] {
            let timing = Array(edid[offset..<(offset + 18)]).map(Int.init)
            let clock = (timing[0] | timing[1] << 8) * 10_000
            #expect(clock == 74_250_000)
            #expect(timing[2] | (timing[4] & 0xF0) << 4 == width && timing[5] | (timing[7] & 0xF0) << 4 == height)
            let whole =
                (width + (timing[3] | (timing[4] & 0x0F) << 8)) * (height + (timing[6] | (timing[7] & 0x0F) << 8))
            #expect(whole == totals)
            #expect([30, 60].contains(clock / whole))
        }
        // The blocks of the extension end where its header says that they do.
        #expect(edid[128] == 2 && edid[129] == 3)
        var position = 132
        while position < 128 + Int(edid[130]) { position += 1 + Int(edid[position] & 0x1F) }
        #expect(position == 128 + Int(edid[130]))
        let codes = edid[133..<142].map { $0 & 0x7F }
        #expect(codes == [34, 33, 32, 4, 19, 62, 61, 60, 1])
    }
}
