internal import Cryptography
internal import KeyAccess
internal import Wire

/// Hands out the public halves of the KAS keys, in the forms that clients ask for (docs/ref/wire-format.md, "The public key").
struct PublicKeyEndpoint: Sendable {
    var store: KeyStore

    static let maxAge = 300

    /// - Parameter fallback: the algorithm when the request names none.
    func answer(
        _ request: PublicKeyRequest, fallback: KeyAlgorithm
    ) throws(ServiceFault) -> PublicKeyResponse {
        let name = request.algorithm ?? ""
        guard let algorithm = name.isEmpty ? fallback : KeyAlgorithm(name: name) else {
            throw .notFound("There is no key for that algorithm.")
        }
        let kid: String
        let key: String
        do {
            switch request.format ?? "" {
            case "", "pkcs8":
                guard let current = try store.ring.publicKey(algorithm) else { throw ServiceFault.internalError }
                (kid, key) = current
            case "jwk": (kid, key) = try jwk(algorithm)
            default: throw ServiceFault.invalidRequest("fmt must be pkcs8 or jwk.")
            }
        } catch let fault as ServiceFault {
            throw fault
        } catch {
            throw .internalError
        }
        return PublicKeyResponse(publicKey: key, kid: request.version == "1" ? nil : kid)
    }

    private func jwk(_ algorithm: KeyAlgorithm) throws -> (kid: String, text: String) {
        let ring = store.ring
        var key: JSONWebKey
        switch algorithm {
        case .p256:
            guard let current = ring.p256.first else { throw ServiceFault.internalError }
            key = JSONWebKey(p256Point: current.key.publicKey.uncompressed(), keyID: current.kid)
            key.algorithm = "ECDH-ES"
        case .rsa2048:
            guard let current = ring.rsa.first else { throw ServiceFault.internalError }
            let publicKey = current.key.publicKey
            key = JSONWebKey(
                rsaModulus: try publicKey.modulus(), exponent: try publicKey.exponent(), keyID: current.kid)
            key.algorithm = "RSA-OAEP"
        }
        key.use = "enc"
        return (key.keyID ?? "", String(decoding: try JSONCoding.encode(key), as: UTF8.self))
    }

    /// The JSON answer with an entity tag: a publisher asks every five minutes, and the key seldom changes.
    static func cached(_ value: some Encodable, ifNoneMatch: String?) throws(ServiceFault) -> ServiceAnswer {
        var answer = try ServiceAnswer.json(value)
        let tag = "\"\(Hexadecimal.encode(Digest.sha256(answer.body).prefix(16)))\""
        answer.entityTag = tag
        answer.maxAge = maxAge
        if let ifNoneMatch, ifNoneMatch.utf8.count < 1024, ifNoneMatch == "*" || ifNoneMatch.contains(tag) {
            answer.status = 304
            answer.body = []
        }
        return answer
    }
}
