internal import COpenSSL
public import Cryptography
public import NanoTDF

/// The key of a registration proof: `HKDF-SHA256(DEK, info: "watchbox-register-1")`. Camera and KAS derive the same one;
/// neither the DEK nor anything sealed under it follows from it.
public final class PossessionKey: PossessionProof {
    private static let info = Array("watchbox-register-1".utf8)

    // Written in the initializer and in `deinit` only, hence safe to share between threads.
    private nonisolated(unsafe) var key: [UInt8]

    /// - Parameter dek: 32 bytes; stays the caller's to wipe.
    public init(dek: [UInt8]) throws(CryptoError) {
        key = try HKDF.sha256(ikm: dek, salt: [], info: Self.info, count: 32)
    }

    deinit {
        OPENSSL_cleanse(&key, key.count)
    }

    public func mac(of message: [UInt8]) -> [UInt8] { Digest.hmacSHA256(key: key, message) }
}
