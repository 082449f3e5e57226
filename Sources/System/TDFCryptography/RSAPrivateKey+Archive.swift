public import Cryptography
public import KeyAccess
public import NanoTDF
internal import Wire

extension RSAPrivateKey {
    /// The key of an archive, of an entry of its manifest that was wrapped for this key: type `wrapped`, RSA-OAEP with SHA-1.
    ///
    /// - Throws: `.authenticationFailed` for an entry of another key or another type, and for one that is damaged.
    public func archiveKey(from object: KeyAccessObject) throws(CryptoError) -> CollectionKey {
        var key = try unwrapped(object)
        guard let archiveKey = try? CollectionKey(wiping: &key) else { throw .authenticationFailed }
        return archiveKey
    }

    /// The same of an archive of profile F, whose key has 16 bytes.
    public func contentKey(from object: KeyAccessObject) throws(CryptoError) -> ContentKey {
        var key = try unwrapped(object)
        guard let contentKey = try? ContentKey(wiping: &key) else { throw .authenticationFailed }
        return contentKey
    }

    private func unwrapped(_ object: KeyAccessObject) throws(CryptoError) -> [UInt8] {
        guard object.type == "wrapped", let text = object.wrappedKey, text.utf8.count <= 4096,
            let wrapped = try? Base64.decode(text)
        else { throw .authenticationFailed }
        return try decryptOAEP(wrapped, hash: .sha1)
    }
}
