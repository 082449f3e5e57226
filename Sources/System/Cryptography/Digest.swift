internal import COpenSSL

/// Message digests and HMAC, in one shot.
public enum Digest {
    public static func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] { digest(bytes, Algorithm.sha256) }

    public static func sha256(_ bytes: [UInt8]) -> [UInt8] { sha256(bytes[...]) }

    /// For RTMP servers that ask for `authmod=adobe` or `llnw`, and for nothing else.
    public static func md5(_ bytes: [UInt8]) -> [UInt8] { digest(bytes[...], Algorithm.md5) }

    /// For RFC 4122 names and protocols that fixed it; not for signatures.
    public static func sha1(_ bytes: [UInt8]) -> [UInt8] { digest(bytes[...], Algorithm.sha1) }

    private static func digest(_ bytes: ArraySlice<UInt8>, _ algorithm: OpaquePointer) -> [UInt8] {
        [UInt8](capacity: Int(EVP_MAX_MD_SIZE)) { output in
            bytes.withBytes { input, count in
                var length: CUnsignedInt = 0
                guard EVP_Digest(input, count, output, &length, algorithm, nil) == 1 else {
                    preconditionFailure("libcrypto can't digest: out of memory")
                }
                return Int(length)
            }
        }
    }

    public static func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        [UInt8](capacity: 32) { output in
            key.withBytes { key, keyCount in
                message.withBytes { message, count in
                    var length = 0
                    guard
                        EVP_Q_mac(
                            nil, "HMAC", nil, "SHA256", nil, key, keyCount, message, count, output, 32, &length) != nil
                    else { preconditionFailure("libcrypto can't compute an HMAC: out of memory") }
                    return length
                }
            }
        }
    }
}

/// Whether both are equal, in a time that depends on the lengths alone.
public func constantTimeEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
    ConstantTime.equal(left, right)
}

/// Whether both are equal, in a time that depends on the lengths alone.
public func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    ConstantTime.equal(left[...], right[...])
}

enum ConstantTime {
    static func equal(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return left.withBytes { left, count in
            right.withBytes { right, _ in CRYPTO_memcmp(left, right, count) == 0 }
        }
    }
}

public enum SecureRandom {
    /// `count` bytes of libcrypto's generator, which the kernel seeds.
    public static func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
        guard (0...Int(CInt.max)).contains(count) else { throw .invalidLength(count) }
        return try [UInt8](capacity: count) { (output) throws(CryptoError) -> Int in
            try Library.check(RAND_bytes(output, CInt(count)), "RAND_bytes")
            return count
        }
    }
}
