import Foundation
import Glibc
import Media
import TestSupport
import Testing

@testable import VideoCodec

/// Against `watchboxd decode` itself, where nothing else is said.
@Suite struct FrameDecoderTests {
    private static let program = DecoderProgram(executable: DecoderSandboxTests.watchboxd, deadline: .seconds(30))

    private func jpeg(_ width: Int, _ height: Int, _ format: PixelFormat = .yuvj420p) throws -> [UInt8] {
        var pixels: [UInt8] = []
        for y in 0..<height {
            for x in 0..<width { pixels += [UInt8(x * 255 / width), UInt8(y * 255 / height), 128] }
        }
        let rgb = try VideoFrame(width: width, height: height, pixels: pixels)
        let frame = try FrameScaler().scale(rgb, width: width, height: height, pixelFormat: format)
        return try JPEGEncoder().encode(frame, maxWidth: nil)
    }

    /// Nil: it was decoded.
    private func fault(_ decoder: FrameDecoder, _ jpeg: [UInt8]) -> DecoderFault? {
        do throws(DecoderFault) {
            _ = try decoder.decode(jpeg).width
            return nil
        } catch {
            return error
        }
    }

    /// Samples of brightness along the diagonal.
    private func diagonal(_ frame: borrowing VideoFrame) -> [Int] {
        (1..<8).map {
            Int(Pictures.luma(frame, x: frame.width * $0 / 8, y: frame.height * $0 / 8))
        }
    }

    @Test(arguments: [(320, 180), (640, 480), (16, 16), (1920, 1080)])
    func `a frame comes out as this process would have decoded it`(width: Int, height: Int) throws {
        let jpeg = try jpeg(width, height)
        let decoder = try FrameDecoder(Self.program, width: width, height: height)
        let frame = try decoder.decode(jpeg)
        let preparation = try FramePreparation(.init(width: width, height: height, matrix: .bt601))
        let own = try jpeg.span.bytes.withUnsafeBytes { (bytes) throws(VideoCodecError) in
            try preparation.prepare(try JPEGDecoder().decode(bytes), wallClock: 0)
        }
        let size = [frame.width, frame.height]
        #expect(size == [width, height])
        let kind = (frame.pixelFormat, frame.isFullRange, frame.matrix)
        #expect(kind == (.yuv420p, false, .bt601))
        #expect(diagonal(frame) == diagonal(own))
        var encoding = VideoEncoderConfiguration(width: width, height: height, frameRate: 25, bitsPerSecond: 500_000)
        encoding.preset = "ultrafast"
        let encoder = try VideoEncoder(encoding)
        _ = try encoder.encode(frame, at: .zero)
    }

    @Test func `another size is scaled, another kind of JPEG converted`() throws {
        let decoder = try FrameDecoder(Self.program, width: 160, height: 90)
        for format in [PixelFormat.yuvj420p, .yuvj422p, .yuvj444p, .gray8] {
            let frame = try decoder.decode(try jpeg(320, 180, format))
            let width = frame.width
            #expect(width == 160)
            let diagonal = diagonal(frame)
            #expect(diagonal.min() ?? 0 >= 16)
            #expect(diagonal.max() ?? 255 <= 235)
            #expect(zip(diagonal, diagonal.dropFirst()).allSatisfy { $0 <= $1 }, "\(diagonal)")
        }
    }

    @Test func `a damaged frame costs itself alone`() throws {
        let decoder = try FrameDecoder(Self.program, width: 320, height: 180)
        let whole = try jpeg(320, 180)
        let process = decoder.process
        for damaged in [[], [0xFF, 0xD8], Array(whole.prefix(whole.count / 2)), [UInt8](repeating: 0, count: 5000)] {
            guard case .damaged = fault(decoder, damaged) else {
                Issue.record("\(damaged.count) bytes are not damaged")
                continue
            }
        }
        #expect(fault(decoder, whole) == nil)
        #expect(decoder.process == process)
        #expect(kill(process, 0) == 0)
    }

    @Test func `mutated frames end in a frame, an error, or a child that is replaced`() throws {
        let whole = try jpeg(96, 64)
        var decoder = try FrameDecoder(Self.program, width: 96, height: 64)
        var random = SeededGenerator(seed: 20)
        for _ in 0..<300 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                bytes[Int.random(in: 2..<bytes.count, using: &random)] = .random(in: 0...255, using: &random)
            }
            if case .lost = fault(decoder, bytes) { decoder = try FrameDecoder(Self.program, width: 96, height: 64) }
        }
        #expect(fault(decoder, whole) == nil)
    }

    @Test func `larger than 4096 x 4096 is not decoded`() throws {
        // A header is enough: nothing gets as far as the samples.
        var large = try jpeg(64, 64)
        let header = try #require(large.indices.dropLast(9).first { large[$0] == 0xFF && large[$0 + 1] == 0xC0 })
        large.replaceSubrange((header + 5)..<(header + 9), with: [0x10, 0x10, 0x10, 0x00])
        large += [UInt8](repeating: 0, count: 100_000)
        let bytes = large
        #expect(throws: VideoCodecError.self) { try FrameDecoder.check(bytes) }
        large.replaceSubrange((header + 5)..<(header + 9), with: [0x10, 0x00, 0x10, 0x00])
        let fitting = large
        #expect(throws: Never.self) { try FrameDecoder.check(fitting) }
        #expect(throws: DecoderFault.self) { try FrameDecoder(Self.program, width: 4096, height: 4098) }
    }

    @Test func `places are used in turn, and given back when the frame ends`() throws {
        let decoder = try FrameDecoder(Self.program, width: 64, height: 64)
        let jpeg = try jpeg(64, 64)
        do {
            let first = try decoder.decode(jpeg)
            let second = try decoder.decode(jpeg)
            #expect(fault(decoder, jpeg) == .busy)
            withExtendedLifetime(first.width + second.width) {}
        }
        for _ in 0..<5 { #expect(fault(decoder, jpeg) == nil) }
    }

    @Test func `a frame outlives its child and its decoder`() throws {
        var decoder: FrameDecoder? = try FrameDecoder(Self.program, width: 320, height: 180)
        let frame = try #require(decoder).decode(try jpeg(320, 180))
        let before = diagonal(frame)
        decoder = nil
        #expect(diagonal(frame) == before)
    }

    @Test func `a child that is killed is lost, and said so`() throws {
        let decoder = try FrameDecoder(Self.program, width: 64, height: 64)
        kill(decoder.process, SIGKILL)
        #expect(fault(decoder, try jpeg(64, 64)) == .lost("the decoder ended with signal 9"))
    }

    /// A child in the hands of somebody else, spoken by python: it may say what it likes.
    @Test(arguments: [
        ("pass", "status 0"), ("o(b'sandbox 7 1\\n'); i(); o(b'')", "status 0"),
        ("o(b'sandbox 7 1\\n'); i(); o(b'abc')", "other than what was asked"),
        ("o(b'sandbox 7 1\\n'); i(); o(b'\\x09\\0\\0\\0\\0\\0\\0\\0')", "other than what was asked"),
        ("o(b'sandbox 7 1\\n'); i(); o(b'\\x01\\0\\0\\0\\x01\\0\\0\\0' + b'x\\n' * 9000)", "x x"),
        ("o(b'sandbox 7 1\\n'); i(); time.sleep(600)", "in time"), ("o(b'\\xff' * 100)", "\u{FFFD}"),
        ("o(b'sandbox 7 1\\n'); i(); os.ftruncate(3, 0); o(b'\\x01\\0\\0\\0\\0\\0\\0\\0')", "status 1"),
        ("time.sleep(600)", "in time"),
    ])
    func `whatever a child answers is a readable error`(script: String, words: String) throws {
        try #require(access("/usr/bin/python3", X_OK) == 0)
        let prelude = "import os, time\no = lambda b: os.write(1, b)\ni = lambda: os.read(0, 4096)\n"
        // It is for starting, too: only those that hang on purpose have a short one, which says the same of a slow
        // start.
        let program = DecoderProgram(
            executable: "/usr/bin/python3", arguments: ["-c", prelude + script],
            deadline: script.contains("sleep") ? .seconds(2) : .seconds(30))
        do throws(DecoderFault) {
            let decoder = try FrameDecoder(program, width: 64, height: 64)
            _ = try decoder.decode((try? jpeg(64, 64)) ?? [])
            Issue.record("it decoded")
        } catch {
            #expect("\(error)".contains(words), "\(error)")
        }
    }

    /// Its answers are as expected, so that requests pile up until it has no room for the next one.
    @Test(.timeLimit(.minutes(15))) func `a child that answers without reading does not hold its parent`() throws {
        let script = """
            import os, struct
            os.write(1, b'sandbox 7 1\\n')
            for number in range(1, 1000000): os.write(1, struct.pack('<II', number, 0))
            """
        let program = DecoderProgram(executable: "/usr/bin/python3", arguments: ["-c", script], deadline: .seconds(30))
        let decoder = try FrameDecoder(program, width: 64, height: 64)
        let jpeg = try jpeg(64, 64)
        var found: DecoderFault?
        for _ in 0..<100_000 where found == nil { found = fault(decoder, jpeg) }
        #expect(found == .lost("the decoder did not take its request"))
    }

    @Test func `what a child says moves no cursor and turns no text`() {
        let text = "a\u{1B}[2J\u{7F}\u{9B}31m\u{202E}\u{2028}b\u{2066}\u{FEFF}ü"
        #expect(Array(text.utf8).printable == "a [2J  31m  b  ü")
    }

    @Test func `a child that writes samples all the time changes samples alone`() throws {
        let script = """
            import os, mmap, threading, random
            room = mmap.mmap(3, 0)
            def spoil():
                while True:
                    room[16 << 20:(16 << 20) + 32768] = os.urandom(32768)
            threading.Thread(target=spoil, daemon=True).start()
            os.write(1, b'sandbox 7 1\\n')
            while True:
                request = os.read(0, 4096)
                if not request: os._exit(0)
                os.write(1, request[:4] + bytes(4))
            """
        let program = DecoderProgram(executable: "/usr/bin/python3", arguments: ["-c", script], deadline: .seconds(30))
        let decoder = try FrameDecoder(program, width: 128, height: 128)
        var encoding = VideoEncoderConfiguration(width: 128, height: 128, frameRate: 25, bitsPerSecond: 500_000)
        encoding.preset = "veryfast"
        let encoder = try VideoEncoder(encoding)
        let jpeg = try jpeg(128, 128)
        for number in 0..<100 {
            _ = try encoder.encode(try decoder.decode(jpeg), at: .init(milliseconds: Int64(number * 40)))
        }
    }
}
