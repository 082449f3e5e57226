internal import Glibc

/// The 32-byte data encryption key (DEK) of one collection, or of one archive, on its way from a KAS to an opener, or inside a KAS.
///
/// Its memory is zeroised when the last reference ends. It has no description, no equality and no coding, so that it
/// can't reach a log or a file by accident. Nothing in this package seals with a key that came from outside: see
/// ``CollectionSealer``.
@safe
public final class CollectionKey: Sendable {
    /// Bytes of a DEK: AES-256 is the only cipher of NanoTDF, and of the archives that are read here.
    public static let byteCount = 32

    /// Written in the initializer only; read-only until `deinit`, hence safe to share between threads.
    private nonisolated(unsafe) let memory: UnsafeMutableBufferPointer<UInt8>

    /// Copies the key. The caller's copy stays the caller's to wipe.
    /// - Throws: `.invalidKeyLength` unless there are exactly 32 bytes.
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
    public func withBytes<R, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
        defer { withExtendedLifetime(self) {} }
        return unsafe try body(memory.span)
    }
}

/// Zeroising that the optimiser can't remove.
public enum Wiping {
    /// Overwrites the bytes with zero; the array keeps its length. A copy that shares storage keeps its bytes.
    public static func wipe(_ bytes: inout [UInt8]) {
        unsafe bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            unsafe explicit_bzero(start, buffer.count)
        }
    }
}
