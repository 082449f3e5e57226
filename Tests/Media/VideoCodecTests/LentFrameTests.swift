import CAVCodec
import Media
import Synchronization
import Testing

@testable import VideoCodec

@Suite struct LentFrameTests {
    /// Memory as a driver's, which counts how often it was given back.
    private final class Loan: Sendable {
        nonisolated(unsafe) let memory: UnsafeMutableRawBufferPointer
        private let returns = Atomic(0)

        init(_ count: Int) {
            memory = .allocate(byteCount: count, alignment: 4096)
            memory.initializeMemory(as: UInt8.self, repeating: 77)
        }

        deinit { memory.deallocate() }

        var count: Int { returns.load(ordering: .sequentiallyConsistent) }

        func end() { returns.add(1, ordering: .sequentiallyConsistent) }

        /// Planes of 4:2:0, one after the other.
        func frame(_ width: Int, _ height: Int) throws -> VideoFrame {
            let base = try #require(memory.baseAddress).assumingMemoryBound(to: UInt8.self)
            let planes = [
                (base: base, stride: width), (base: base + width * height, stride: width / 2),
                (base: base + width * height * 5 / 4, stride: width / 2),
            ]
            return try VideoFrame(
                lending: planes, width: width, height: height, pixelFormat: .yuv420p, isFullRange: false,
                matrix: .bt601
            ) { self.end() }
        }
    }

    private func end(_ frame: consuming VideoFrame) {}

    @Test func `the memory is used as it is and given back once`() throws {
        let loan = Loan(64 * 32 * 3 / 2)
        let frame = try loan.frame(64, 32)
        let first = frame.memory(ofPlane: 0)?.bytes.baseAddress
        let matrix = frame.matrix
        #expect(first == loan.memory.baseAddress)
        #expect(matrix == .bt601)
        #expect(Samples.planes(frame).allSatisfy { $0.allSatisfy { $0.allSatisfy { $0 == 77 } } })
        #expect(loan.count == 0)
        end(frame)
        #expect(loan.count == 1)
    }

    @Test func `whoever shares the memory keeps it`() throws {
        let loan = Loan(64 * 32 * 3 / 2)
        let frame = try loan.frame(64, 32)
        let other = try frame.shared()
        end(frame)
        #expect(loan.count == 0)
        #expect(Pictures.luma(other, x: 63, y: 31) == 77)
        end(other)
        #expect(loan.count == 1)
    }

    @Test func `memory in one piece is given back once, however many planes lie in it`() throws {
        let loan = Loan(64 * 32 * 3 / 2)
        let frame = try VideoFrame(
            lending: loan.memory, bytesPerLine: 64, width: 64, height: 32, pixelFormat: .yuv420p, isFullRange: false,
            matrix: .bt601
        ) { loan.end() }
        let other = try frame.shared()
        end(frame)
        #expect(loan.count == 0)
        end(other)
        #expect(loan.count == 1)
    }

    @Test func `memory that is refused is given back too`() throws {
        let loan = Loan(1000)
        let base = try #require(loan.memory.baseAddress).assumingMemoryBound(to: UInt8.self)
        func lend(_ planes: [(base: UnsafeMutablePointer<UInt8>, stride: Int)], _ width: Int, _ height: Int) throws {
            end(
                try VideoFrame(
                    lending: planes, width: width, height: height, pixelFormat: .nv12, isFullRange: false,
                    matrix: .unspecified
                ) { loan.end() })
        }
        #expect(throws: VideoCodecError.invalid(.planes, value: 1)) { try lend([(base, 16)], 16, 16) }
        #expect(throws: VideoCodecError.invalid(.lineSize, value: 15)) { try lend([(base, 15), (base, 16)], 16, 16) }
        #expect(throws: VideoCodecError.invalid(.lineSize, value: -16)) {
            try lend([(base, 16), (base, -16)], 16, 16)
        }
        #expect(throws: VideoCodecError.invalid(.width, value: 0)) { try lend([(base, 16), (base, 16)], 0, 16) }
        #expect(throws: VideoCodecError.invalid(.height, value: .max)) {
            try lend([(base, 16), (base, 16)], 16, .max)
        }
        #expect(loan.count == 5)
    }

    @Test func `one piece of memory holds the planes as V4L2 lays them out`() throws {
        func places(_ format: PixelFormat, _ width: Int, _ height: Int, _ line: Int, _ count: Int) -> [[Int]]? {
            VideoFrame.planes(
                pixelFormat: format, width: width, height: height, bytesPerLine: line, byteCount: count
            )?.map { [$0.offset, $0.stride] }
        }
        #expect(places(.yuv420p, 780, 360, 832, 832 * 540) == [[0, 832], [299_520, 416], [374_400, 416]])
        #expect(places(.nv12, 780, 360, 800, 800 * 540) == [[0, 800], [288_000, 800]])
        #expect(places(.yuyv422, 780, 360, 1560, 561_600) == [[0, 1560]])
        #expect(places(.yuyv422, 780, 360, 1560, 561_599) == nil)
        #expect(places(.yuyv422, 780, 360, 1559, 999_999) == nil)
        #expect(places(.yuv420p, 780, 360, 0, 999_999) == nil)
        #expect(places(.yuv420p, 780, 360, .max, .max) == nil)
        #expect(places(.yuv420p, .max, .max, 4096, .max) == nil)
        #expect(places(PixelFormat(rawValue: -1), 16, 16, 16, 4096) == nil)
    }

    /// A frame waits in the encoder, by reference, while the packet of the one before has not been fetched.
    @Test func `an encoder that holds the memory is waited for`() throws {
        let loans = (0..<2).map { _ in Loan(64 * 32 * 3 / 2) }
        try Libav.load(WB_LIBRARY_AVCODEC)
        let codecContext = try CodecContext(try #require(wb_avcodec_find_encoder_by_name("ffvhuff")))
        codecContext.context.pointee.width = 64
        codecContext.context.pointee.height = 32
        codecContext.context.pointee.pix_fmt = AV_PIX_FMT_YUV420P
        codecContext.context.pointee.time_base = AVRational(num: 1, den: 25)
        codecContext.context.pointee.thread_count = 1
        try codecContext.open()
        for (number, loan) in loans.enumerated() {
            let frame = try loan.frame(64, 32)
            frame.avFrame.pointee.pts = Int64(number)
            #expect(codecContext.send(avFrame: frame.avFrame) == .taken)
            end(frame)
        }
        #expect(loans.map(\.count) == [1, 0])
        for _ in loans {
            let isOut = try codecContext.receivePacket()
            #expect(isOut)
        }
        #expect(loans.map(\.count) == [1, 1])
    }

    @Test func `our encoder gives every frame back`() throws {
        let loans = (0..<20).map { _ in Loan(320 * 192 * 3 / 2) }
        func code() throws {
            let encoder = try VideoEncoder(Pattern.configuration(width: 320, height: 192))
            for (number, loan) in loans.enumerated() {
                let frame = try loan.frame(320, 192)
                _ = try encoder.encode(frame, at: MediaTime(nanoseconds: Int64(number) * 40_000_000))
                end(frame)
            }
            _ = try encoder.finish()
        }
        try code()
        #expect(loans.allSatisfy { $0.count == 1 })
    }

    @Test func `drawing on shared memory draws on a copy`() throws {
        let loan = Loan(64 * 32 * 3 / 2)
        let frame = try loan.frame(64, 32)
        var other = try frame.shared()
        try other.draw([PrivacyMask(x: 0, y: 0, width: 1, height: 1)])
        #expect(Pictures.luma(other, x: 0, y: 0) == 16)
        #expect(Pictures.luma(frame, x: 0, y: 0) == 77)
        end(frame)
        #expect(loan.count == 1)
    }

    @Test(arguments: [(780, 360, 64, 832), (640, 480, 64, 640), (35, 17, 1, 36), (1296, 972, 64, 1344)])
    func `lines are as long as asked for and chroma's exactly half`(width: Int, height: Int, to: Int, line: Int) throws
    {
        let planar = try VideoFrame(width: width, height: height, pixelFormat: .yuv420p, lineAlignment: to)
        let lines = (0..<3).map { planar.memory(ofPlane: $0)?.stride }
        let isAligned = planar.isAligned(to: to)
        #expect(lines == [line, line / 2, line / 2])
        #expect(isAligned)
        let pairs = try VideoFrame(width: width, height: height, pixelFormat: .nv12, lineAlignment: to)
        let pairLines = (0..<2).map { pairs.memory(ofPlane: $0)?.stride }
        #expect(pairLines == [line, line])
        #expect(throws: VideoCodecError.invalid(.lineAlignment, value: 48)) {
            end(try VideoFrame(width: 16, height: 16, pixelFormat: .nv12, lineAlignment: 48))
        }
    }

    static let camera: [PixelFormat] = [
        .yuyv422, .uyvy422, .yvyu422, .yuv420p, .nv12, .nv21, .yuv422p, .yuv444p, .rgb24, .bgr24, .gray8,
    ]

    @Test(arguments: camera)
    func `nothing is touched beyond the last sample of a driver's memory`(format: PixelFormat) throws {
        for (width, height) in [(640, 360), (66, 34), (34, 18), (16, 16), (780, 36), (46, 38), (96, 64)] {
            for (targetWidth, targetHeight) in [(width, height), (160, 90), (height, width)] {
                let plane = try #require(format.planes?.first)
                let line = plane.bytesPerRow(width: width)
                let count = try #require(
                    (1...).lazy.map { $0 * width * height / 2 }.first {
                        VideoFrame.planes(
                            pixelFormat: format, width: width, height: height, bytesPerLine: line, byteCount: $0) != nil
                    })
                let isTurned = targetWidth == height
                for isFullRange in [false, true] {
                    let memory = try GuardedMemory(count)
                    let frame = try VideoFrame(
                        lending: memory.bytes, bytesPerLine: line, width: width, height: height,
                        pixelFormat: format, isFullRange: isFullRange, matrix: .unspecified
                    ) { _ = memory.bytes.count }
                    let preparation = try FramePreparation(
                        FramePreparation.Configuration(
                            width: targetWidth, height: targetHeight,
                            orientation: FrameOrientation(rotation: isTurned ? .quarter : .none),
                            masks: [PrivacyMask(x: 0.5, y: 0.5, width: 0.5, height: 0.5)],
                            overlay: TextOverlay(time: true)))
                    let prepared = try preparation.prepare(frame, wallClock: 0)
                    #expect(Pictures.luma(prepared, x: targetWidth - 1, y: targetHeight - 1) == 16)
                }
            }
        }
    }

    @Test func `every name of V4L2 that is known has planes and can be prepared`() throws {
        func code(_ name: String) -> UInt32 { name.utf8.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
        let names = ["YUYV", "UYVY", "YVYU", "NV12", "NV21", "YU12", "422P", "RGB3", "BGR3", "GREY"]
        let formats = names.compactMap { PixelFormat(fourCC: code($0)) }
        #expect(Set(formats).count == names.count)
        let preparation = try FramePreparation(FramePreparation.Configuration(width: 32, height: 16))
        for format in formats {
            let prepared = try preparation.prepare(Samples.noise(40, 24, format), wallClock: 0)
            #expect(prepared.width == 32)
        }
        #expect(
            ["YV12", "NV16", "MJPG", "H264", "BA81", "\0\0\0\0"].allSatisfy { PixelFormat(fourCC: code($0)) == nil })
    }
}
