import TestSupport
import Testing

@testable import RTMP

private let random = body(1528, from: 3)
private let s1 = body(1536, from: 5)
private let reply = [3] + s1 + body(1536, from: 9)

struct ClientHandshakeTests {
    private let c0c1 = [3] + [UInt8](repeating: 0, count: 8) + random

    private func started() -> ClientHandshake {
        var machine = ClientHandshake(random: random)
        _ = machine.connected()
        return machine
    }

    @Test func `a server that answers at once is answered with C2`() {
        var machine = ClientHandshake(random: random)
        #expect(machine.connected() == .write(c0c1))
        #expect(machine.received(reply[...]) == .finish(write: s1, surplus: []))
    }

    @Test func `bytes after S2 are handed on`() {
        var machine = started()
        #expect(machine.received((reply + [2, 0])[...]) == .finish(write: s1, surplus: [2, 0]))
    }

    @Test(arguments: [0, 1, 2, 1536, 1537, 3072])
    func `a strict prefix waits for the rest`(length: Int) {
        var machine = started()
        #expect(machine.received(reply.prefix(length)) == .wait)
        #expect(machine.received(reply.dropFirst(length) + [7]) == .finish(write: s1, surplus: [7]))
    }

    @Test func `dripped bytes are the same as all at once`() {
        var machine = started()
        for index in 0..<3072 { #expect(machine.received(reply[index...index]) == .wait) }
        #expect(machine.received(reply[3072...]) == .finish(write: s1, surplus: []))
    }

    @Test(arguments: [0, 6, 72, 255] as [UInt8])
    func `another version is refused at its first byte`(version: UInt8) {
        var machine = started()
        #expect(machine.received([version]) == .close(.unsupportedVersion(version)))
        #expect(machine.received([1, 2]) == .wait)
    }

    @Test(arguments: ["nginx-rtmp-1.2.2-to-publisher", "nginx-rtmp-1.2.2-to-player"])
    func `a recorded server is understood`(name: String) throws {
        let fixture = try Fixture(name)
        var machine = started()
        #expect(
            machine.received(fixture.bytes[...])
                == .finish(write: Array(fixture.bytes[1..<1537]), surplus: fixture.chunks))
    }
}

struct ServerHandshakeTests {
    private let c1 = [0, 0, 0, 1, 0, 0, 0, 0] + body(1528, from: 1)
    private let c2 = body(1536, from: 2)
    private let echo = [3] + [UInt8](repeating: 0, count: 8) + random

    private func machine() -> ServerHandshake { ServerHandshake(random: random, digests: Hashes.digests) }

    @Test func `C1 is answered at once and echoed`() {
        var machine = machine()
        #expect(machine.received(([3] + c1)[...]) == .write(echo + c1))
        #expect(machine.received((c2 + [9])[...]) == .finish(write: [], surplus: [9]))
    }

    @Test func `C1 and C2 and connect may come together`() {
        var machine = machine()
        #expect(machine.received(([3] + c1 + c2 + [4, 5])[...]) == .finish(write: echo + c1, surplus: [4, 5]))
    }

    @Test(arguments: [0, 1, 2, 700, 1536, 1537, 1538, 3000, 3072])
    func `every split is the same`(split: Int) {
        var machine = machine()
        let bytes = [3] + c1 + c2
        var written: [UInt8] = []
        var finished = 0
        for part in [bytes[..<split], bytes[split...]] {
            switch machine.received(part) {
            case .wait: break
            case .write(let bytes): written += bytes
            case .finish(let bytes, let surplus):
                written += bytes
                finished += 1
                #expect(surplus.isEmpty)
            case .close: Issue.record("closed")
            }
        }
        #expect(written == echo + c1)
        #expect(finished == 1)
    }

    @Test(arguments: [0, 6, 71, 255] as [UInt8])
    func `another version is refused`(version: UInt8) {
        var machine = machine()
        #expect(machine.received([version, 1]) == .close(.unsupportedVersion(version)))
        #expect(machine.received([1]) == .wait)
    }

    @Test func `a C1 with a wrong digest is echoed`() {
        var machine = machine()
        let c1 = [0, 0, 0, 1, 9, 0, 124, 2] + body(1528, from: 1)
        #expect(machine.received(([3] + c1)[...]) == .write(echo + c1))
    }
}

/// What a Flash player, and FFmpeg's `rtmp_server_digest` checks, look at.
private func isProof(_ reply: ArraySlice<UInt8>, toC1 c1: [UInt8], scheme: DigestHandshake.Scheme) -> Bool {
    let s1 = Array(reply.dropFirst().prefix(1536))
    let s2 = Array(reply.dropFirst(1537).prefix(1536))
    let offset = scheme.digestOffset(in: s1)
    let expected = DigestHandshake.digest(
        of: s1, scheme: scheme, key: Array("Genuine Adobe Flash Media Server 001".utf8)
    ) { Hashes.hmacSHA256(key: $0, $1) }
    let clientOffset = scheme.digestOffset(in: c1)
    let clientDigest = Array(c1[clientOffset..<(clientOffset + 32)])
    let fullKey = DigestHandshake.serverKey + DigestHandshake.crowd
    let key = Hashes.hmacSHA256(key: fullKey, clientDigest)
    return s1[4] >= 3 && Array(s1[offset..<(offset + 32)]) == expected
        && Array(s2[1504...]) == Hashes.hmacSHA256(key: key, Array(s2[..<1504]))
}

struct DigestHandshakeTests {
    private let hmac: DigestHandshake.HMAC = { Hashes.hmacSHA256(key: $0, $1) }

    @Test func `the hash functions of the tests are right`() {
        // RFC 4231 case 2, RFC 1321 §A.5, and CRC-32's check value.
        #expect(
            hex(Hashes.hmacSHA256(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(hex(Hashes.md5(Array("message digest".utf8))) == "f96b697d7cb7938d525a2f31aaf161d0")
        #expect(Hashes.crc32(Array("123456789".utf8)) == 0xCBF4_3926)
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test(arguments: ["ffmpeg-5.1-publish", "ffmpeg-5.1-play", "rtmpdump-2.4-play"])
    func `the digest of a recorded client is found`(name: String) throws {
        let c1 = Array(try Fixture(name).bytes[1..<1537])
        if c1[4..<8].allSatisfy({ $0 == 0 }) {
            #expect(DigestHandshake(c1: c1, hmac: hmac) == nil)
            return
        }
        #expect(DigestHandshake(c1: c1, hmac: hmac)?.challenge.count == 32)
    }

    @Test func `nginx-rtmp and we prove the same to a recorded ffmpeg`() throws {
        let c1 = Array(try Fixture("ffmpeg-5.1-publish").bytes[1..<1537])
        let digest = try #require(DigestHandshake(c1: c1, hmac: hmac))
        let nginx = try Fixture("nginx-rtmp-1.2.2-to-publisher").handshake
        #expect(isProof(nginx, toC1: c1, scheme: digest.scheme))
        var ours = ServerHandshake(random: random, digests: Hashes.digests)
        guard case .write(let reply) = ours.received(([3] + c1)[...]) else {
            Issue.record("no reply")
            return
        }
        #expect(isProof(reply[...], toC1: c1, scheme: digest.scheme))
    }

    @Test(arguments: DigestHandshake.Scheme.allCases, 0..<UInt64(6))
    func `a digest in either place is found and answered`(scheme: DigestHandshake.Scheme, seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var c1 = [0, 0, 0, 0, 9, 0, 124, 2] + generator.bytes(1528)
        let offset = scheme.digestOffset(in: c1)
        #expect((scheme.base + 4...scheme.base + 4 + 727).contains(offset))
        let digest = DigestHandshake.digest(of: c1, scheme: scheme, key: DigestHandshake.playerKey, hmac: hmac)
        c1.replaceSubrange(offset..<(offset + 32), with: digest)
        let found = try #require(DigestHandshake(c1: c1, hmac: hmac))
        #expect(found.scheme == scheme)
        #expect(found.challenge == digest)
        var machine = ServerHandshake(random: random, digests: Hashes.digests)
        guard case .write(let reply) = machine.received(([3] + c1)[...]) else {
            Issue.record("no reply")
            return
        }
        #expect(isProof(reply[...], toC1: c1, scheme: scheme))
        c1[offset] ^= 1
        #expect(DigestHandshake(c1: c1, hmac: hmac) == nil)
    }

    @Test func `a digest at the last possible place fits`() {
        var packet = [UInt8](repeating: 0, count: 1536)
        packet.replaceSubrange(772..<776, with: [255, 255, 217, 0])
        #expect(DigestHandshake.Scheme.second.digestOffset(in: packet) == 772 + 4 + 727)
        #expect(DigestHandshake.digest(of: packet, scheme: .second, key: [1], hmac: hmac).count == 32)
        packet[775] = 1
        #expect(DigestHandshake.Scheme.second.digestOffset(in: packet) == 772 + 4)
    }
}
