internal import Cryptography
internal import KeyAccess
internal import NanoTDF
internal import Wire

/// Unwraps the key of a TDF3 manifest and checks that the policy is the one it was made for (docs/ref/wire-format.md, "TDF3").
struct TDF3Unwrapper {
    var ring: KeyRing
    var allowsUnbound: Bool

    /// - Parameter policyText: base64 as the client sent it; the binding covers this text, not what it decodes to.
    func unwrap(_ object: KeyAccessObject, policyText: String?) throws(CryptoError) -> UnwrappedKey {
        var (unwrapped, wrapped) = try key(of: object)
        // A wrong padding goes on with a random key: its binding fails where a forged one's does, after equal work.
        if wrapped, ![16, 32].contains(unwrapped.key.count) {
            unwrapped.wipe()
            unwrapped.key = try SecureRandom.bytes(32)
            unwrapped.fault = unwrapped.fault ?? .unwrapFailed
        }
        let text = policyText ?? ""
        let expected = Digest.hmacSHA256(key: unwrapped.key, Array(text.utf8))
        let isBound = object.policyBinding.map { Self.matches($0, expected) } ?? false
        guard let body = try? Base64.decode(text), !body.isEmpty,
            let policy = try? JSONCoding.decode(AccessPolicy.self, from: body)
        else {
            unwrapped.fault = unwrapped.fault ?? .policyUnreadable
            return unwrapped
        }
        unwrapped.policy = policy
        if object.policyBinding == nil {
            if !allowsUnbound { unwrapped.fault = unwrapped.fault ?? .bindingMissing }
        } else if !isBound {
            unwrapped.fault = unwrapped.fault ?? .bindingWrong
        }
        return unwrapped
    }

    /// - Returns: `wrapped` is false for a decoy, whose length is ours.
    private func key(of object: KeyAccessObject) throws(CryptoError) -> (UnwrappedKey, wrapped: Bool) {
        let text = object.wrappedKey.flatMap { $0.isEmpty ? nil : $0 } ?? object.header ?? ""
        guard !text.isEmpty else { return (try refusal(.noKey), false) }
        guard text.utf8.count <= 4096, let bytes = try? Base64.decode(text) else {
            return (try refusal(.malformed), false)
        }
        return object.type == "ec-wrapped" ? try agreed(object, bytes) : try decrypted(object, bytes)
    }

    private func decrypted(_ object: KeyAccessObject, _ bytes: [UInt8]) throws(CryptoError) -> (
        UnwrappedKey, wrapped: Bool
    ) {
        let candidates = ring.rsa.filter { object.kid == nil || object.kid == "" || $0.kid == object.kid }
        guard !candidates.isEmpty else { return (try refusal(.unknownKid), false) }
        for candidate in candidates {
            if let key = try? candidate.key.decryptOAEP(bytes) {
                return (UnwrappedKey(key: key, kid: candidate.kid, origin: .archive), true)
            }
        }
        return (
            UnwrappedKey(
                key: try SecureRandom.bytes(32), fault: .unwrapFailed, kid: candidates[0].kid, origin: .archive), false
        )
    }

    private func agreed(_ object: KeyAccessObject, _ bytes: [UInt8]) throws(CryptoError) -> (
        UnwrappedKey, wrapped: Bool
    ) {
        let candidates = ring.p256.filter { object.kid == nil || object.kid == "" || $0.kid == object.kid }
        guard !candidates.isEmpty else { return (try refusal(.unknownKid), false) }
        guard let pem = object.ephemeralPublicKey, case .ec(let peer)? = try? PublicKeyPEM.load(pem) else {
            return (try refusal(.invalidPoint), false)
        }
        let salt = SessionSalt.tdf.bytes
        for candidate in candidates {
            var wrapping = try candidate.key.deriveKey(with: peer, salt: salt)
            defer { Wiping.wipe(&wrapping) }
            guard bytes.count > 28 else { continue }
            let opened = try? AESGCM.open(
                key: wrapping, nonce: Array(bytes[..<12]), ciphertextAndTag: Array(bytes[12...]), tagLength: 16)
            if let opened { return (UnwrappedKey(key: opened, kid: candidate.kid, origin: .archive), true) }
        }
        return (
            UnwrappedKey(
                key: try SecureRandom.bytes(32), fault: .unwrapFailed, kid: candidates[0].kid, origin: .archive), false
        )
    }

    private func refusal(_ fault: UnwrappedKey.Fault) throws(CryptoError) -> UnwrappedKey {
        try UnwrappedKey(key: ring.decoyKey(), fault: fault, kid: nil, policy: nil, origin: .archive)
    }

    /// `hash` is base64 of the 32 bytes, or of their hexadecimal digits.
    private static func matches(_ binding: WrappedKeyBinding, _ expected: [UInt8]) -> Bool {
        guard binding.algorithm == nil || binding.algorithm == "HS256", binding.hash.utf8.count <= 128,
            let decoded = try? Base64.decode(binding.hash)
        else { return false }
        let digits = Array(Hexadecimal.encode(expected).utf8)
        let isRaw = constantTimeEqual(decoded, expected)
        let isHexadecimal = constantTimeEqual(decoded.map { ($0 >= 0x41 && $0 <= 0x46) ? $0 | 0x20 : $0 }, digits)
        return isRaw || isHexadecimal
    }
}
