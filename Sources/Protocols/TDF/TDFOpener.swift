public import KeyAccess
public import NanoTDF
internal import Wire

/// Opens one archive. It comes into being only when policy and list of segments are those that were sealed; after that
/// each segment opens by itself, in any order, and gives its plaintext only when its hash and its tag verify.
public struct TDFOpener: Sendable {
    public let map: TDFSegmentMap

    private let context: any TDFOpeningContext

    /// - Parameters:
    ///   - index: of the entry of `keyAccess` that the key came from: its binding has to hold.
    ///   - payloadSize: bytes of the payload.
    /// - Throws: `.policyBinding` or `.rootSignature` when it does not verify, which another archive's key leads to as well.
    public init(
        _ manifest: TDFManifest, key: CollectionKey, fromKeyAccess index: Int = 0, payloadSize: Int64,
        crypto: any TDFCrypto
    ) throws(TDFError) {
        let map = try TDFSegmentMap(manifest)
        guard map.encryptedSize == payloadSize else {
            throw .payloadSize(segments: map.encryptedSize, payload: payloadSize)
        }
        let encryption = manifest.encryptionInformation
        precondition(encryption.keyAccess.indices.contains(index), "no such entry: the caller's fault")
        let context = try Self.mapping { () throws(TDFCryptoError) in try crypto.makeOpening(key) }
        let binding = try Self.mapping { () throws(TDFCryptoError) in
            try context.hmacSHA256(Array(encryption.policy.utf8)[...])
        }
        guard Self.holds(encryption.keyAccess[index].policyBinding, binding, crypto) else { throw .policyBinding }
        let signature = try Self.mapping { () throws(TDFCryptoError) in try context.hmacSHA256(map.gmacs[...]) }
        guard crypto.constantTimeEqual(signature[...], map.rootSignature[...]) else { throw .rootSignature }
        self.context = context
        self.map = map
    }

    /// The plaintext of a segment.
    ///
    /// - Parameter bytes: all of the segment: IV, ciphertext and tag.
    /// - Throws: `.segmentLength`, `.segmentHash` or `.segmentTag`, each with the index.
    public func open(_ index: Int, _ bytes: ArraySlice<UInt8>) throws(TDFError) -> [UInt8] {
        try map.checkHash(of: index, bytes)
        let plaintext = try Self.mapping { () throws(TDFCryptoError) in try context.open(bytes) }
        guard let plaintext else { throw .segmentTag(index: index) }
        return plaintext
    }

    /// Whether a binding is that of a policy: base64 of the hexadecimal digits, as the SDKs write it, or of the 32 bytes, as other writers do.
    ///
    /// - Parameter expected: HMAC-SHA256 of the policy under the key.
    public static func holds(
        _ binding: WrappedKeyBinding?, _ expected: [UInt8], _ crypto: any TDFCrypto
    ) -> Bool {
        guard let binding, binding.algorithm == nil || binding.algorithm == "HS256", binding.hash.utf8.count <= 128,
            let found = try? Base64.decode(binding.hash)
        else { return false }
        let digits = Array(Hexadecimal.encode(expected).utf8)
        let isRaw = crypto.constantTimeEqual(found[...], expected[...])
        return crypto.constantTimeEqual(found[...], digits[...]) || isRaw
    }

    private static func mapping<R>(_ body: () throws(TDFCryptoError) -> R) throws(TDFError) -> R {
        do { return try body() } catch { throw .crypto(error) }
    }
}
