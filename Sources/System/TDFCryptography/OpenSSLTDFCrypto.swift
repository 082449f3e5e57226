internal import COpenSSL
internal import Cryptography
public import NanoTDF
internal import Synchronization
public import TDF

/// The cryptography of archives on OpenSSL 3.
public struct OpenSSLTDFCrypto: TDFCrypto, Sendable {
    public init() {}

    public func makeSealing(
        publicKeyPEMs: [String], policy: ArraySlice<UInt8>
    ) throws(TDFCryptoError) -> TDFSealing {
        do throws(CryptoError) {
            let recipients = try publicKeyPEMs.map { (pem) throws(CryptoError) in
                guard case .rsa(let recipient) = try PublicKeyPEM.load(pem) else { throw .invalidKey(.unreadable) }
                return recipient
            }
            var key = try SecureRandom.bytes(CollectionKey.byteCount)
            defer { OPENSSL_cleanse(&key, key.count) }
            var binding = try RunningHMAC(key: key.span)
            try binding.update(policy)
            return TDFSealing(
                wrappedKeys: try recipients.map { (recipient) throws(CryptoError) in
                    try recipient.encryptOAEP(key, hash: .sha1)
                }, policyBinding: try binding.value(), context: try SegmentSealing(key: key.span))
        } catch {
            throw TDFCryptoError(error)
        }
    }

    public func makeOpening(_ key: CollectionKey) throws(TDFCryptoError) -> any TDFOpeningContext {
        do throws(CryptoError) {
            return try key.withBytes { (key) throws(CryptoError) in try SegmentOpening(key: key) }
        } catch {
            throw TDFCryptoError(error)
        }
    }

    public func constantTimeEqual(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        Cryptography.constantTimeEqual(left, right)
    }
}

extension TDFCryptoError {
    init(_ error: CryptoError) {
        switch error {
        case .invalidKey: self = .invalidPublicKey
        case .invalidLength(let count): self = .inputTooLarge(count)
        case .authenticationFailed: self = .libraryFailed(call: "authentication")
        case .libraryFailed(let call): self = .libraryFailed(call: call)
        }
    }
}
