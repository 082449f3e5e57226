internal import Wire

/// What ties a policy to its header (spec §3.4.2.4), in the forms that are in use.
public enum PolicyBinding: Equatable, Sendable {
    /// Last 8 bytes of SHA-256 over the policy. Unkeyed: whoever changes the policy can recompute it, so it guards
    /// against accidents only.
    case sha256Suffix
    /// First 8 bytes of the GCM tag under the DEK, a nonce of zero bytes, and the policy as associated data
    /// (OpenTDFKit since 2026-06).
    case gmac
    /// The same over SHA-256 of the policy (the spec's text).
    case gmacOfDigest
    /// Signed by the ephemeral key.
    case ecdsa

    /// Which binding `header` carries, verified; nil when none of the known forms verifies. That is an attack, or
    /// OpenTDFKit d8ffeff, which binds under a random nonce that it doesn't send: the caller can't tell, so refuse
    /// unless the header is known in another way.
    ///
    /// - Parameters:
    ///   - key: the DEK; without it the two keyed forms can't be seen.
    public static func verify(
        _ header: NanoTDFHeader, key: CollectionKey?, crypto: some NanoTDFCrypto
    ) throws(NanoTDFError) -> PolicyBinding? {
        let policy = header.policy.boundBytes
        if header.usesECDSABinding { return verifiesSignature(header, policy, crypto) ? .ecdsa : nil }
        let digest = crypto.sha256(policy[...])
        if crypto.constantTimeEqual(header.binding[...], digest.suffix(8)) { return .sha256Suffix }
        guard let key else { return nil }
        do {
            for (form, data) in [(PolicyBinding.gmac, policy), (.gmacOfDigest, digest)] {
                let tag = try crypto.zeroNonceTag(key, associatedData: data[...])
                if crypto.constantTimeEqual(header.binding[...], tag.prefix(8)) { return form }
            }
        } catch {
            throw .crypto(error)
        }
        return nil
    }

    /// "The policy without its type byte" is read with and without the length field of an embedded policy: the spec
    /// leaves it open, and its examples hold remote policies only.
    private static func verifiesSignature(
        _ header: NanoTDFHeader, _ policy: [UInt8], _ crypto: some NanoTDFCrypto
    ) -> Bool {
        guard let signature = fixedForm(header.binding, header.curve) else { return false }
        var messages = [policy]
        switch header.policy {
        case .remote: break
        case .plaintext, .encrypted, .encryptedWithKeyAccess:
            messages.append([UInt8(policy.count >> 8), UInt8(policy.count & 0xFF)] + policy)
        }
        return messages.contains { message in
            crypto.verifiesECDSA(
                signature: signature, message: message[...], publicKey: header.ephemeralPublicKey[...],
                curve: header.curve)
        }
    }

    /// `binding` as r‖s of fixed size, from that form or from `length r length s`.
    private static func fixedForm(_ binding: [UInt8], _ curve: EllipticCurve) -> [UInt8]? {
        let size = curve.coordinateByteCount
        var reader = FieldReader<NanoTDFError>(binding[...])
        var signature: [UInt8] = []
        for _ in 0..<2 {
            guard let length = try? reader.readUInt8(), Int(length) <= size,
                let number = try? reader.readBytes(Int(length))
            else { return binding.count == 2 * size ? binding : nil }
            signature += [UInt8](repeating: 0, count: size - number.count) + number
        }
        if reader.remaining == 0 { return signature }
        return binding.count == 2 * size ? binding : nil
    }
}
