import Testing

@testable import VideoCapture

struct FourCCTests {
    @Test(arguments: ["YUYV", "Y16", "MJPG", "422P"])
    func `a name is read and written as V4L2 has it`(name: String) throws {
        let code = try #require(FourCC(name))
        #expect(code.description == name)
        #expect(FourCC(rawValue: code.rawValue) == code)
    }

    @Test func `the first character is the lowest byte`() {
        #expect(FourCC.yuyv.rawValue == 0x5659_5559)
        #expect(FourCC.h264.rawValue == 0x3436_3248)
    }

    @Test(arguments: ["", "YUYVX", "Größ"])
    func `what is not a name of four characters is rejected`(name: String) {
        #expect(FourCC(name) == nil)
    }

    @Test func `characters that cannot be printed are question marks, and big-endian variants are marked`() {
        #expect(FourCC(rawValue: 0x0000_1B41).description == "A???")
        #expect(FourCC(rawValue: 0x2036_3159 | 1 << 31).description == "Y16-BE")
    }

    @Test func `mosaics, access units and plain ones are told apart`() throws {
        for name in ["BA81", "RG10", "pRAA", "pBCC", "BYR2", "RG16"] {
            #expect(try #require(FourCC(name)).isBayer, "\(name)")
        }
        for code in [FourCC.mjpeg, .jpeg, .h264, .hevc] { #expect(code.isCompressed && !code.isBayer) }
        for code in [FourCC.yuyv, .uyvy, .nv12, .yu12, .grey, .rgb3] { #expect(!code.isCompressed && !code.isBayer) }
        #expect(FourCC.mjpeg.isJPEG && FourCC.jpeg.isJPEG && !FourCC.h264.isJPEG)
    }
}

struct FrameLayoutTests {
    @Test(arguments: [
        (FourCC.yuyv, 1280, 1280 * 480), (.rgb3, 1920, 1920 * 480), (.grey, 640, 640 * 480),
        (.yu12, 640, 640 * 480 * 3 / 2), (.nv12, 640, 640 * 480 * 3 / 2), (.nv16, 640, 640 * 480 * 2),
        (.yuv422p, 640, 640 * 480 * 2),
    ])
    func `a frame without gaps needs what its samples need`(format: FourCC, stride: Int, bytes: Int) throws {
        let layout = try #require(FrameLayout(format))
        #expect(layout.bytesPerLine(width: 640) == stride)
        #expect(layout.bytes(bytesPerLine: stride, height: 480) == bytes)
    }

    @Test func `planes lie one after the other, chroma at half the stride`() throws {
        let planar = try #require(FrameLayout(.yu12)).planes(bytesPerLine: 832, height: 360)
        #expect(planar.map(\.offset) == [0, 832 * 360, 832 * 360 + 416 * 180])
        #expect(planar.map(\.stride) == [832, 416, 416])
        let interleaved = try #require(FrameLayout(.nv12)).planes(bytesPerLine: 832, height: 360)
        #expect(interleaved.map(\.offset) == [0, 832 * 360] && interleaved.map(\.stride) == [832, 832])
        let packed = try #require(FrameLayout(.uyvy)).planes(bytesPerLine: 1600, height: 360)
        #expect(packed.map(\.offset) == [0] && packed.map(\.stride) == [1600])
    }

    @Test func `chroma of an odd size covers the last line and the last column too`() throws {
        let layout = try #require(FrameLayout(.yu12))
        #expect(layout.bytesPerLine(width: 641) == 642)
        #expect(layout.bytes(bytesPerLine: 642, height: 5) == 642 * 5 + 2 * 321 * 3)
        #expect(FrameLayout(.yuyv)?.bytesPerLine(width: 641) == 1284)
    }

    @Test(arguments: [FourCC.mjpeg, .h264])
    func `access units have no layout`(format: FourCC) {
        #expect(FrameLayout(format) == nil)
    }
}

struct SequenceCounterTests {
    private func missing(_ numbers: UInt32...) -> UInt64 {
        var counter = SequenceCounter()
        return numbers.reduce(0) { $0 + counter.missing(before: $1) }
    }

    @Test func `gaps are counted frame by frame`() {
        #expect(missing(0, 1, 2, 3) == 0)
        #expect(missing(5, 6, 9, 10) == 2)
        #expect(missing(7, 9, 11) == 2)
    }

    @Test func `going round at the end of 32 bits is not a gap, and gaps there are counted`() {
        #expect(missing(.max - 1, .max, 0, 1) == 0)
        #expect(missing(.max - 1, 2) == 3)
    }

    @Test func `a count that begins again, stands still or leaps is not a gap`() {
        #expect(missing(900, 0, 1) == 0)
        #expect(missing(0, 0, 0, 0) == 0)
        #expect(missing(3, 3_000_000_000, 3_000_000_001) == 0)
        #expect(missing(3, 2, 3) == 0)
    }
}
