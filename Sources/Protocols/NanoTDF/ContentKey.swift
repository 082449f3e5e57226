internal import Glibc

/// The 16-byte key of an archive that is encrypted as a whole (profile F), on its way from a KAS to an opener.
///
/// As with ``CollectionKey``: its memory is zeroised when the last reference ends, and it has no description, no equality and no coding.
@safe
public final class ContentKey: Sendable {
    /// Bytes: AES-128.
    public static let byteCount = 16

    /// Written in the initializer only; read-only until `deinit`, hence safe to share between threads.
    private nonisolated(unsafe) let memory: UnsafeMutableBufferPointer<UInt8>

    /// Copies the key. The caller's copy stays the caller's to wipe.
    /// - Throws: `.invalidKeyLength` unless there are exactly 16 bytes.
    public init(copying bytes: Span<UInt8>) throws(NanoTDFCryptoError) {
        guard bytes.count == Self.byteCount else { throw .invalidKeyLength(bytes.count) }
        unsafe memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: Self.byteCount)
        unsafe bytes.withUnsafeBufferPointer { source in
            _ = unsafe memory.initialize(from: source)
        }
    }

    /// Takes the key out of `bytes` and zeroises them.
    public convenience init(wiping bytes: inout [UInt8]) throws(NanoTDFCryptoError) {
        defer { Wiping.wipe(&bytes) }
        try self.init(copying: bytes.span)
    }

    deinit {
        unsafe explicit_bzero(memory.baseAddress!, memory.count)
        unsafe memory.deallocate()
    }

    /// Lends the key to `body`; the span can't leave it.
    public func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        defer { withExtendedLifetime(self) {} }
        return unsafe try body(memory.span)
    }
}
