internal import COpenSSL

/// SHA-256 over what comes piece by piece.
package struct RunningSHA256: ~Copyable {
    private let context: OpaquePointer

    package init() throws(CryptoError) {
        let made = try Library.unwrap(EVP_MD_CTX_new(), "EVP_MD_CTX_new")
        guard EVP_DigestInit_ex2(made, Algorithm.sha256, nil) == 1 else {
            EVP_MD_CTX_free(made)
            throw Library.failure("EVP_DigestInit_ex2")
        }
        context = made
    }

    deinit { EVP_MD_CTX_free(context) }

    package mutating func update(_ bytes: ArraySlice<UInt8>) throws(CryptoError) {
        try Library.check(bytes.withBytes { EVP_DigestUpdate(context, $0, $1) }, "EVP_DigestUpdate")
    }

    /// Of all that came, 32 bytes.
    package consuming func value() throws(CryptoError) -> [UInt8] {
        try [UInt8](capacity: 32) { (output) throws(CryptoError) -> Int in
            var length: CUnsignedInt = 0
            try Library.check(EVP_DigestFinal_ex(context, output, &length), "EVP_DigestFinal_ex")
            return Int(length)
        }
    }
}
