/// The digest ("complex") handshake that Flash Player 9 brought: C1 and S1 hide an HMAC-SHA256 of themselves at an
/// offset that they also hide, S2 proves knowledge of the server's key. The keys are public; it authenticates nobody.
/// It is not in Adobe's specification; the facts are those of nginx-rtmp's `ngx_rtmp_handshake.c` and of librtmp's
/// `handshake.h`.
struct DigestHandshake {
    typealias HMAC = (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]

    /// Which of the two 764-byte blocks of C1 holds the digest.
    enum Scheme: CaseIterable {
        case first, second

        /// Where the four bytes begin whose sum places the digest.
        var base: Int {
            switch self {
            case .first: 8
            case .second: 772
            }
        }

        func digestOffset(in packet: [UInt8]) -> Int {
            let sum = packet[base..<(base + 4)].reduce(0) { $0 + Int($1) }
            return base + 4 + sum % 728
        }
    }

    static let digestLength = 32
    static let playerKey = Array("Genuine Adobe Flash Player 001".utf8)
    static let serverKey = Array("Genuine Adobe Flash Media Server 001".utf8)
    /// The second half of both keys.
    static let crowd: [UInt8] = [
        0xF0, 0xEE, 0xC2, 0x4A, 0x80, 0x68, 0xBE, 0xE8, 0x2E, 0x00, 0xD0, 0xD1, 0x02, 0x9E, 0x7E, 0x57,
        0x6E, 0xEC, 0x5D, 0x2D, 0x29, 0x80, 0x6F, 0xAB, 0x93, 0xB8, 0xE6, 0x36, 0xCF, 0xEB, 0x31, 0xAE,
    ]
    /// S1[4..7]: not zero announces digests; FFmpeg verifies them from 3.0 on. This is Flash Media Server 3.5.
    static let serverVersion: [UInt8] = [3, 5, 1, 1]

    let scheme: Scheme
    /// The client's digest.
    let challenge: [UInt8]
    private let hmac: HMAC

    /// Nil unless C1 announces a digest and it is right in one of the two places.
    init?(c1: [UInt8], hmac: @escaping HMAC) {
        guard c1.count == Handshake.packetLength, c1[4..<8].contains(where: { $0 != 0 }) else { return nil }
        for scheme in Scheme.allCases {
            let digest = Self.digest(of: c1, scheme: scheme, key: Self.playerKey, hmac: hmac)
            let offset = scheme.digestOffset(in: c1)
            if digest[...] == c1[offset..<(offset + Self.digestLength)] {
                self.scheme = scheme
                self.challenge = digest
                self.hmac = hmac
                return
            }
        }
        return nil
    }

    func s1(random: [UInt8]) -> [UInt8] {
        var packet = [0, 0, 0, 0] + Self.serverVersion + random
        let offset = scheme.digestOffset(in: packet)
        let digest = Self.digest(of: packet, scheme: scheme, key: Self.serverKey, hmac: hmac)
        packet.replaceSubrange(offset..<(offset + Self.digestLength), with: digest)
        return packet
    }

    /// C1's bytes with a signature in place of the last 32, under a key made from the client's digest.
    func s2(echo c1: [UInt8]) -> [UInt8] {
        let text = Array(c1.dropLast(Self.digestLength))
        let key = hmac(Self.serverKey + Self.crowd, challenge)
        return text + hmac(key, text)
    }

    /// The HMAC of a packet without the place where the digest goes.
    static func digest(of packet: [UInt8], scheme: Scheme, key: [UInt8], hmac: HMAC) -> [UInt8] {
        let offset = scheme.digestOffset(in: packet)
        return hmac(key, Array(packet[..<offset] + packet[(offset + digestLength)...]))
    }
}
