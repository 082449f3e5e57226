import Cryptography
import FoundationEssentials
import Glibc
import KeyAccess
import NanoTDF
import Wire

/// What a viewer asks, made before the clock starts, and the key that opens what it is answered.
struct PreparedRequest {
    let bytes: [UInt8]
    private let key: ECPrivateKey

    /// - Parameters:
    ///   - token: the access token.
    ///   - keepsAlive: whether the connection is needed for more.
    init(header: [UInt8], token: String, keepsAlive: Bool) throws {
        key = try ECPrivateKey.generate(.p256)
        let now = Int64(time(nil))
        let body = RewrapRequestBody(
            clientPublicKey: try key.publicKey.spkiPEM(),
            requests: [
                RewrapPolicyRequest(
                    algorithm: KeyAlgorithm.p256.rawValue, policy: RewrapPolicy(id: "policy", body: nil),
                    keyAccessObjects: [
                        IdentifiedKeyAccessObject(
                            keyAccessObjectId: "kao-0",
                            keyAccessObject: KeyAccessObject(
                                type: "remote", url: "http://127.0.0.1/kas", protocol: "kas",
                                header: Base64.encode(header)))
                    ])
            ])
        let claims = RewrapRequestClaims(
            requestBody: String(decoding: try JSONEncoder().encode(body), as: UTF8.self),
            issuedAt: NumericDate(seconds: now), expiresAt: NumericDate(seconds: now + 300),
            tokenID: Hexadecimal.encode(try SecureRandom.bytes(16)))
        let input = JSONWebToken.signingInput(
            header: Array(try JSONEncoder().encode(TokenHeader(algorithm: SignatureAlgorithm.es256.rawValue))),
            claims: Array(try JSONEncoder().encode(claims)))
        let text = JSONWebToken.compact(
            signingInput: input, signature: try ECPrivateKey.generate(.p256).signES256(input))
        let content = Array(try JSONEncoder().encode(RewrapRequest(signedRequestToken: text)))
        let head =
            "POST \(Route.rewrap) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\n"
            + "Content-Type: application/json\r\nContent-Length: \(content.count)\r\n"
            + (keepsAlive ? "" : "Connection: close\r\n") + "\r\n"
        bytes = Array(head.utf8) + content
    }

    /// The key of the collection, from the answer's body.
    func unwrap(_ body: [UInt8]) throws -> [UInt8] {
        let answer = try JSONDecoder().decode(RewrapResponse.self, from: Data(body))
        guard let result = answer.responses.first?.results.first, let text = result.kasWrappedKey else {
            throw Failure("no key was given: \(answer.responses.first?.results.first?.error ?? "no result")")
        }
        let wrapped = try Base64.decode(text)
        let session = try ECPublicKey(pem: answer.sessionPublicKey)
        let wrapping = try key.deriveKey(with: session, salt: KeyDerivationSalt.l1l)
        return try AESGCM.open(
            key: wrapping, nonce: Array(wrapped.prefix(12)), ciphertextAndTag: Array(wrapped.dropFirst(12)),
            tagLength: 16)
    }
}

struct Failure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
