import Foundation
import Media
import Testing

@testable import VideoCodec

@Suite struct FrameDecoderChildTests {
    private struct KeyFrame {
        var format: VideoFormat
        var unit: AccessUnit
    }

    private static func keyFrame() throws -> KeyFrame {
        var configuration = VideoEncoderConfiguration(width: 320, height: 180, frameRate: 25, bitsPerSecond: 500_000)
        configuration.keyFrameInterval = 1
        let encoder = try VideoEncoder(configuration)
        let scene = MovingScene(width: 320, height: 180)
        var events: [MediaEvent] = []
        for number in 0..<3 {
            events += try encoder.encode(
                try scene.frame(number), at: MediaTime(milliseconds: Int64(number * 40)))
        }
        events += try encoder.finish()
        var format: VideoFormat?
        for event in events {
            if case .videoFormat(let found) = event { format = found }
            if case .accessUnit(let unit) = event, unit.isKeyFrame {
                return KeyFrame(format: try #require(format), unit: unit)
            }
        }
        throw VideoCodecError.malformedOutput("no key frame")
    }

    @Test func `what the child reads is what its parent writes, and becomes a JPEG`() throws {
        let keyFrame = try Self.keyFrame()
        let request = try FrameRequest(FrameRequest(unit: keyFrame.unit, format: keyFrame.format).encoded())
        let jpeg = try request.jpeg()
        #expect(jpeg.starts(with: [0xFF, 0xD8, 0xFF]))
        let size = try jpeg.withUnsafeBytes { bytes in
            let frame = try JPEGDecoder().decode(bytes)
            return [frame.width, frame.height]
        }
        #expect(size == [320, 180])
    }

    @Test(arguments: [(160, [160, 90]), (17, [16, 10]), (320, [320, 180]), (4000, [320, 180])])
    func `a frame is made smaller, never larger, and keeps its shape`(maxWidth: Int, size: [Int]) throws {
        let keyFrame = try Self.keyFrame()
        let request = FrameRequest(unit: keyFrame.unit, format: keyFrame.format, maxWidth: maxWidth)
        let jpeg = try FrameRequest(request.encoded()).jpeg()
        let found = try jpeg.withUnsafeBytes { bytes in
            let frame = try JPEGDecoder().decode(bytes)
            return [frame.width, frame.height]
        }
        #expect(found == size)
    }

    @Test func `a request that was cut, padded or changed is refused`() throws {
        let keyFrame = try Self.keyFrame()
        let whole = FrameRequest(unit: keyFrame.unit, format: keyFrame.format).encoded()
        for count in [0, 1, 20, whole.count - 1] {
            #expect(throws: VideoCodecError.self) { try FrameRequest(Array(whole.prefix(count))) }
        }
        #expect(throws: VideoCodecError.self) { try FrameRequest(whole + [0]) }
        #expect(throws: VideoCodecError.self) {
            try FrameRequest(Array(#"{"codec":"h264","width":1,"height":1,"record":-1,"unit":2}"#.utf8) + [0x0A, 1])
        }
    }

    @Test func `damaged key frames give an error or a frame`() throws {
        let keyFrame = try Self.keyFrame()
        for index in stride(from: 0, to: keyFrame.unit.data.count, by: 97) {
            var damaged = keyFrame.unit
            damaged.data[index] ^= 0x55
            _ = try? FrameRequest(unit: damaged, format: keyFrame.format).jpeg()
        }
    }

    /// `sh` stands in for the program: what matters is how the parent takes it.
    @Test(arguments: [
        ("cat >/dev/null; echo 'no frame in it'; exit 1", "no frame in it"),
        ("cat >/dev/null; kill -SEGV $$", "signal 11"), ("cat >/dev/null", "without a message"),
        ("cat >/dev/null; head -c 9000000 /dev/zero", "more than"),
        (#"cat >/dev/null; printf '\377\330\377'"#, "does not report its sandbox"),
        ("cat >/dev/null; printf 'sandbox 0 0\n'", "nothing is decoded"),
        ("cat >/dev/null; printf 'sandbox 7 1\nmy words'; exit 1", "the key frame cannot be decoded"),
        (#"cat >/dev/null; printf 'sandbox 7 1\n\377\330\377\331'"#, "something other than a frame"),
        (
            #"cat >/dev/null; printf 'sandbox 7 1\n\377\330\377'; head -c 5000 /dev/zero"#,
            "something other than a frame"
        ),
        ("exec sleep 600", "in time"),
    ])
    func `a child that fails is reported with its reason`(script: String, words: String) throws {
        let keyFrame = try Self.keyFrame()
        let child = FrameDecoderChild(
            executable: "/bin/sh", arguments: ["-c", script],
            deadline: script.contains("600") ? .seconds(1) : .seconds(60))
        do {
            _ = try child.jpeg(of: keyFrame.unit, format: keyFrame.format)
            Issue.record("it made a frame")
        } catch {
            #expect("\(error)".contains(words), "\(error)")
        }
    }

    @Test func `a child gets the whole request and may answer before it has read it`() throws {
        let keyFrame = try Self.keyFrame()
        var large = keyFrame.unit
        large.data += [UInt8](repeating: 0, count: 3 << 20)
        let size = FrameRequest(unit: large, format: keyFrame.format).encoded().count
        // The first bytes of a frame, then how much was read, then the rest.
        let jpeg = try FrameRequest(FrameRequest(unit: keyFrame.unit, format: keyFrame.format).encoded()).jpeg()
        let frame = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer {
            for name in [frame, "\(frame).count"] { try? FileManager.default.removeItem(atPath: name) }
        }
        try Data(jpeg).write(to: URL(fileURLWithPath: frame))
        let script = #"printf 'sandbox 7 1\n'; head -c 99 "$0"; wc -c >"$0.count"; tail -c +100 "$0""#
        let child = FrameDecoderChild(
            executable: "/bin/sh", arguments: ["-c", script, frame], deadline: .seconds(60))
        #expect(try child.jpeg(of: large, format: keyFrame.format) == jpeg)
        #expect(try String(contentsOfFile: "\(frame).count", encoding: .utf8).contains("\(size)"))
        // It is larger than what was asked for.
        #expect(throws: VideoCodecError.frameFailed("the decoder answered something other than a frame")) {
            try child.jpeg(of: large, format: keyFrame.format, maxWidth: 160)
        }
    }

    private static let program = FrameDecoderChild(
        executable: DecoderSandboxTests.watchboxd, arguments: ["picture"], deadline: .seconds(60))

    @Test func `the program itself makes a JPEG in its sandbox`() throws {
        let keyFrame = try Self.keyFrame()
        #expect(try Self.program.jpeg(of: keyFrame.unit, format: keyFrame.format).starts(with: [0xFF, 0xD8, 0xFF]))
        #expect(try Self.program.jpeg(of: keyFrame.unit, format: keyFrame.format, maxWidth: 32).count < 5000)
    }

    /// Of 16 million pixels, and of a few more.
    @Test(arguments: [(4096, true), (4112, false)])
    func `the program itself decodes no more than 4096 x 4096`(width: Int, isTaken: Bool) throws {
        var configuration = VideoEncoderConfiguration(
            width: width, height: 4096, frameRate: 5, bitsPerSecond: 5_000_000)
        configuration.preset = "ultrafast"
        let encoder = try VideoEncoder(configuration)
        var events = try encoder.encode(
            try VideoFrame(width: width, height: 4096, pixelFormat: .yuv420p), at: .zero)
        events += try encoder.finish()
        var format: VideoFormat?
        var unit: AccessUnit?
        for event in events {
            if case .videoFormat(let found) = event { format = found }
            if case .accessUnit(let found) = event, unit == nil { unit = found }
        }
        let found = try #require(unit)
        let known = try #require(format)
        if isTaken {
            #expect(try Self.program.jpeg(of: found, format: known, maxWidth: 320).starts(with: [0xFF, 0xD8, 0xFF]))
        } else {
            #expect(throws: VideoCodecError.self) { try Self.program.jpeg(of: found, format: known, maxWidth: 320) }
        }
    }
}
