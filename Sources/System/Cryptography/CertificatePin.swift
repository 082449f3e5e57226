internal import COpenSSL
internal import Wire

/// Pins of public keys, as libcurl and RFC 7469 §2.4 compute them: "sha256//" and the Base64 of the SHA-256 of the
/// certificate's SubjectPublicKeyInfo.
///
/// The key is pinned, not the certificate: a device that renews its certificate with its old key stays the same.
public enum CertificatePin {
    /// Longest text that is looked at.
    public static let textLimit = 128 * 1024

    private static let prefix = "sha256//"

    /// The pin of the first certificate in the text.
    /// - Throws: `.invalidKey(.unreadable)`.
    public static func pin(pem: [UInt8]) throws(CryptoError) -> String {
        guard pem.count <= textLimit else { throw .invalidKey(.unreadable) }
        let found = pem.withBytes { (bytes, count) -> OpaquePointer? in
            guard let bio = BIO_new_mem_buf(bytes, CInt(count)) else { return nil }
            defer { BIO_free(bio) }
            return PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil)
        }
        guard let certificate = found else {
            ERR_clear_error()
            throw .invalidKey(.unreadable)
        }
        defer { X509_free(certificate) }
        // Of the certificate, so it is not freed here.
        let key = try Library.unwrap(X509_get_X509_PUBKEY(certificate), "X509_get_X509_PUBKEY")
        var der: UnsafeMutablePointer<UInt8>?
        let count = i2d_X509_PUBKEY(key, &der)
        guard count > 0, let der else { throw Library.failure("i2d_X509_PUBKEY") }
        defer { watchbox_free(der) }
        let bytes = Array(UnsafeBufferPointer(start: der, count: Int(count)))
        return prefix + Base64.encode(Digest.sha256(bytes))
    }

    /// Whether the text has the form of a pin.
    public static func isPin(_ text: String) -> Bool { digest(pin: text) != nil }

    /// The SHA-256 that a pin names, 32 bytes; nil for a string that is not a pin.
    public static func digest(pin text: String) -> [UInt8]? {
        guard text.hasPrefix(prefix), text.utf8.count == prefix.utf8.count + 44 else { return nil }
        let digits = text.dropFirst(prefix.count)
        guard let digest = try? Base64.decode(digits), digest.count == 32 else { return nil }
        // The decoder takes the URL alphabet as well; whoever compares pins as text must not.
        return Base64.encode(digest) == digits ? digest : nil
    }
}
