import Glibc
import Testing

@testable import VideoCodec

@Suite struct TextOverlayTests {
    /// Reads text as a person would: by the dots of its letters. "?" where they are no letter's.
    private func text(in frame: borrowing VideoFrame, _ stamp: TextStamp, length: Int) -> String {
        let rows = Samples.rows(frame, 0)
        let letters = (32...126).map { Character(UnicodeScalar(UInt8($0))) }
        var text = ""
        for position in 0..<length {
            let left = stamp.x + 2 * stamp.scale + position * TextStamp.advance * stamp.scale
            let dots = (0..<BitmapFont.glyphHeight).map { row in
                (0..<BitmapFont.glyphWidth).reduce(UInt8(0)) { dots, column in
                    let x = left + column * stamp.scale + stamp.scale / 2
                    let y = stamp.y + 2 * stamp.scale + row * stamp.scale + stamp.scale / 2
                    return dots << 1 | (rows[y][x] > 125 ? 1 : 0)
                }
            }
            text.append(letters.first { BitmapFont.rows(of: $0) == dots } ?? "?")
        }
        return text
    }

    private func localTime(_ seconds: Int64) -> String {
        var moment = time_t(seconds)
        var local = tm()
        localtime_r(&moment, &local)
        var buffer = [CChar](repeating: 0, count: 64)
        strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M:%S", &local)
        return String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    @Test(arguments: [(640, 360), (1280, 720), (360, 640)])
    func `time and name can be read in the frame`(width: Int, height: Int) throws {
        for format in [PixelFormat.yuv420p, .nv12] {
            let preparation = try FramePreparation(
                FramePreparation.Configuration(
                    width: width, height: height, overlay: TextOverlay(time: true, name: "Back Door {7}"),
                    pixelFormats: [format]))
            for seconds: Int64 in [951_782_400, -86_401, 9_000_000_000] {
                let frame = try Samples.noise(width, height, format, seed: 5)
                let prepared = try preparation.prepare(frame, wallClock: seconds * 1_000_000_000 + 999_999_999)
                let expected = localTime(seconds) + " Back Door {7}"
                let stamp = TextStamp(expected, frameWidth: width, frameHeight: height, isFullRange: false)
                #expect(text(in: prepared, stamp, length: expected.count) == expected)
                // The box has no colour.
                let colors = Samples.rows(prepared, 1)
                let cells = format == .nv12 ? stamp.width : stamp.width / 2
                let left = format == .nv12 ? stamp.x : stamp.x / 2
                for row in (stamp.y / 2)..<((stamp.y + stamp.height) / 2) {
                    #expect(colors[row][left..<(left + cells)].allSatisfy { $0 == 128 })
                }
            }
        }
    }

    @Test func `text is drawn over masks and around it nothing changes`() throws {
        let preparation = try FramePreparation(
            FramePreparation.Configuration(
                width: 320, height: 240, masks: [PrivacyMask(x: 0, y: 0, width: 1, height: 0.5)],
                overlay: TextOverlay(name: "X")))
        let source = try Samples.noise(320, 240, .yuv420p, range: 100...200)
        let before = Samples.rows(source, 0)
        let prepared = try preparation.prepare(source, wallClock: 0)
        let after = Samples.rows(prepared, 0)
        let stamp = TextStamp("X", frameWidth: 320, frameHeight: 240, isFullRange: false)
        #expect(text(in: prepared, stamp, length: 1) == "X")
        #expect(Array(before[120...]) == Array(after[120...]))
        for (row, bytes) in after[..<120].enumerated() {
            for (column, byte) in bytes.enumerated() where byte != 16 {
                #expect(byte == 235)
                #expect((stamp.y..<(stamp.y + stamp.height)).contains(row))
                #expect((stamp.x..<(stamp.x + stamp.width)).contains(column))
            }
        }
    }

    @Test(arguments: [(2, 2), (4, 2), (16, 16), (30, 18), (4096, 2), (2, 4096), (35, 17)])
    func `text of any length fits frames of any size`(width: Int, height: Int) throws {
        for format in [PixelFormat.yuv420p, .nv12, .yuvj422p, .yuv444p] {
            for name in ["", "x", String(repeating: "Wörter ", count: 5_000), "\u{0}\n\u{1F4F7}"] {
                var frame = try Samples.noise(width, height, format)
                try frame.draw(TextOverlay(time: true, name: name), wallClock: .min)
                try frame.draw(TextOverlay(time: true, name: name), wallClock: .max)
                try frame.draw(TextOverlay(name: name), wallClock: 0)
            }
        }
    }

    @Test func `text stays inside a driver's memory`() throws {
        for (width, height) in [(16, 10), (64, 8), (34, 18)] {
            let memory = try GuardedMemory(width * height * 3 / 2)
            var frame = try VideoFrame(
                lending: memory.bytes, bytesPerLine: width, width: width, height: height, pixelFormat: .yuv420p,
                isFullRange: false, matrix: .unspecified
            ) { _ = memory.bytes.count }
            try frame.draw(TextOverlay(name: "gyWWWWWWWWWWW"), wallClock: 0)
            #expect(Samples.rows(frame, 1)[height / 4][width / 4] == 128)
        }
    }

    @Test func `without text nothing is drawn, and packed frames are refused`() throws {
        var frame = try Samples.noise(64, 48, .yuyv422)
        let before = Samples.planes(frame)
        try frame.draw(TextOverlay(name: ""), wallClock: 0)
        #expect(Samples.planes(frame) == before)
        var refused: VideoCodecError?
        do throws(VideoCodecError) { try frame.draw(TextOverlay(name: "a"), wallClock: 0) } catch { refused = error }
        #expect(refused == .unsupportedFrame(what: "writing text", frame: "64x48 yuyv422"))
    }

    @Test func `every letter has a glyph of its own, and accents fall away`() {
        let letters = (32...126).map { Character(UnicodeScalar(UInt8($0))) }
        let glyphs = letters.map { BitmapFont.rows(of: $0) }
        #expect(Set(glyphs).count == 95)
        #expect(glyphs.allSatisfy { $0.count == 7 && $0.allSatisfy { $0 < 32 } })
        let folded = zip("ÀéÖßñÿŁşŽ", "AeOsnyLsZ")
        for (accented, base) in folded { #expect(BitmapFont.rows(of: accented) == BitmapFont.rows(of: base)) }
        // An accent as a scalar of its own.
        #expect(BitmapFont.rows(of: "e\u{301}") == BitmapFont.rows(of: "e"))
        for other: Character in ["門", "\u{1F4F7}", "\n", "\u{0}", "\u{7F}", "Ж"] {
            #expect(BitmapFont.rows(of: other) == BitmapFont.rows(of: "?"))
        }
    }
}
