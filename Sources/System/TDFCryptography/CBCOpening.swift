internal import COpenSSL
internal import Cryptography
public import NanoTDF
public import TDF

/// The key of one archive of profile F while it is read.
public struct CBCOpening: Sendable {
    private let key: ContentKey
    private let iv: [UInt8]

    /// - Parameter iv: 16 bytes.
    public init(_ key: ContentKey, iv: [UInt8]) {
        self.key = key
        self.iv = iv
    }

    /// HMAC-SHA256 under the archive's key, which policies are bound with.
    public func hmacSHA256(_ message: ArraySlice<UInt8>) throws(TDFCryptoError) -> [UInt8] {
        try mapping { () throws(CryptoError) in
            try key.withBytes { (key) throws(CryptoError) in
                var hmac = try RunningHMAC(key: key)
                try hmac.update(message)
                return try hmac.value()
            }
        }
    }

    /// The MAC of a payload that is read piece by piece.
    public struct Authentication: ~Copyable {
        private var mac: RunningHMAC

        fileprivate init(_ mac: consuming RunningHMAC) {
            self.mac = mac
        }

        /// - Returns: that of all that came so far, 32 bytes.
        public mutating func update(_ ciphertext: ArraySlice<UInt8>) throws(TDFCryptoError) -> [UInt8] {
            do throws(CryptoError) {
                try mac.update(ciphertext)
                return try mac.value()
            } catch {
                throw TDFCryptoError(error)
            }
        }
    }

    public func authentication() throws(TDFCryptoError) -> Authentication {
        do throws(CryptoError) {
            return Authentication(
                try key.withBytes { (key) throws(CryptoError) in
                    var copy = (0..<key.count).map { key[$0] }
                    defer { OPENSSL_cleanse(&copy, copy.count) }
                    return try CBCAuthentication.context(copy, iv: iv)
                })
        } catch {
            throw TDFCryptoError(error)
        }
    }

    /// Decryption of a payload that is read piece by piece, each of which was authenticated.
    public struct Decryption: ~Copyable {
        private var cipher: BlockCipherContext

        fileprivate init(_ cipher: consuming BlockCipherContext) {
            self.cipher = cipher
        }

        public mutating func update(_ ciphertext: ArraySlice<UInt8>) throws(TDFCryptoError) -> [UInt8] {
            do throws(CryptoError) { return try cipher.update(ciphertext) } catch { throw TDFCryptoError(error) }
        }

        /// - Returns: the rest; nil: it was encrypted under another key, or is damaged.
        public consuming func finish() throws(TDFCryptoError) -> [UInt8]? {
            do throws(CryptoError) { return try cipher.finish() } catch { throw TDFCryptoError(error) }
        }
    }

    public func decryption() throws(TDFCryptoError) -> Decryption {
        do throws(CryptoError) {
            return Decryption(
                try key.withBytes { (key) throws(CryptoError) in
                    try BlockCipherContext(key: key, iv: iv, encrypts: false)
                })
        } catch {
            throw TDFCryptoError(error)
        }
    }

    private func mapping<R>(_ body: () throws(CryptoError) -> R) throws(TDFCryptoError) -> R {
        do throws(CryptoError) { return try body() } catch { throw TDFCryptoError(error) }
    }
}
