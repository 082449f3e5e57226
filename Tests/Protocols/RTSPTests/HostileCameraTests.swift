import RTSP
import TestSupport
import Testing

/// Whatever a camera sends: an end or not, but never a trap, and never more than bounded work and memory.
struct HostileCameraTests {
    static let login =
        "RTSP/1.0 401 Unauthorized\r\nCSeq: 2\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n\r\n"

    /// A camera's side of a whole session, written in advance.
    static let script: [UInt8] = {
        let description = Descriptions.videoAndAudio
        let text = [
            "RTSP/1.0 200 OK\r\nCSeq: 1\r\nPublic: OPTIONS, GET_PARAMETER\r\nServer: S\r\n\r\n", login,
            "RTSP/1.0 200 OK\r\nCSeq: 3\r\nContent-Base: rtsp://camera.test/cam/\r\nContent-Length: \(description.utf8.count)\r\n\r\n",
            description,
            "RTSP/1.0 200 OK\r\nCSeq: 4\r\nSession: 1;timeout=60\r\nTransport: RTP/AVP/TCP;interleaved=0-1;ssrc=1F\r\n\r\n",
            "RTSP/1.0 200 OK\r\nCSeq: 5\r\nSession: 1\r\nTransport: RTP/AVP/TCP;interleaved=2-3\r\n\r\n",
            "RTSP/1.0 200 OK\r\nCSeq: 6\r\nRTP-Info: url=rtsp://camera.test/cam/track1;seq=1;rtptime=2\r\n\r\n",
        ].joined()
        return Array(text.utf8) + frame(0, packet(1, length: 100)) + frame(2, packet(2)) + frame(1, packet(3))
    }()

    /// - Returns: whether it came to playing.
    @discardableResult
    static func run(_ bytes: [UInt8], pieces: Int = .max, ticks: Bool = true) throws -> Bool {
        var dialogue = try Dialogue(user: "admin") { $0.allowsBasic = true }
        dialogue.connect()
        var start = 0
        while start < bytes.count {
            let end = pieces < bytes.count - start ? start + pieces : bytes.count
            dialogue.hear(Array(bytes[start..<end]))
            start = end
        }
        let played = dialogue.session.isPlaying
        if ticks {
            for round in 1...4 as ClosedRange<UInt64> {
                dialogue.note(dialogue.session.ticked(at: round * 30 * second))
            }
            dialogue.note(dialogue.session.connectionClosed(at: 200 * second))
        }
        for said in dialogue.said {
            // No header of ours can be broken by what came: a login and a session at most once, one line each.
            #expect(said.text.hasSuffix("\r\n\r\n"))
            #expect(said.lines.filter { $0.hasPrefix("Session:") || $0.hasPrefix("Authorization:") }.count <= 2)
            #expect(said.lines.filter { $0.isEmpty }.count == 2)
        }
        #expect(dialogue.said.count < 60)
        let ends = dialogue.done.count { action in
            switch action {
            case .failed, .ended, .redirected: true
            default: false
            }
        }
        #expect(ends <= 1)
        return played
    }

    @Test func `the script plays as it is`() throws {
        #expect(try Self.run(Self.script))
        #expect(try Self.run(Self.script, pieces: 7))
    }

    @Test func `every prefix`() throws {
        for end in Self.script.indices { try Self.run(Array(Self.script[..<end])) }
    }

    @Test(arguments: [0x01, 0x20, 0x80, 0xFF] as [UInt8])
    func `every flipped byte`(mask: UInt8) throws {
        var played = 0
        for index in Self.script.indices {
            var flipped = Self.script
            flipped[index] ^= mask
            if try Self.run(flipped) { played += 1 }
        }
        #expect(played > 0)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `bytes cut out, doubled, moved and made up`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            var bytes = Self.script
            for _ in 0..<(1 + random.next() % 4) {
                let place = Int(random.next() % UInt64(bytes.count))
                let length = min(Int(random.next() % 60), bytes.count - place)
                switch random.next() % 4 {
                case 0: bytes.removeSubrange(place..<(place + length))
                case 1: bytes.insert(contentsOf: bytes[place..<(place + length)], at: place)
                case 2: bytes.insert(contentsOf: random.bytes(length), at: place)
                default: bytes.replaceSubrange(place..<(place + length), with: random.bytes(length))
                }
                if bytes.isEmpty { bytes = [0] }
            }
            try Self.run(bytes, pieces: 1 + Int(random.next() % 200))
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `random bytes while playing are skipped or end it`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var dialogue = try Dialogue()
        dialogue.play()
        for _ in 0..<64 where dialogue.failure == nil { dialogue.hear(random.bytes(4096)) }
        for case .media(let index, _, let bytes) in dialogue.done {
            #expect(index == 0)
            #expect(bytes.count <= 65_535)
        }
    }

    @Test func `ten megabytes of anything end soon`() throws {
        let ten = 10 << 20
        func run(_ byte: UInt8, playing: Bool) throws -> RTSPFailure? {
            var dialogue = try Dialogue()
            if playing { dialogue.play() } else { dialogue.connect() }
            dialogue.hear([UInt8](repeating: byte, count: ten))
            return dialogue.failure
        }
        #expect(try run(0x00, playing: false) == nil)
        #expect(try run(0x0A, playing: true) == nil)
        #expect(try run(0x24, playing: false) == nil)
        for byte in [0x41, 0x52, 0xFF] as [UInt8] {
            #expect(try run(byte, playing: false) == .notRTSP)
            #expect(try run(byte, playing: true) != nil)
        }
    }

    @Test func `a header of nothing but separators`() throws {
        for filler in [",", ";", "=", "\"", "\\", " ", "url=", "Digest ", ";a=b", ",Basic realm=x"] {
            let value = String(repeating: filler, count: 15_000 / filler.utf8.count)
            for name in ["WWW-Authenticate", "Transport", "Session", "RTP-Info", "Public", "Content-Base", "Location"] {
                for status in ["200 OK", "401 No", "302 Found"] {
                    let answer =
                        "RTSP/1.0 \(status)\r\n\(name): \(value)\r\nContent-Length: \(Descriptions.video.utf8.count)\r\n\r\n"
                    try Self.run(Array(String(repeating: answer + Descriptions.video, count: 4).utf8))
                }
            }
        }
    }
}
