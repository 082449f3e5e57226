import CAVCodec
import CV4L2
import Glibc
import ScriptedDevice
import Testing
import VideoCapture

@testable import VideoCodec

/// Frames of 1080 lines, which are not a whole number of macroblocks: an encoder reads eight lines more.
struct LentFrameTests {
    private struct NoFrame: Error {}

    @Test(arguments: [(FourCC.yu12, PixelFormat.yuv420p, 64), (.nv12, .nv12, 32)])
    func `a frame of 1080 lines goes to a hardware encoder as it lies in the driver's buffer`(
        fourCC: FourCC, format: PixelFormat, alignment: Int
    ) throws {
        let scripted = ScriptedDevice { script in
            script.formats = [.init(fourCC: fourCC, sizes: [.init(width: 1920, height: 1080)])]
        }
        let device = try CaptureDevice(path: "/dev/video0", calls: scripted)
        _ = try device.negotiate(CaptureRequest(width: 1920, height: 1080, rate: 30))
        try device.start(buffers: 4)
        scripted.deliver(.init(sequence: 0, fill: 90))
        guard let captured = try device.nextFrame(milliseconds: 60_000) else { throw NoFrame() }
        let (setup, count) = (captured.setup, captured.count)
        #expect(count == 1920 * 1080 * 3 / 2)
        let lent = captured.detach()
        let frame = try VideoFrame(
            lending: lent.memory, bytesPerLine: setup.bytesPerLine, width: setup.width, height: setup.height,
            pixelFormat: format, isFullRange: false, matrix: .unspecified
        ) { withExtendedLifetime(lent) {} }
        let isAligned = AlignedFrame.isAligned(frame, alignment: alignment)
        #expect(isAligned, "no copy that the encoder does not force")
        // All that the encoder reads is there: rows up to 1088 of each plane.
        let av = frame.avFrame.pointee
        let luma = try #require(av.data.0)
        let chroma = try #require(av.data.1)
        var sum = 0
        for row in 0..<1088 { sum += Int(luma[row * Int(av.linesize.0)]) }
        for row in 0..<544 { sum += Int(chroma[row * Int(av.linesize.1)]) }
        #expect(sum > 0)
        if let last = av.data.2 {
            let beyond = last[543 * Int(av.linesize.2)]
            #expect(beyond == 0, "behind the buffer there are zeros")
        }
        // The driver's frame ends where it ended.
        device.stop()
        #expect(lent.bytes.allSatisfy { $0 == 90 })
    }

    @Test func `behind a mapping lie zeros that can be read, and go with it`() throws {
        var name = Array("/tmp/wb-map-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        unlink(name)
        defer { close(file) }
        ftruncate(file, 3 * 4096)
        let calls = KernelCalls()
        for _ in 0..<200 {
            let memory = try calls.map(file, length: 4096 + 100, offset: 4096, margin: 70_000)
            memory.storeBytes(of: 7, toByteOffset: 4195, as: UInt8.self)
            let margin = UnsafeRawBufferPointer(start: memory + 8192, count: 70_000)
            #expect(margin.allSatisfy { $0 == 0 })
            calls.unmap(memory, length: 4096 + 100, margin: 70_000)
        }
        #expect(throws: CallFailure(errno: EBADF)) { try calls.map(-1, length: 4096, offset: 0, margin: 4096) }
        var last: UInt8 = 0
        pread(file, &last, 1, 4096 + 4195)
        #expect(last == 7, "shared with the device")
    }
}
