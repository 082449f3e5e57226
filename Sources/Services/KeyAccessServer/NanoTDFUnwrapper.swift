internal import Cryptography
internal import KeyAccess
internal import NanoTDF
internal import NanoTDFCryptography
internal import Wire

/// Derives the key of a NanoTDF header and reads the policy that the header holds.
struct NanoTDFUnwrapper {
    var ring: KeyRing
    /// A registered header is known byte for byte; its binding adds nothing, and may be one that nobody can verify.
    var allowsUnverifiableBindings: Bool
    var registration: (_ headerSha256: String) -> CollectionRegistry.Entry?

    /// Longest header, in bytes.
    static let maximumHeader = 65_536

    /// - Parameter text: base64 of the header.
    func unwrap(header text: String) throws(CryptoError) -> UnwrappedKey {
        guard text.utf8.count <= (Self.maximumHeader + 2) / 3 * 4, let bytes = try? Base64.decode(text),
            !bytes.isEmpty
        else {
            return try refusal(.malformedHeader, headerSha256: nil)
        }
        let hash = Hexadecimal.encode(Digest.sha256(bytes))
        guard let header = try? NanoTDFHeader.parse(bytes) else {
            return try refusal(.malformedHeader, headerSha256: hash)
        }
        guard header.curve == .secp256r1 else { return try refusal(.unsupportedCurve, headerSha256: hash) }
        guard let peer = try? ECPublicKey(sec1: header.ephemeralPublicKey, curve: .p256) else {
            return try refusal(.invalidPoint, headerSha256: hash)
        }
        let entry = registration(hash)
        // The registration's proof showed which key it is.
        let candidates = entry.map { entry in ring.p256.filter { $0.kid == entry.kid } } ?? ring.candidates(for: header)
        guard !candidates.isEmpty else { return try refusal(.unknownKid, headerSha256: hash) }
        var first: UnwrappedKey?
        for candidate in candidates {
            var (unwrapped, isProven) = try open(header, hash, entry, with: candidate, peer)
            if isProven || entry != nil || ring.isCertain(candidate, for: header) {
                first?.wipe()
                return unwrapped
            }
            // The agreement always gives a key; nothing shows which one is right.
            unwrapped.fault = .keyNotProven
            if first == nil { first = unwrapped } else { unwrapped.wipe() }
        }
        return first!
    }

    /// - Returns: the outcome, and whether something in the header is authenticated by this key. Only then is it
    ///   certain, for a header without a kid, that this is the key it was made with.
    private func open(
        _ header: NanoTDFHeader, _ hash: String, _ entry: CollectionRegistry.Entry?,
        with key: NamedKey<ECPrivateKey>, _ peer: ECPublicKey
    ) throws(CryptoError) -> (UnwrappedKey, isProven: Bool) {
        var unwrapped = UnwrappedKey(
            key: try key.key.deriveKey(with: peer, salt: KeyDerivationSalt.l1l), kid: key.kid,
            origin: entry.map { .registered(stream: $0.stream) } ?? .unregistered, headerSha256: hash)
        let collectionKey: CollectionKey
        let binding: PolicyBinding?
        do {
            collectionKey = try unwrapped.key.withCollectionKey()
            binding = try PolicyBinding.verify(header, key: collectionKey, crypto: OpenSSLCrypto())
        } catch {
            throw .libraryFailed(call: "policy binding")
        }
        var isProven = binding == .gmac || binding == .gmacOfDigest
        switch header.policy {
        case .plaintext(let body):
            unwrapped.policy = try? JSONCoding.decode(AccessPolicy.self, from: body)
            if unwrapped.policy == nil { unwrapped.fault = .policyUnreadable }
        case .encrypted(let body):
            unwrapped.policy = Self.decrypted(body, of: header, unwrapped.key)
            isProven = isProven || unwrapped.policy != nil
            if unwrapped.policy == nil { unwrapped.fault = .policyUnreadable }
        case .remote, .encryptedWithKeyAccess:
            unwrapped.fault = .policyUnsupported
        }
        if binding == nil, entry == nil, !allowsUnverifiableBindings, unwrapped.fault == nil {
            unwrapped.fault = .bindingWrong
        }
        return (unwrapped, isProven)
    }

    /// An encrypted policy; nil when this is not its key, or what comes out is not a policy.
    static func decrypted(_ body: [UInt8], of header: NanoTDFHeader, _ dek: [UInt8]) -> AccessPolicy? {
        let opened = try? AESGCM.open(
            key: dek, nonce: [UInt8](repeating: 0, count: 12), ciphertextAndTag: body,
            tagLength: header.tagByteCount)
        return opened.flatMap { try? JSONCoding.decode(AccessPolicy.self, from: $0) }
    }

    /// A refusal that has cost as much as a derivation.
    private func refusal(
        _ fault: UnwrappedKey.Fault, headerSha256: String?
    ) throws(CryptoError) -> UnwrappedKey {
        try UnwrappedKey(
            key: ring.decoyKey(), fault: fault, kid: nil, policy: nil, origin: .unregistered,
            headerSha256: headerSha256)
    }
}

extension KeyRing {
    /// The keys that the header may have been made with, the likeliest first.
    func candidates(for header: NanoTDFHeader) -> [NamedKey<ECPrivateKey>] {
        let identifier = header.locator.keyIdentifier
        if !identifier.isEmpty { return p256.filter { Array($0.kid.utf8) == identifier } }
        if let key = header.kasPublicKey { return p256.filter { $0.key.publicKey.compressed() == key.point } }
        return p256
    }

    /// Whether a header can be for no other key of this KAS: it names this one, or there never was another.
    func isCertain(_ key: NamedKey<ECPrivateKey>, for header: NanoTDFHeader) -> Bool {
        !header.locator.keyIdentifier.isEmpty || header.kasPublicKey != nil
            || descriptions.filter { $0.purpose == .p256 }.map(\.kid) == [key.kid]
    }

    /// A key that opens nothing, at the price of a real one.
    func decoyKey() throws(CryptoError) -> [UInt8] {
        guard let own = p256.first else { return try SecureRandom.bytes(32) }
        return try own.key.deriveKey(with: own.key.publicKey, salt: KeyDerivationSalt.l1l)
    }
}

extension [UInt8] {
    fileprivate func withCollectionKey() throws(NanoTDFCryptoError) -> CollectionKey {
        try CollectionKey(copying: span)
    }
}
