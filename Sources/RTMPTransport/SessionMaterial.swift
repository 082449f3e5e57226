internal import Cryptography
internal import RTMP

/// What sessions borrow from above their layer.
enum SessionMaterial {
    static let digests = RTMPDigests(
        md5: { Digest.md5($0) }, hmacSHA256: { key, message in Digest.hmacSHA256(key: key, message) })

    /// The filler of C1 or S1. It protects nothing, so any generator will do.
    static func handshakeRandom() -> [UInt8] {
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1528)
        for _ in 0..<(1528 / 8) {
            withUnsafeBytes(of: generator.next()) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }
}
