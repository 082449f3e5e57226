internal import COpenSSL
public import Cryptography
public import KeyAccess
public import NanoTDF
internal import Wire

extension RSAPrivateKey {
    /// The key of an archive, of an entry of its manifest that was wrapped for this key: type `wrapped`, RSA-OAEP with SHA-1.
    ///
    /// - Throws: `.authenticationFailed` for an entry of another key or another type, and for one that is damaged.
    public func archiveKey(from object: KeyAccessObject) throws(CryptoError) -> CollectionKey {
        guard object.type == "wrapped", let text = object.wrappedKey, text.utf8.count <= 4096,
            let wrapped = try? Base64.decode(text)
        else { throw .authenticationFailed }
        var key = try decryptOAEP(wrapped, hash: .sha1)
        defer { OPENSSL_cleanse(&key, key.count) }
        guard let archiveKey = try? CollectionKey(copying: key.span) else { throw .authenticationFailed }
        return archiveKey
    }
}
