internal import COpenSSL

/// HMAC-SHA256 over what comes piece by piece, whose value can be asked for at any point. Freeing it wipes the key.
package struct RunningHMAC: ~Copyable {
    private let context: OpaquePointer

    package init(key: Span<UInt8>) throws(CryptoError) {
        let made = try Library.unwrap(EVP_MAC_CTX_new(Algorithm.hmac), "EVP_MAC_CTX_new")
        var name = Array("SHA256".utf8CString)
        let keyed = name.withUnsafeMutableBufferPointer { name in
            var parameters = [
                OSSL_PARAM_construct_utf8_string(watchbox_param_digest(), name.baseAddress, 0),
                OSSL_PARAM_construct_end(),
            ]
            return key.withUnsafeBufferPointer { EVP_MAC_init(made, $0.baseAddress, $0.count, &parameters) }
        }
        guard keyed == 1 else {
            EVP_MAC_CTX_free(made)
            throw Library.failure("EVP_MAC_init")
        }
        context = made
    }

    /// - Parameter context: becomes this one's.
    private init(owning context: OpaquePointer) {
        self.context = context
    }

    deinit { EVP_MAC_CTX_free(context) }

    /// Another one, of all that came so far.
    package func copy() throws(CryptoError) -> RunningHMAC {
        RunningHMAC(owning: try Library.unwrap(EVP_MAC_CTX_dup(context), "EVP_MAC_CTX_dup"))
    }

    package mutating func update(_ bytes: ArraySlice<UInt8>) throws(CryptoError) {
        try Library.check(bytes.withBytes { EVP_MAC_update(context, $0, $1) }, "EVP_MAC_update")
    }

    /// Of all that came so far, 32 bytes; more may come after it.
    package func value() throws(CryptoError) -> [UInt8] {
        let copy = try Library.unwrap(EVP_MAC_CTX_dup(context), "EVP_MAC_CTX_dup")
        defer { EVP_MAC_CTX_free(copy) }
        return try [UInt8](capacity: 32) { (output) throws(CryptoError) -> Int in
            var length = 0
            try Library.check(EVP_MAC_final(copy, output, &length, 32), "EVP_MAC_final")
            return length
        }
    }
}
