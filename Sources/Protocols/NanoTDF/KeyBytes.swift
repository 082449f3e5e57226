internal import Glibc

/// The bytes of a key, in memory that is zeroised when the last reference ends. It has no description, no equality and no coding, so that they
/// can't reach a log or a file by accident.
@safe
final class KeyBytes: Sendable {
    /// Written in the initializer only; read-only until `deinit`, hence safe to share between threads.
    private nonisolated(unsafe) let memory: UnsafeMutableBufferPointer<UInt8>

    /// Copies the key. The caller's copy stays the caller's to wipe.
    /// - Throws: `.invalidKeyLength` unless there are exactly so many.
    init(copying bytes: Span<UInt8>, count: Int) throws(NanoTDFCryptoError) {
        guard bytes.count == count else { throw .invalidKeyLength(bytes.count) }
        unsafe memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: count)
        unsafe bytes.withUnsafeBufferPointer { source in
            _ = unsafe memory.initialize(from: source)
        }
    }

    deinit {
        unsafe explicit_bzero(memory.baseAddress!, memory.count)
        unsafe memory.deallocate()
    }

    /// Lends the key to `body`; the span can't leave it.
    func withBytes<R: ~Copyable, E: Error>(_ body: (Span<UInt8>) throws(E) -> R) throws(E) -> R {
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
