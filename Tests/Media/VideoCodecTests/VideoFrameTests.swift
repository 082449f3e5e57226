import Media
import Testing
import VideoCodec

@Suite struct PictureTests {
    private func pixels(_ width: Int, _ height: Int) -> [UInt8] {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width {
                pixels.append(UInt8(x * 255 / width))
                pixels.append(UInt8(y * 255 / height))
                pixels.append(128)
            }
        }
        return pixels
    }

    @Test func `a PNG has its signature, its size and its colours`() throws {
        let source = pixels(64, 48)
        let png = try PNGWriter.encode(try VideoFrame(width: 64, height: 48, pixels: source))
        #expect(png.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]))
        #expect(Array(png[12..<16]) == Array("IHDR".utf8))
        #expect(Array(png[16..<24]) == [0, 0, 0, 64, 0, 0, 0, 48])
        // Bit depth 8, colour type 2: red, green, blue.
        #expect(Array(png[24..<26]) == [8, 2])
        #expect(png.suffix(8).prefix(4).elementsEqual("IEND".utf8))
    }

    @Test(arguments: [(1, 1), (2, 2), (63, 47), (1920, 1080)])
    func `frames of any size become a PNG`(width: Int, height: Int) throws {
        let frame = try VideoFrame(
            width: width, height: height, pixels: [UInt8](repeating: 90, count: width * height * 3))
        #expect(try PNGWriter.encode(frame).count > 50)
    }

    @Test func `a grey stays what it is through YUV and back`() throws {
        let frame = try VideoFrame(width: 32, height: 32, pixels: [UInt8](repeating: 100, count: 32 * 32 * 3))
        let scaler = try FrameScaler()
        let yuv = try scaler.scale(frame, width: 32, height: 32, pixelFormat: .yuv420p)
        // 16 + 100 * 219 / 255
        #expect((101...103).contains(Pictures.luma(yuv, x: 5, y: 5)))
        let back = try scaler.scale(yuv, width: 32, height: 32, pixelFormat: .rgb24)
        #expect((98...102).contains(Pictures.luma(back, x: 5, y: 5)))
    }

    @Test func `scaling keeps the content in its place`() throws {
        // Left half dark, right half bright.
        var source: [UInt8] = []
        for index in 0..<(64 * 64) { source += [UInt8](repeating: index % 64 < 32 ? 0 : 255, count: 3) }
        let frame = try VideoFrame(width: 64, height: 64, pixels: source)
        let small = try FrameScaler().scale(frame, width: 16, height: 8, pixelFormat: .yuv420p)
        #expect(small.width == 16 && small.height == 8 && small.pixelFormat == .yuv420p)
        #expect(Pictures.luma(small, x: 2, y: 4) < 40)
        #expect(Pictures.luma(small, x: 13, y: 4) > 200)
    }

    @Test func `a frame of impossible size is refused`() {
        #expect(throws: VideoCodecError.invalid(.width, value: 0)) {
            try discard(VideoFrame(width: 0, height: 10, pixelFormat: .rgb24))
        }
        #expect(throws: VideoCodecError.invalid(.height, value: .max)) {
            try discard(VideoFrame(width: 10, height: .max, pixelFormat: .rgb24))
        }
        #expect(throws: VideoCodecError.invalid(.pixelCount, value: 299)) {
            try discard(VideoFrame(width: 10, height: 10, pixels: [UInt8](repeating: 0, count: 299)))
        }
    }

    @Test func `an unknown pixel format is an error, not a crash`() {
        #expect(throws: VideoCodecError.self) {
            try discard(VideoFrame(width: 16, height: 16, pixelFormat: PixelFormat(rawValue: 99_999)))
        }
    }

    private func discard(_ frame: consuming VideoFrame) throws {}
}
