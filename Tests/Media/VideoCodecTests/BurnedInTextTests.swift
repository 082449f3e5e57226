import Media
import Testing

@testable import VideoCodec

@Suite struct BurnedInTextTests {
    /// Reads text as a person would: by the dots of its letters. "?" where they are no letter's.
    private func text(
        in frame: borrowing VideoFrame, at origin: (x: Int, y: Int), scale: Int, length: Int
    ) -> String {
        var text = ""
        for position in 0..<length {
            let left = origin.x + position * (BitmapFont.glyphWidth + 1) * scale
            var rows: [UInt8] = []
            for row in 0..<BitmapFont.glyphHeight {
                var dots: UInt8 = 0
                for column in 0..<BitmapFont.glyphWidth {
                    let x = left + column * scale + scale / 2
                    let y = origin.y + row * scale + scale / 2
                    dots = dots << 1 | (Pictures.luma(frame, x: x, y: y) > 125 ? 1 : 0)
                }
                rows.append(dots)
            }
            text.append("0123456789:.#".first { BitmapFont.rows(of: $0) == rows } ?? "?")
        }
        return text
    }

    /// Size and rate: the worst case is a small frame at a low rate.
    @Test(arguments: [(1280, 720, 1_000_000), (640, 360, 250_000), (320, 180, 100_000)])
    func `clock and number can be read after encoding`(width: Int, height: Int, rate: Int) throws {
        let recording = try Pattern.record(
            Pattern.configuration(width: width, height: height, bitsPerSecond: rate), frames: 50, audio: nil)
        let layout = TestPatternPainter.Layout(width: width, height: height)
        let decoder = try VideoDecoder(try #require(recording.videoFormats.first))
        var numbers: [String] = []
        var clocks: [String] = []
        for unit in recording.videoUnits {
            try decoder.decode(unit) { frame, _ throws(VideoCodecError) in
                numbers.append(text(in: frame, at: layout.numberOrigin, scale: layout.scale, length: 9))
                clocks.append(text(in: frame, at: layout.clockOrigin, scale: layout.scale, length: 12))
            }
        }
        let expected = (0..<50).map { "#" + String(repeating: "0", count: 8 - String($0).count) + String($0) }
        #expect(numbers == expected)
        for clock in clocks {
            #expect(clock.contains(/^[0-2][0-9]:[0-5][0-9]:[0-6][0-9]\.[0-9]{3}$/))
        }
    }

    @Test(arguments: [(16, 16), (16, 2000), (2000, 16), (46, 38), (1920, 1080)])
    func `a frame of any size can be painted`(width: Int, height: Int) throws {
        var painter = try TestPatternPainter(width: width, height: height)
        var frame = try VideoFrame(width: width, height: height, pixelFormat: .yuv420p)
        for number in [0, 1, 1000, Int.max, Int.min] {
            painter.draw(into: &frame, number: number, clock: "00:00:00.000", isFlashing: true)
        }
    }

    @Test func `the box moves and the flash marks the second`() throws {
        let layout = TestPatternPainter.Layout(width: 320, height: 180)
        let places = (0..<20).map { layout.box(forFrame: $0) }
        #expect(Set(places.map(\.x)).count == 20)
        var painter = try TestPatternPainter(width: 320, height: 180)
        var frame = try VideoFrame(width: 320, height: 180, pixelFormat: .yuv420p)
        painter.draw(into: &frame, number: 0, clock: "", isFlashing: true)
        #expect(Pictures.luma(frame, x: 4, y: 4) == 235)
        painter.draw(into: &frame, number: 0, clock: "", isFlashing: false)
        #expect(Pictures.luma(frame, x: 4, y: 4) < 200)
    }

    @Test func `every letter of the clock has a glyph of its own`() {
        let glyphs = "0123456789:.#-".map { BitmapFont.rows(of: $0) }
        #expect(Set(glyphs).count == 14)
        #expect(glyphs.allSatisfy { $0.count == 7 && $0.allSatisfy { $0 < 32 } })
    }

    @Test func `the tone is continuous over the second's end and beeps at its beginning`() {
        let tone = TestTone(sampleRate: 48_000)
        let whole = tone.samples(from: 0, count: 96_000, channels: 1)
        #expect(whole.prefix(48_000).elementsEqual(whole.suffix(48_000)))
        #expect(tone.samples(from: 47_990, count: 20, channels: 1) == Array(whole[47_990..<48_010]))
        #expect(zip(whole, whole.dropFirst()).allSatisfy { abs($0 - $1) < 0.1 })
        func loudness(_ range: Range<Int>) -> Float { range.reduce(0) { max($0, abs(whole[$1])) } }
        #expect(loudness(500..<4_000) > 0.4)
        #expect(loudness(6_000..<47_000) < 0.11 && loudness(6_000..<47_000) > 0.09)
        let stereo = tone.samples(from: -5, count: 10, channels: 2)
        #expect(stereo.count == 20)
        #expect(stride(from: 0, to: 20, by: 2).allSatisfy { stereo[$0] == stereo[$0 + 1] })
    }
}
