internal import COpenSSL

public enum HKDF {
    /// HKDF-SHA256 (RFC 5869), extract and expand. An empty `salt` means 32 zero bytes, as the RFC has it.
    /// - Parameter count: 1…8160 bytes.
    public static func sha256(
        ikm: [UInt8], salt: [UInt8], info: [UInt8] = [], count: Int
    ) throws(CryptoError) -> [UInt8] {
        guard (1...8160).contains(count) else { throw .invalidLength(count) }
        let context = try Library.unwrap(EVP_KDF_CTX_new(Algorithm.hkdf), "EVP_KDF_CTX_new")
        defer { EVP_KDF_CTX_free(context) }
        return try [UInt8](capacity: count) { (output) throws(CryptoError) -> Int in
            let result = ikm.withBytes { ikm, ikmCount in
                salt.withBytes { salt, saltCount in
                    info.withBytes { info, infoCount in
                        let parameters = [
                            octets(watchbox_param_key(), ikm, ikmCount),
                            octets(watchbox_param_info(), info, infoCount),
                            saltCount > 0 ? octets(watchbox_param_salt(), salt, saltCount) : OSSL_PARAM_construct_end(),
                            OSSL_PARAM_construct_end(),
                        ]
                        return derive(context, output, count, parameters)
                    }
                }
            }
            try Library.check(result, "EVP_KDF_derive")
            return count
        }
    }

    private static func derive(
        _ context: OpaquePointer, _ output: UnsafeMutablePointer<UInt8>, _ count: Int, _ parameters: [OSSL_PARAM]
    ) -> CInt {
        var digest = Array("SHA256".utf8CString)
        return digest.withUnsafeMutableBufferPointer { digest in
            let name = OSSL_PARAM_construct_utf8_string(watchbox_param_digest(), digest.baseAddress, 0)
            return EVP_KDF_derive(context, output, count, [name] + parameters)
        }
    }

    /// libcrypto only reads it; the C type has no const.
    private static func octets(
        _ name: UnsafePointer<CChar>?, _ bytes: UnsafePointer<UInt8>, _ count: Int
    ) -> OSSL_PARAM {
        OSSL_PARAM_construct_octet_string(name, UnsafeMutableRawPointer(mutating: bytes), count)
    }
}
