internal import Cryptography
internal import KeyAccess

/// A key that tokens are checked with. The algorithm is the key's, never the one that the token names.
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

    /// Most keys that a set may hold.
    static let maximumOfSet = 64

    /// The keys of a JWKS (RFC 7517 §5) that sign tokens.
    ///
    /// - Parameter place: where the text comes from, for the error.
    static func set(_ text: [UInt8], from place: String) throws(KeyAccessServerError) -> [VerificationKey] {
        guard let set = try? JSONCoding.decode(JSONWebKeySet.self, from: text) else {
            throw .file(path: place, what: "it is not a JWKS file")
        }
        // Keys for encryption and of kinds that we don't know are for somebody else.
        let keys = set.keys.filter { $0.use == nil || $0.use == "sig" }.compactMap { try? VerificationKey($0) }
        guard !keys.isEmpty, keys.count <= maximumOfSet else {
            throw .file(
                path: place,
                what: "it holds \(keys.count) keys for ES256, RS256 or EdDSA; 1…\(maximumOfSet) are needed")
        }
        return keys
    }
}
