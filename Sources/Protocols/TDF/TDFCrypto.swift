public import NanoTDF

/// The cryptography that archives need, supplied from above: this module computes nothing itself.
///
/// `OpenSSLTDFCrypto` of module TDFCryptography is the implementation. As with `NanoTDFCrypto`, the key of an archive that is
/// being written never exists outside of it.
public protocol TDFCrypto: Sendable {
    /// Draws the key of one archive, wraps it, and binds the policy to it.
    ///
    /// - Parameters:
    ///   - publicKeyPEMs: SubjectPublicKeyInfo of RSA keys, each of which is to open it by itself.
    ///   - policy: the base64 text that the manifest will hold.
    func makeSealing(
        publicKeyPEMs: [String], policy: ArraySlice<UInt8>
    ) throws(TDFCryptoError) -> TDFSealing

    /// A context that opens segments under `key`. It has a copy of its own and wipes it when it ends.
    func makeOpening(_ key: CollectionKey) throws(TDFCryptoError) -> any TDFOpeningContext

    /// Whether both are equal, in a time that depends on the lengths alone.
    func constantTimeEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool
}

/// A sealing context, and what of its key goes into the manifest.
public struct TDFSealing {
    /// RSA-OAEP with SHA-1, as many bytes as the modulus has: for each of the public keys, in their order.
    public let wrappedKeys: [[UInt8]]
    /// HMAC-SHA256 of the policy under the key, 32 bytes.
    public let policyBinding: [UInt8]
    public let context: any TDFSealingContext

    public init(wrappedKeys: [[UInt8]], policyBinding: [UInt8], context: any TDFSealingContext) {
        self.wrappedKeys = wrappedKeys
        self.policyBinding = policyBinding
        self.context = context
    }
}

/// AES-256-GCM and HMAC-SHA256 under the key of one archive, which it has drawn itself and wipes when it ends.
///
/// The IV is a counter (NIST SP 800-38D §8.2.1): no other context ever has the key, so none can count the same
/// value again, and no chance is left of drawing one twice.
public protocol TDFSealingContext: AnyObject, Sendable {
    /// IV (12), ciphertext and tag (16) become the end of `output`.
    ///
    /// - Parameter begin: where they begin in it; what stands there, and behind it, goes, when nothing is thrown.
    /// - Returns: HMAC-SHA256 over the tags of all segments so far, this one included.
    func seal(
        _ plaintext: ArraySlice<UInt8>, into output: inout [UInt8], at begin: Int
    ) throws(TDFCryptoError) -> [UInt8]

    /// The segment that was sealed last could not be kept: what is signed from here on is without it. Its IV is not used again.
    func withdraw()
}

/// AES-256-GCM opening and HMAC-SHA256 under the key of one archive.
public protocol TDFOpeningContext: AnyObject, Sendable {
    /// The plaintext of IV, ciphertext and tag, or nil when the tag does not verify.
    ///
    /// - Parameter segment: at least 28 bytes.
    func open(_ segment: ArraySlice<UInt8>) throws(TDFCryptoError) -> [UInt8]?

    func hmacSHA256(_ message: ArraySlice<UInt8>) throws(TDFCryptoError) -> [UInt8]
}

/// Why a cryptographic operation of an archive did not happen. Carries no key material.
public enum TDFCryptoError: Error, Equatable, Sendable {
    /// What keys are wrapped for is not the PEM of an RSA public key of 2048 to 4096 bits.
    case invalidPublicKey
    /// It is an RSA key, and not of the 2048 bits that readers of this form take.
    case rsaSize(bits: Int)
    case inputTooLarge(Int)
    /// A call of the library failed; `call` is its name.
    case libraryFailed(call: String)
}

extension TDFCryptoError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .invalidPublicKey: "the public key is not an RSA key of 2048 to 4096 bits in PEM"
        case .rsaSize(let bits): "the public key is an RSA key of \(bits) bits, and this form takes one of 2048"
        case .inputTooLarge(let count): "\(count) bytes are too many for one operation"
        case .libraryFailed(let call): "\(call) failed"
        }
    }
}
