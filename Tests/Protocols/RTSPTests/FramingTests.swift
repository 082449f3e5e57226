import RTSP
import TestSupport
import Testing

struct FramingTests {
    /// What a session does with bytes in pieces.
    static func actions(_ pieces: [ArraySlice<UInt8>], playing: Dialogue) -> ([RTSPSession.Action], RTSPSession.Facts) {
        var session = playing.session
        return (pieces.flatMap { session.received($0, at: 0) }, session.facts)
    }

    static func playing() throws -> Dialogue {
        var dialogue = try Dialogue()
        dialogue.play()
        return dialogue
    }

    static let request = Array("OPTIONS * RTSP/1.0\r\nCSeq: 8\r\nContent-Length: 5\r\n\r\n$\0\0\u{10}x".utf8)
    static let stream =
        frame(0, packet(1, length: 300)) + frame(1, packet(2)) + Array("\r\n".utf8) + request
        + frame(9, packet(3)) + frame(0, []) + frame(0, packet(4, length: 64)) + frame(0, packet(5))

    @Test func `wherever a read cuts, the same comes out`() throws {
        let dialogue = try Self.playing()
        let stream = Self.stream
        let (whole, facts) = Self.actions([stream[...]], playing: dialogue)
        #expect(whole.count == 6)
        #expect(facts.unknownChannelPackets == 1)
        for first in 0...stream.count {
            let second = min(first + 3, stream.count)
            let pieces = [stream[..<first], stream[first..<second], stream[second...]]
            let (parts, partFacts) = Self.actions(pieces, playing: dialogue)
            #expect(parts == whole)
            #expect(partFacts == facts)
        }
        let bytewise = stream.indices.map { stream[$0...$0] }
        #expect(Self.actions(bytewise, playing: dialogue).0 == whole)
    }

    @Test func `a whole dialogue byte by byte`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        let answers: [() -> String] = [
            { dialogue.reply() }, { dialogue.reply(body: Descriptions.video) },
            { dialogue.reply("200 OK", ["Session: 1"]) },
            { dialogue.reply() },
        ]
        for answer in answers {
            for byte in answer().utf8 { dialogue.hear([byte]) }
        }
        #expect(dialogue.session.isPlaying)
    }

    @Test func `packets are slices of what was read`() throws {
        var session = try Self.playing().session
        let read = (0..<40).flatMap { frame(0, packet($0, length: 1400)) }
        var offset = 4
        for action in session.received(read[...], at: 0) {
            guard case .media(_, _, let slice) = action else {
                Issue.record("\(action)")
                continue
            }
            // Indices of a slice are those of the array that it belongs to.
            #expect(slice.startIndex == offset)
            let address = slice.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
            #expect(address == read.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } + UInt(offset))
            offset += 1404
        }
        #expect(offset == 4 + 40 * 1404)
        // Of two reads only the packet between them is joined.
        let cut = session.received(read[..<2000], at: 0) + session.received(read[2000...], at: 0)
        let starts = cut.map { action in
            if case .media(_, _, let slice) = action { slice.startIndex } else { -1 }
        }
        #expect(starts == [4, 4] + (2..<40).map { 4 + 1404 * $0 })
    }

    /// Whoever reads into the same memory again would copy it first if a slice of it was left.
    @Test func `nothing of what was read is kept`() throws {
        let dialogue = try Self.playing()
        let part = frame(0, packet(1, length: 3000))
        let beginnings: [[UInt8]] = [
            Array(part[..<2000]), Array(part[..<3]), [0x24], Array("RTSP/1.0 200 OK\r\nCSeq: 9\r\nContent-Le".utf8),
            Array("GET_PARA".utf8), part + Array(part[..<9]), Array("\r\n".utf8) + part[..<9],
        ]
        for beginning in beginnings {
            // One that is not held elsewhere.
            var buffer: [UInt8] = []
            buffer += beginning
            var session = dialogue.session
            let before = buffer.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
            _ = session.received(buffer[...], at: 0)
            #expect(buffer.withUnsafeMutableBytes { UInt(bitPattern: $0.baseAddress) } == before)
            _ = session.received(buffer[...], at: 0)
            #expect(buffer.withUnsafeMutableBytes { UInt(bitPattern: $0.baseAddress) } == before)
        }
    }

    @Test func `the longest frame`() throws {
        var session = try Self.playing().session
        let long = packet(1, length: 65_535)
        let bytes = frame(0, long)
        #expect(session.received(bytes[...], at: 0) == [.media(index: 0, isControl: false, long[...])])
        #expect(session.received(bytes[..<40_000], at: 0).isEmpty)
        #expect(session.received(bytes[40_000...], at: 0) == [.media(index: 0, isControl: false, long[...])])
    }

    // MARK: Junk

    @Test func `junk between frames is skipped, however it is cut`() throws {
        let dialogue = try Self.playing()
        // A dollar sign of no channel of ours, one of ours with another version, half an answer.
        let junk: [UInt8] = [
            0xFF, 0x24, 0x09, 0, 9, 0x24, 0, 0, 20, 0x41, 0x52, 0x54, 0x53, 0x50, 0x20, 0x24, 0, 0, 2, 0x80,
        ]
        let answer = [0xFE] + Array("RTSP/1.0 200 OK\r\nCSeq: 3\r\n\r\n".utf8)
        let parts: [[UInt8]] = [frame(0, packet(1)), junk, frame(0, packet(2)), answer, frame(0, packet(3))]
        let stream = Array(parts.joined())
        let expected: [RTSPSession.Action] = [1, 2, 3].map { .media(index: 0, isControl: false, packet($0)[...]) }
        for cut in 0...stream.count {
            let (actions, facts) = Self.actions([stream[..<cut], stream[cut...]], playing: dialogue)
            #expect(actions == expected)
            #expect(facts.discardedBytes == 21)
            #expect(facts.unexpectedAnswers == 1)
        }
        let bytewise = stream.indices.map { stream[$0...$0] }
        #expect(Self.actions(bytewise, playing: dialogue).0 == expected)
    }

    @Test func `junk has an end`() throws {
        var dialogue = try Self.playing()
        dialogue.hear([UInt8](repeating: 0xFF, count: 65_536))
        #expect(dialogue.failure == nil)
        dialogue.hear([0xFF])
        guard case .malformed(let position, _)? = dialogue.failure else {
            Issue.record("\(String(describing: dialogue.failure))")
            return
        }
        #expect(position > 65_536)
        #expect(dialogue.last.method == "TEARDOWN")
    }

    // MARK: Other protocols

    @Test(arguments: [
        "HTTP/1.1 400 Bad Request\r\n\r\n", "SSH-2.0-OpenSSH_9.2\r\n", "220 ftp\r\n", "\u{16}\u{3}\u{1}",
        "OK MPD 0.23\n",
    ])
    func `what is not RTSP is known by its first bytes`(greeting: String) throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        for byte in greeting.utf8 { dialogue.hear([byte]) }
        #expect(dialogue.failure == .notRTSP)
        #expect(dialogue.said.count == 1)
    }

    @Test func `the beginning of something else and the end`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.hear("HTT")
        dialogue.note(dialogue.session.connectionClosed(at: 0))
        #expect(dialogue.failure == .notRTSP)
    }

    // MARK: Bounds

    @Test func `headers are bounded in length and number`() throws {
        func failure(_ text: String) throws -> RTSPFailure? {
            var dialogue = try Dialogue()
            dialogue.connect()
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: 1000) {
                dialogue.hear(Array(bytes[start..<min(start + 1000, bytes.count)]))
            }
            return dialogue.failure
        }
        let long = "RTSP/1.0 200 OK\r\nX: " + String(repeating: "x", count: 17_000)
        #expect(try failure(long) == .tooLong(what: "bytes of headers", limit: 16_384))
        #expect(try failure(long + "\r\n\r\n") == .tooLong(what: "bytes of headers", limit: 16_384))
        let many = "RTSP/1.0 200 OK\r\n" + String(repeating: "X: y\r\n", count: 101) + "\r\n"
        #expect(try failure(many) == .tooLong(what: "headers", limit: 100))
        let body = "RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: 65537\r\n\r\n"
        #expect(try failure(body) == .tooLong(what: "bytes of a description", limit: 65_536))
        for length in ["-1", "x", "", "99999999999999999999"] {
            #expect(try failure("RTSP/1.0 200 OK\r\nCSeq: 1\r\nContent-Length: \(length)\r\n\r\n") == nil)
        }
    }

    @Test(arguments: [
        "RTSP/1.0\r\n\r\n", "RTSP/1.0 abc\r\n\r\n", "RTSP/1.0 99\r\n\r\n", "RTSP/1.0 2000 OK\r\n\r\n", "RTSP/ \r\n\r\n",
    ])
    func `an answer without a status is reported with its place`(text: String) throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.hear(frame(3, packet(1)))
        dialogue.hear(text)
        #expect(dialogue.failure == .malformed(position: 24, reason: "an answer without a status"))
    }

    @Test func `an invalid description`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.answer()
        dialogue.answer(body: "<html></html>")
        guard case .malformed(_, let reason)? = dialogue.failure else {
            Issue.record("\(String(describing: dialogue.failure))")
            return
        }
        #expect(reason == "the stream description: it holds neither a version nor a medium")
        var long = try Dialogue()
        long.connect()
        long.answer()
        long.answer(body: "v=0\r\n" + String(repeating: "m=video 0 RTP/AVP 96\r\n", count: 17))
        #expect(long.failure == .tooLong(what: "media of a description", limit: 16))
    }
}
