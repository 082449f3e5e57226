import Cryptography

@testable import NanoTDF
@testable import NanoTDFCryptography

/// OpenSSL with a given ephemeral key in place of a fresh one: what a known answer needs, and nothing else may do.
struct FixedEphemeralCrypto: NanoTDFCrypto {
    let ephemeral: ECPrivateKey
    private let base = OpenSSLCrypto()

    init(ephemeral: ECPrivateKey) {
        self.ephemeral = ephemeral
    }

    func makeSealing(
        recipient: [UInt8], curve: EllipticCurve, salt: [UInt8]
    ) throws(NanoTDFCryptoError) -> EphemeralSealing {
        do {
            return try base.sealing(
                ephemeral: ephemeral, peer: try ECPublicKey(sec1: recipient, curve: try ECCurve(curve)), salt: salt)
        } catch {
            throw .invalidPublicKey
        }
    }

    func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] { base.sha256(bytes) }

    func makeOpening(_ key: CollectionKey) throws(NanoTDFCryptoError) -> any ItemOpeningContext {
        try base.makeOpening(key)
    }

    func zeroNonceTag(
        _ key: CollectionKey, associatedData: ArraySlice<UInt8>
    ) throws(NanoTDFCryptoError) -> [UInt8] {
        try base.zeroNonceTag(key, associatedData: associatedData)
    }

    func verifiesECDSA(
        signature: [UInt8], message: ArraySlice<UInt8>, publicKey: ArraySlice<UInt8>, curve: EllipticCurve
    ) -> Bool {
        base.verifiesECDSA(signature: signature, message: message, publicKey: publicKey, curve: curve)
    }

    func constantTimeEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        base.constantTimeEqual(left, right)
    }
}

/// A KAS, its recipient entry, and a publisher's collections for it.
struct Station {
    let key: ECPrivateKey
    let recipient: KASRecipient

    init(curve: ECCurve = .p256) throws {
        key = try ECPrivateKey.generate(curve)
        recipient = KASRecipient(
            locator: try ResourceLocator(url: "https://kas.example.net/kas"), publicKey: key.publicKey.compressed(),
            curve: Self.named(curve))
    }

    private static func named(_ curve: ECCurve) -> EllipticCurve {
        switch curve {
        case .p256: .secp256r1
        case .p384: .secp384r1
        case .p521: .secp521r1
        }
    }

    func collection(lastCounter: UInt32 = 0) throws -> CollectionSealer {
        try CollectionSealer(
            recipient: recipient, policy: PlaintextPolicy().encoded(), crypto: OpenSSLCrypto(),
            lastCounter: lastCounter)
    }

    /// What the KAS would answer.
    func key(for sealer: CollectionSealer) throws -> CollectionKey {
        try key.collectionKey(for: try NanoTDFHeader.parse(sealer.headerBytes))
    }
}

extension CollectionSealer {
    func sealed(_ plaintext: [UInt8]) throws -> [UInt8] {
        var item: [UInt8] = []
        try seal(plaintext, into: &item)
        return item
    }
}
