/// Why a cryptographic operation failed. Carries no key material and no plaintext.
public enum CryptoError: Error, Equatable, Sendable {
    /// What is wrong with a key.
    public enum KeyFault: Equatable, Sendable {
        /// Not PEM, not DER, or not a key of the kind that was asked for.
        case unreadable
        /// A point that isn't on the curve, or the point at infinity.
        case notOnCurve
        /// A private scalar outside 1…n−1.
        case scalarOutOfRange
        case unsupportedCurve
        /// RSA outside 2048…4096 bits.
        case rsaSize(bits: Int)
        /// RSA with numbers that protect nothing, or that nothing can be encrypted with: an even modulus, or an exponent that is 1, even, or
        /// longer than 64 bits.
        case rsaNumbers
        /// A raw or symmetric key of the wrong length.
        case length(Int)
        /// The keys are of different curves.
        case curveMismatch
    }

    case invalidKey(KeyFault)
    /// A GCM tag or an OAEP padding does not verify. One case for all, so that no caller can tell an attacker more.
    case authenticationFailed
    /// Outside what the algorithm or the library takes.
    case invalidLength(Int)
    /// A call of libcrypto failed; `call` is its name.
    case libraryFailed(call: String)
}

extension CryptoError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidKey(let fault): "invalid key: \(fault)"
        case .authenticationFailed: "the data does not authenticate"
        case .invalidLength(let count): "a length of \(count) bytes is out of range"
        case .libraryFailed(let call): "libcrypto: \(call) failed"
        }
    }
}
