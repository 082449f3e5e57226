internal import Cryptography
internal import KeyAccess

/// A key that tokens are checked with. The algorithm is the key's, never the token's word.
struct VerificationKey: Sendable {
    enum Material: Sendable {
        case es256(ECPublicKey)
        case rs256(RSAPublicKey)
        case eddsa(Ed25519PublicKey)
        case hs256([UInt8])
    }

    var kid: String?
    private let material: Material

    init(kid: String?, _ material: Material) {
        self.kid = kid
        self.material = material
    }

    /// - Throws: when the key is of another kind, or its numbers make no key.
    init(_ key: JSONWebKey) throws {
        kid = key.keyID
        switch try key.material() {
        case .p256(let point): material = .es256(try ECPublicKey(sec1: point, curve: .p256))
        case .rsa(let modulus, let exponent):
            material = .rs256(try RSAPublicKey(modulus: modulus, exponent: exponent))
        case .ed25519(let point): material = .eddsa(try Ed25519PublicKey(raw: point))
        }
    }

    var algorithm: SignatureAlgorithm {
        switch material {
        case .es256: .es256
        case .rs256: .rs256
        case .eddsa: .eddsa
        case .hs256: .hs256
        }
    }

    /// Whether this key made the signature; false also when the token names another algorithm.
    func verifies(_ token: JSONWebToken, algorithm: String) -> Bool {
        guard algorithm == self.algorithm.rawValue else { return false }
        return switch material {
        case .es256(let key): key.verifyES256(token.signature, message: token.signingInput)
        case .rs256(let key): key.verifyRS256(token.signature, message: token.signingInput)
        case .eddsa(let key): key.verify(token.signature, message: token.signingInput)
        case .hs256(let secret):
            constantTimeEqual(Digest.hmacSHA256(key: secret, token.signingInput), token.signature)
        }
    }
}
