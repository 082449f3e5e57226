internal import COpenSSL

/// Memory for private keys that is never written to a swap device: libcrypto's secure heap, which also lies between pages
/// that may not be touched, and wipes what is freed.
public enum KeyMemory {
    /// Bytes: hundreds of RSA keys, and far below the limit that systems set for locked memory (8 MiB).
    private static let size = 1 << 20

    /// Begins with the first use, for keys that are made or read from then on; false when the system does not allow
    /// memory to be locked. Keys are kept and wiped all the same then.
    public static let isLocked: Bool = CryptographicLibrary.isReady && CRYPTO_secure_malloc_init(size, 32) == 1

    /// Bytes of it that hold keys now.
    public static var bytesInUse: Int { Int(CRYPTO_secure_used()) }
}
