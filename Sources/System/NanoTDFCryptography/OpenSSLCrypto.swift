internal import COpenSSL
public import Cryptography
public import NanoTDF
internal import Synchronization

/// The cryptography of NanoTDF on OpenSSL 3.
public struct OpenSSLCrypto: NanoTDFCrypto, Sendable {
    private let recipients = RecipientMemory()

    public init() {}

    public func sha256(_ bytes: ArraySlice<UInt8>) -> [UInt8] { Digest.sha256(bytes) }

    public func makeSealing(
        recipient: [UInt8], curve: EllipticCurve, salt: [UInt8]
    ) throws(NanoTDFCryptoError) -> EphemeralSealing {
        do {
            let peer = try recipients.key(sec1: recipient, curve: try ECCurve(curve))
            return try sealing(ephemeral: try ECPrivateKey.generate(like: peer), peer: peer, salt: salt)
        } catch {
            throw NanoTDFCryptoError(error, curve: curve)
        }
    }

    /// For tests, which must know the ephemeral key; the public way always draws one.
    func sealing(
        ephemeral: ECPrivateKey, peer: ECPublicKey, salt: [UInt8]
    ) throws(CryptoError) -> EphemeralSealing {
        var key = try ephemeral.deriveKey(with: peer, salt: salt)
        defer { OPENSSL_cleanse(&key, key.count) }
        let context = try SealingContext(key: key.span)
        return EphemeralSealing(
            publicKey: ephemeral.publicKey.compressed(), context: context, proof: try PossessionKey(dek: key))
    }

    public func makeOpening(_ key: CollectionKey) throws(NanoTDFCryptoError) -> any ItemOpeningContext {
        try Self.mapping { () throws(CryptoError) in
            try key.withBytes { (key) throws(CryptoError) in
                try OpeningContext(key: key)
            }
        }
    }

    public func zeroNonceTag(
        _ key: CollectionKey, associatedData: ArraySlice<UInt8>
    ) throws(NanoTDFCryptoError) -> [UInt8] {
        try Self.mapping { () throws(CryptoError) in
            try key.withBytes { (key) throws(CryptoError) in
                var context = try CipherContext(key: key, encrypts: true)
                let nonce = [UInt8](repeating: 0, count: 12)
                return try [UInt8](capacity: 16) { (output) throws(CryptoError) -> Int in
                    try context.seal(
                        nonce, count: 0, associatedData: associatedData, to: output, tag: output, nonce: nonce)
                    return 16
                }
            }
        }
    }

    public func verifiesECDSA(
        signature: [UInt8], message: ArraySlice<UInt8>, publicKey: ArraySlice<UInt8>, curve: EllipticCurve
    ) -> Bool {
        guard let curve = try? ECCurve(curve), let key = try? ECPublicKey(sec1: Array(publicKey), curve: curve) else {
            return false
        }
        return key.verifies(signature, message: message)
    }

    public func constantTimeEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        Cryptography.constantTimeEqual(left, right)
    }

    fileprivate static func mapping<R>(_ body: () throws(CryptoError) -> R) throws(NanoTDFCryptoError) -> R {
        do { return try body() } catch { throw NanoTDFCryptoError(error, curve: .secp256r1) }
    }
}

/// The recipient of the last collection: a publisher makes one collection after the other for the same KAS key, and
/// decompressing and checking a point costs as much as the key agreement.
private final class RecipientMemory: Sendable {
    private let last = Mutex<(sec1: [UInt8], key: ECPublicKey)?>(nil)

    func key(sec1: [UInt8], curve: ECCurve) throws(CryptoError) -> ECPublicKey {
        let known = last.withLock { last in
            last.flatMap { $0.sec1 == sec1 && $0.key.curve == curve ? $0.key : nil }
        }
        if let known { return known }
        let key = try ECPublicKey(sec1: sec1, curve: curve)
        last.withLock { $0 = (sec1, key) }
        return key
    }
}

extension ECPrivateKey {
    /// The DEK of the collection that `header` announces, for the KAS whose key this is (NanoTDF spec §4).
    /// - Throws: `.invalidKey(.curveMismatch)` when the header is for a key of another curve, `.invalidKey(.notOnCurve)`
    ///   when its ephemeral key isn't a point.
    public func collectionKey(
        for header: NanoTDFHeader, salt: [UInt8] = KeyDerivationSalt.l1l
    ) throws(CryptoError) -> CollectionKey {
        guard try ECCurve(header.curve) == curve else { throw .invalidKey(.curveMismatch) }
        var key = try deriveKey(with: try ECPublicKey(sec1: header.ephemeralPublicKey, curve: curve), salt: salt)
        do { return try CollectionKey(wiping: &key) } catch { throw .invalidLength(key.count) }
    }
}

/// `CollectionSealer` holds it behind a lock.
private final class SealingContext: ItemSealingContext {
    private var context: CipherContext

    init(key: Span<UInt8>) throws(CryptoError) {
        context = try CipherContext(key: key, encrypts: true)
    }

    func seal(
        _ plaintext: ArraySlice<UInt8>, into item: inout MutableSpan<UInt8>, from offset: Int,
        nonce: InlineArray<12, UInt8>
    ) throws(NanoTDFCryptoError) {
        precondition(
            offset >= 0 && item.count - offset == plaintext.count + 16, "the item has another size: the caller's fault")
        do {
            try item.withUnsafeMutableBufferPointer { (item) throws(CryptoError) in
                let body = item.baseAddress! + offset
                try nonce.span.withUnsafeBufferPointer { (nonce) throws(CryptoError) in
                    try plaintext.withUnsafeBufferPointer { (input) throws(CryptoError) in
                        // An empty slice may have no address; the tag's place serves as one that isn't read.
                        try context.seal(
                            input.baseAddress ?? UnsafePointer(body), count: input.count, to: body,
                            tag: body + input.count, nonce: nonce.baseAddress!)
                    }
                }
            }
        } catch {
            throw NanoTDFCryptoError(error, curve: .secp256r1)
        }
    }
}

private final class OpeningContext: ItemOpeningContext {
    private let context: Mutex<CipherContext>

    init(key: Span<UInt8>) throws(CryptoError) {
        context = Mutex(try CipherContext(key: key, encrypts: false))
    }

    func open(
        ciphertext: ArraySlice<UInt8>, tag: ArraySlice<UInt8>, nonce: [UInt8]
    ) throws(NanoTDFCryptoError) -> [UInt8]? {
        try OpenSSLCrypto.mapping { () throws(CryptoError) in
            try context.withLock { (context) throws(CryptoError) in
                try context.open(ciphertext, tag: tag, nonce: nonce)
            }
        }
    }
}

extension NanoTDFCryptoError {
    fileprivate init(_ error: CryptoError, curve: EllipticCurve) {
        switch error {
        case .invalidKey(.unsupportedCurve): self = .unsupportedCurve(curve)
        case .invalidKey: self = .invalidPublicKey
        case .invalidLength(let count): self = .inputTooLarge(count)
        case .authenticationFailed: self = .libraryFailed(call: "authentication")
        case .libraryFailed(let call): self = .libraryFailed(call: call)
        }
    }
}
