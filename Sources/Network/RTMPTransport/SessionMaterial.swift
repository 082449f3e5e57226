internal import Cryptography
internal import RTMP

/// What sessions borrow from above their layer.
enum SessionMaterial {
    static let digests = RTMPDigests(
        md5: { Digest.md5($0) }, hmacSHA256: { key, message in Digest.hmacSHA256(key: key, message) })

    /// The filler of C1 or S1, in one call: an unauthenticated client's connection must not cost hundreds. It protects nothing, so
    /// zeros will do where libcrypto has none.
    static func handshakeRandom() -> [UInt8] {
        (try? SecureRandom.bytes(1528)) ?? [UInt8](repeating: 0, count: 1528)
    }
}
