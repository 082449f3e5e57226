import Cryptography
import Foundation
import HTTPClient
import KeyAccess
import NanoTDF
import NanoTDFCryptography
import Wire

@testable import KeyAccessClient

/// The server's half of a rewrap, as short as it can be (docs/ref/wire-format.md, "A rewrap").
struct MiniatureKAS: Sendable {
    var key: ECPrivateKey
    var salt = SessionSalt.l1l
    /// Changes a good answer into a bad one.
    var spoil: @Sendable (inout RewrapResponse) -> Void = { _ in }

    init() throws {
        key = try ECPrivateKey.generate(.p256)
    }

    func sealer() throws -> CollectionSealer {
        let recipient = KASRecipient(
            locator: try ResourceLocator(url: "https://elsewhere.example/kas"), publicKey: key.publicKey.compressed())
        return try CollectionSealer(
            recipient: recipient, policy: Array(#"{"uuid":"u","body":{"dataAttributes":[],"dissem":[]}}"#.utf8),
            crypto: OpenSSLCrypto())
    }

    func publicKeyAnswer(kid: String? = "k1", etag: String? = nil) throws -> HTTPResponse {
        let body = try JSONEncoder().encode(PublicKeyResponse(publicKey: try key.publicKey.spkiPEM(), kid: kid))
        return HTTPResponse(status: 200, headers: etag.map { [HTTPHeader("ETag", $0)] } ?? [], body: Array(body))
    }

    struct Question {
        var claims: RewrapRequestClaims
        var header: TokenHeader
        var body: RewrapRequestBody
    }

    func question(_ body: [UInt8]) throws -> Question {
        let request = try JSONDecoder().decode(RewrapRequest.self, from: Data(body))
        let token = try JSONWebToken(compact: request.signedRequestToken, limit: 1 << 20)
        let claims = try JSONDecoder().decode(RewrapRequestClaims.self, from: Data(token.claims))
        return Question(
            claims: claims, header: try JSONDecoder().decode(TokenHeader.self, from: Data(token.header)),
            body: try JSONDecoder().decode(RewrapRequestBody.self, from: Data(claims.requestBody.utf8)))
    }

    func rewrap(_ body: [UInt8]) throws -> HTTPResponse {
        let question = try question(body).body
        guard case .ec(let client) = try PublicKeyPEM.load(question.clientPublicKey) else {
            throw CocoaError(.coderInvalidValue)
        }
        let entry = question.requests[0].keyAccessObjects[0]
        let header = try NanoTDFHeader.parse(try Base64.decode(entry.keyAccessObject.header ?? ""))
        let session = try ECPrivateKey.generate(.p256)
        let wrapping = try session.deriveKey(with: client, salt: salt.bytes)
        let nonce = try SecureRandom.bytes(12)
        let plain = try key.collectionKey(for: header).withBytes { bytes in bytes.indices.map { bytes[$0] } }
        let wrapped = nonce + (try AESGCM.seal(key: wrapping, nonce: nonce, plaintext: plain))
        var response = RewrapResponse(
            responses: [
                PolicyRewrapResult(
                    policyId: "policy",
                    results: [.permit(id: entry.keyAccessObjectId, wrappedKey: Base64.encode(wrapped))])
            ], sessionPublicKey: try session.publicKey.spkiPEM())
        spoil(&response)
        return HTTPResponse(status: 200, body: Array(try JSONEncoder().encode(response)))
    }

    func transport() -> ScriptedTransport {
        ScriptedTransport { request in
            do {
                return .success(
                    request.url.contains("kas_public_key") ? try publicKeyAnswer() : try rewrap(request.body))
            } catch {
                return .success(HTTPResponse(status: 400))
            }
        }
    }

    /// Whether `key` opens what `sealer` seals.
    static func opens(_ sealer: CollectionSealer, _ key: CollectionKey) throws -> Bool {
        var item: [UInt8] = []
        try sealer.seal([1, 2, 3], into: &item)
        var opener = StreamOpener<Int>(crypto: OpenSSLCrypto())
        guard case .requestKey(_, let hash) = opener.headerArrived(sealer.headerBytes, at: 1) else { return false }
        _ = opener.keyArrived(key, forHeader: hash, at: 2)
        guard case .opened(let opened) = opener.open(item[...], medium: .video, context: 0, at: 3) else { return false }
        return opened.plaintext == [1, 2, 3]
    }
}
