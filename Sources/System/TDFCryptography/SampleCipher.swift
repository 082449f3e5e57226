public import CommonEncryption
public import Cryptography

/// The cipher of media that is encrypted sample by sample.
public final class SampleCipher: BlockChaining {
    private let cipher: AES128CBC

    /// - Parameter key: 16 bytes. The caller's copy stays the caller's to wipe.
    public init(key: Span<UInt8>) throws(CryptoError) { cipher = try AES128CBC(key: key) }

    public func encrypt(_ blocks: inout [UInt8], iv: [UInt8]) throws(CommonEncryptionError) {
        do throws(CryptoError) { try cipher.encrypt(&blocks, iv: iv) } catch { throw .cipher(call: "\(error)") }
    }

    public func decrypt(_ blocks: inout [UInt8], iv: [UInt8]) throws(CommonEncryptionError) {
        do throws(CryptoError) { try cipher.decrypt(&blocks, iv: iv) } catch { throw .cipher(call: "\(error)") }
    }
}
