/// The 16-byte key of an archive of profile F or P, on its way from a KAS to an opener.
///
/// As with ``CollectionKey``: its memory is zeroised when the last reference ends, and it has no description, no equality and no coding.
public final class ContentKey: Sendable {
    /// Bytes: AES-128.
    public static let byteCount = 16

    private let bytes: KeyBytes

    /// Copies the key. The caller's copy stays the caller's to wipe.
    /// - Throws: `.invalidKeyLength` unless there are exactly 16 bytes.
    public init(copying bytes: Span<UInt8>) throws(NanoTDFCryptoError) {
        self.bytes = try KeyBytes(copying: bytes, count: Self.byteCount)
    }

    /// Takes the key out of `bytes` and zeroises them.
    public convenience init(wiping bytes: inout [UInt8]) throws(NanoTDFCryptoError) {
        defer { Wiping.wipe(&bytes) }
        try self.init(copying: bytes.span)
    }

    /// Lends the key to `body`; the span can't leave it.
    public func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        try bytes.withBytes(body)
    }
}
