internal import COpenSSL

/// Algorithms of the default provider, fetched once: a fetch for each operation would cost more than a small item.
///
/// The objects are immutable and reference-counted by libcrypto, which allows their use from any thread.
enum Algorithm {
    nonisolated(unsafe) static let aes256GCM: OpaquePointer = require(EVP_CIPHER_fetch(nil, "AES-256-GCM", nil))
    nonisolated(unsafe) static let aes128CBC: OpaquePointer = require(EVP_CIPHER_fetch(nil, "AES-128-CBC", nil))
    nonisolated(unsafe) static let sha1: OpaquePointer = require(EVP_MD_fetch(nil, "SHA1", nil))
    nonisolated(unsafe) static let sha256: OpaquePointer = require(EVP_MD_fetch(nil, "SHA256", nil))
    nonisolated(unsafe) static let md5: OpaquePointer = require(EVP_MD_fetch(nil, "MD5", nil))
    nonisolated(unsafe) static let hmac: OpaquePointer = require(EVP_MAC_fetch(nil, "HMAC", nil))
    nonisolated(unsafe) static let hkdf: OpaquePointer = require(EVP_KDF_fetch(nil, "HKDF", nil))

    private static func require(_ fetch: @autoclosure () -> OpaquePointer?) -> OpaquePointer {
        guard CryptographicLibrary.isReady, let algorithm = fetch() else {
            preconditionFailure("libcrypto lacks an algorithm: its default provider is missing or disabled")
        }
        return algorithm
    }
}

/// libcrypto itself, which this process shares with libcurl.
public enum CryptographicLibrary {
    /// Initialised so that it stays usable while the process exits: its own cleanup at exit would pull locks away from
    /// under threads that still work, such as one that ends a camera's subscription. To be asked before anything else
    /// uses libcrypto.
    public static let isReady: Bool = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1
}

/// Turns libcrypto's return values into errors, and leaves its per-thread error queue empty: libcurl shares it.
enum Library {
    static func check(_ result: CInt, _ call: String) throws(CryptoError) {
        guard result == 1 else { throw failure(call) }
    }

    static func unwrap(_ pointer: OpaquePointer?, _ call: String) throws(CryptoError) -> OpaquePointer {
        guard let pointer else { throw failure(call) }
        return pointer
    }

    static func failure(_ call: String) -> CryptoError {
        ERR_clear_error()
        return .libraryFailed(call: call)
    }
}

extension Array<UInt8> {
    /// The bytes as libcrypto wants them: never a null pointer, even when there are none.
    func withBytes<R, E: Error>(_ body: (UnsafePointer<UInt8>, Int) throws(E) -> R) throws(E) -> R {
        try self[...].withBytes(body)
    }

    /// An array of `count` bytes at most, written by `body`, which returns how many they are.
    package init<E: Error>(capacity: Int, writtenBy body: (UnsafeMutablePointer<UInt8>) throws(E) -> Int) throws(E) {
        var failure: E?
        self.init(unsafeUninitializedCapacity: Swift.max(capacity, 1)) { buffer, count in
            do throws(E) { count = try body(buffer.baseAddress!) } catch { failure = error }
        }
        if let failure { throw failure }
    }
}

extension ArraySlice<UInt8> {
    func withBytes<R, E: Error>(_ body: (UnsafePointer<UInt8>, Int) throws(E) -> R) throws(E) -> R {
        try withUnsafeBufferPointer { (buffer) throws(E) -> R in
            if let start = buffer.baseAddress { return try body(start, buffer.count) }
            var nothing: UInt8 = 0
            return try withUnsafePointer(to: &nothing) { (pointer) throws(E) -> R in try body(pointer, 0) }
        }
    }
}
