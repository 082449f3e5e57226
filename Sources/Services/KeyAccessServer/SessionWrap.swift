internal import Cryptography
internal import KeyAccess
internal import NanoTDF

/// Wraps keys for the client of one request: under a fresh P-256 session key, or under the client's RSA key.
struct SessionWrap: Sendable {
    private enum Kind: Sendable {
        case agreed(client: ECPublicKey, session: ECPrivateKey)
        case rsa(RSAPublicKey)
    }

    private let kind: Kind
    /// SPKI PEM; empty for a client with an RSA key.
    let sessionPublicKey: String

    /// - Parameter pem: in any of the forms that `PublicKeyPEM` reads.
    init(clientPublicKey pem: String) throws(ServiceFault) {
        do {
            switch try PublicKeyPEM.load(pem) {
            case .ec(let client):
                let session = try ECPrivateKey.generate(like: client)
                kind = .agreed(client: client, session: session)
                sessionPublicKey = try session.publicKey.spkiPEM()
            case .rsa(let client):
                kind = .rsa(client)
                sessionPublicKey = ""
            }
        } catch CryptoError.libraryFailed {
            throw .internalError
        } catch {
            throw .invalidRequest("clientPublicKey is not a P-256 or RSA (2048 to 4096 bits) public key.")
        }
    }

    /// Nonce 12 ‖ AES-256-GCM(key) ‖ tag 16, or RSA-OAEP-SHA1(key).
    func wrap(_ key: [UInt8], salt: SessionSalt) throws(CryptoError) -> [UInt8] {
        switch kind {
        case .rsa(let client):
            return try client.encryptOAEP(key)
        case .agreed(let client, let session):
            var wrapping = try session.deriveKey(with: client, salt: salt.bytes)
            defer { Wiping.wipe(&wrapping) }
            let nonce = try SecureRandom.bytes(12)
            return nonce + (try AESGCM.seal(key: wrapping, nonce: nonce, plaintext: key))
        }
    }
}
