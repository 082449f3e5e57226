/// The 32-byte data encryption key (DEK) of one collection, or of one archive, on its way from a KAS to an opener, or inside a KAS.
///
/// Its memory is zeroised when the last reference ends. It has no description, no equality and no coding, so that it
/// can't reach a log or a file by accident. Nothing in this package seals with a key that came from outside: see
/// ``CollectionSealer``.
public final class CollectionKey: Sendable {
    /// Bytes of a DEK: AES-256 is the only cipher of NanoTDF, and of the archives of profile S.
    public static let byteCount = 32

    private let bytes: KeyBytes

    /// Copies the key. The caller's copy stays the caller's to wipe.
    /// - Throws: `.invalidKeyLength` unless there are exactly 32 bytes.
    public init(copying bytes: Span<UInt8>) throws(NanoTDFCryptoError) {
        self.bytes = try KeyBytes(copying: bytes, count: Self.byteCount)
    }

    /// Takes the key out of `bytes` and zeroises them.
    public convenience init(wiping bytes: inout [UInt8]) throws(NanoTDFCryptoError) {
        defer { Wiping.wipe(&bytes) }
        try self.init(copying: bytes.span)
    }

    /// Lends the key to `body`; the span can't leave it.
    public func withBytes<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try bytes.withBytes(body)
    }
}
