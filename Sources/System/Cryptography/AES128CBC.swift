internal import Synchronization

/// AES-128 in CBC mode without padding, under one key, for many chains that each begin at an IV. It authenticates nothing: for formats that fixed it.
public final class AES128CBC: Sendable {
    public static let keyByteCount = 16
    public static let blockByteCount = 16

    private struct Contexts: ~Copyable {
        var encryption: BlockCipherContext
        var decryption: BlockCipherContext
    }

    private let contexts: Mutex<Contexts>

    /// - Parameter key: 16 bytes. The caller's copy stays the caller's to wipe.
    public init(key: Span<UInt8>) throws(CryptoError) {
        contexts = Mutex(
            Contexts(
                encryption: try BlockCipherContext(key: key, encrypts: true),
                decryption: try BlockCipherContext(key: key, encrypts: false)))
    }

    /// Replaces whole blocks by their ciphertext.
    ///
    /// - Parameter iv: 16 bytes.
    public func encrypt(_ blocks: inout [UInt8], iv: [UInt8]) throws(CryptoError) {
        try contexts.withLock { (contexts) throws(CryptoError) in try contexts.encryption.chain(&blocks, iv: iv) }
    }

    /// The inverse of ``encrypt(_:iv:)``.
    public func decrypt(_ blocks: inout [UInt8], iv: [UInt8]) throws(CryptoError) {
        try contexts.withLock { (contexts) throws(CryptoError) in try contexts.decryption.chain(&blocks, iv: iv) }
    }
}
