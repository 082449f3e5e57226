import Cryptography
import RTSP

enum Hashes {
    /// Of OpenSSL.
    static let digest: @Sendable (DigestAlgorithm, [UInt8]) -> [UInt8] = { algorithm, bytes in
        switch algorithm {
        case .md5: Digest.md5(bytes)
        case .sha256: Digest.sha256(bytes)
        }
    }
}
