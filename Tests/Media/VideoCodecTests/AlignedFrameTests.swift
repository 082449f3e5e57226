import CAVCodec
import Testing

@testable import VideoCodec

@Suite struct AlignedFrameTests {
    private func strides(_ frame: borrowing VideoFrame) -> [Int] {
        var strides: [Int] = []
        for plane in 0..<3 {
            if let stride = frame.withPlane(plane, { _, stride in stride }) { strides.append(stride) }
        }
        return strides
    }

    @Test(arguments: [(780, 832, 416), (640, 640, 320), (1296, 1344, 672), (1920, 1920, 960), (1344, 1344, 672)])
    func `rows are multiples of 64, chroma's exactly half of that`(width: Int, luma: Int, chroma: Int) throws {
        let aligned = try AlignedFrame(width: width, height: 360, pixelFormat: .yuv420p, alignment: 64)
        let lines = strides(aligned.frame)
        #expect(lines == [luma, chroma, chroma])
        let isAligned = AlignedFrame.isAligned(aligned.frame, alignment: 64)
        #expect(isAligned)
    }

    @Test func `two planes have rows of one length`() throws {
        let aligned = try AlignedFrame(width: 780, height: 360, pixelFormat: .nv12, alignment: 32)
        let lines = strides(aligned.frame)
        #expect(lines == [800, 800])
        let isAligned = AlignedFrame.isAligned(aligned.frame, alignment: 32)
        #expect(isAligned)
    }

    @Test func `a frame is copied as it is`() throws {
        let source = try MovingScene(width: 780, height: 358).frame(3)
        let aligned = try AlignedFrame(width: 780, height: 358, pixelFormat: .yuv420p, alignment: 64)
        let isOfSize = aligned.fits(source)
        #expect(isOfSize)
        let isAligned = AlignedFrame.isAligned(source, alignment: 64)
        #expect(!isAligned)
        source.matrix = .bt709
        try aligned.copy(source)
        #expect(aligned.frame.matrix == .bt709)
        let likeness = try MovingScene(width: 780, height: 358).likeness(of: aligned.frame, to: 3)
        #expect(likeness == 99)
        #expect(aligned.isFree)
    }

    /// A planar frame of 640 pixels a row in memory that ends `extra` bytes behind its last sample.
    private func lent(height: Int, extra: Int) throws -> VideoFrame {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 640 * height * 3 / 2 + extra, alignment: 64)
        let address = UInt(bitPattern: memory.baseAddress)
        return try VideoFrame(
            lending: memory, bytesPerLine: 640, width: 640, height: height, pixelFormat: .yuv420p, isFullRange: false,
            matrix: .unspecified
        ) { UnsafeMutableRawPointer(bitPattern: address)?.deallocate() }
    }

    @Test func `memory that ends with the last row is enough only for whole macroblocks`() throws {
        // Drivers round the number of rows, and libavcodec reads as many.
        let taken = try [(480, 0), (360, 0), (360, 320 * 4 - 1), (360, 320 * 4)].map { height, extra in
            AlignedFrame.isAligned(try lent(height: height, extra: extra), alignment: 64)
        }
        #expect(taken == [true, false, false, true])
    }

    /// A driver that wants planes apart gets each from the begin of the buffer of its number.
    private func buffersBeginWithPlanes(_ frame: borrowing VideoFrame) -> [Bool] {
        let avFrame = frame.avFrame.pointee
        let pairs = [
            (avFrame.buf.0, avFrame.data.0), (avFrame.buf.1, avFrame.data.1), (avFrame.buf.2, avFrame.data.2),
        ]
        return pairs.map { buffer, plane in
            guard let plane else { return buffer == nil }
            return buffer?.pointee.data == plane
        }
    }

    @Test(arguments: [PixelFormat.yuv420p, .nv12])
    func `every plane has a buffer that begins with it`(format: PixelFormat) throws {
        let pool = try FramePool(width: 640, height: 360, pixelFormat: format, lineAlignment: 64)
        func check(_ frame: borrowing VideoFrame) {
            #expect(buffersBeginWithPlanes(frame) == [true, true, true])
            let isWritable = frame.isWritable
            let isAligned = AlignedFrame.isAligned(frame, alignment: 64)
            #expect(isWritable && isAligned)
        }
        check(try pool.frame())
        check(try AlignedFrame(width: 640, height: 360, pixelFormat: format, alignment: 64).frame)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 640 * 368 * 3 / 2, alignment: 64)
        defer { memory.deallocate() }
        check(
            try VideoFrame(
                lending: memory, bytesPerLine: 640, width: 640, height: 360, pixelFormat: format, isFullRange: false,
                matrix: .unspecified
            ) {})
        // What libavutil makes in one piece is copied.
        let whole = try VideoFrame(width: 640, height: 368, pixelFormat: format)
        let isAligned = AlignedFrame.isAligned(whole, alignment: 64)
        let isApart = !buffersBeginWithPlanes(whole).contains(false)
        #expect(isApart || !isAligned)
    }

    @Test func `a pool gives memory again when the frame and all who share it have ended`() throws {
        func end(_ frame: consuming VideoFrame) {}
        let pool = try FramePool(width: 640, height: 360, pixelFormat: .yuv420p, lineAlignment: 64)
        let first = try pool.frame()
        let place = first.memory(ofPlane: 0)?.bytes.baseAddress
        let shared = try first.shared()
        let isWritable = shared.isWritable
        #expect(!isWritable)
        end(first)
        let second = try pool.frame()
        let other = second.memory(ofPlane: 0)?.bytes.baseAddress
        #expect(other != place)
        end(shared)
        let third = try pool.frame()
        let again = third.memory(ofPlane: 0)?.bytes.baseAddress
        #expect(again == place)
    }

    @Test func `rows that are longer than the driver's are not taken`() throws {
        let wide = try AlignedFrame(width: 640, height: 480, pixelFormat: .yuv420p, alignment: 512)
        let lines = strides(wide.frame)
        #expect(lines == [1024, 512, 512])
        let isAligned = AlignedFrame.isAligned(wide.frame, alignment: 64)
        #expect(!isAligned)
    }
}
