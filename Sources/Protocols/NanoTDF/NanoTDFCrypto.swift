/// The cryptography that NanoTDF needs, supplied from above: this module computes nothing itself.
///
/// `OpenSSLCrypto` of module NanoTDFCryptography is the implementation. Requirements are cut so that the key of a collection that is being
/// written never exists outside the implementation: ``makeSealing(recipient:curve:salt:)`` draws the ephemeral key,
/// agrees, derives and keys a context in one step.
public protocol NanoTDFCrypto: Sendable {
    func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8]

    /// Draws a fresh ephemeral key on `curve`, agrees with `recipient` (SEC1 point, compressed or not) and derives
    /// `HKDF-SHA256(x-coordinate, salt, info: "", 32)` into a sealing context.
    func makeSealing(
        recipient: [UInt8], curve: EllipticCurve, salt: [UInt8]
    ) throws(NanoTDFCryptoError) -> EphemeralSealing

    /// A context that opens items under `key`. The context has a copy of its own and wipes it when it ends.
    func makeOpening(_ key: CollectionKey) throws(NanoTDFCryptoError) -> any ItemOpeningContext

    /// The 16-byte tag of AES-256-GCM over nothing but `associatedData` under a nonce of twelve zero bytes.
    /// Reading only: it verifies GMAC policy bindings.
    func zeroNonceTag(
        _ key: CollectionKey, associatedData: ArraySlice<UInt8>
    ) throws(NanoTDFCryptoError) -> [UInt8]

    /// Whether `signature` (r‖s, each of the curve's size) is an ECDSA-SHA256 signature of `message` under
    /// `publicKey` (SEC1). False for a point that isn't on the curve.
    func verifiesECDSA(
        signature: [UInt8], message: ArraySlice<UInt8>, publicKey: ArraySlice<UInt8>, curve: EllipticCurve
    ) -> Bool

    /// Whether both are equal, in a time that depends on the lengths alone.
    func constantTimeEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool
}

/// A sealing context, the public half of the ephemeral key that it came from, and the proof of having made both.
public struct EphemeralSealing {
    /// Compressed SEC1 point.
    public let publicKey: [UInt8]
    public let context: any ItemSealingContext
    public let proof: any PossessionProof

    public init(publicKey: [UInt8], context: any ItemSealingContext, proof: any PossessionProof) {
        self.publicKey = publicKey
        self.context = context
        self.proof = proof
    }
}

/// AES-256-GCM under one key that was set once; only the nonce changes. Not for use by two threads at once:
/// ``CollectionSealer`` holds it behind a lock, together with the counter.
public protocol ItemSealingContext: AnyObject {
    /// Writes ciphertext and 16-byte tag into `item` from `offset` to its end. No allocation, no copy: a slice, since
    /// Swift 6.2 lets a method have one view of memory (`~Escapable`) beside another only when neither is `inout`.
    func seal(
        _ plaintext: ArraySlice<UInt8>, into item: inout MutableSpan<UInt8>, from offset: Int,
        nonce: InlineArray<12, UInt8>
    ) throws(NanoTDFCryptoError)
}

/// AES-256-GCM opening under one key.
public protocol ItemOpeningContext: AnyObject, Sendable {
    /// The plaintext, or nil when the tag doesn't verify; unauthenticated bytes are never handed out.
    /// - Parameters:
    ///   - ciphertext: may be empty.
    ///   - tag: 4…16 bytes; which lengths are acceptable is the caller's decision.
    ///   - nonce: 3 or 12 bytes here; any length of 1…128 in general.
    func open(
        ciphertext: ArraySlice<UInt8>, tag: ArraySlice<UInt8>, nonce: [UInt8]
    ) throws(NanoTDFCryptoError) -> [UInt8]?
}

/// Why a cryptographic operation did not happen. Carries no key material.
public enum NanoTDFCryptoError: Error, Equatable, Sendable {
    /// Not a SEC1 encoding of a point of the curve, or the point at infinity.
    case invalidPublicKey
    case unsupportedCurve(EllipticCurve)
    case invalidKeyLength(Int)
    /// Longer than one call of the library takes (2^31 − 1 bytes).
    case inputTooLarge(Int)
    /// A call of the library failed; `call` is its name.
    case libraryFailed(call: String)
}
