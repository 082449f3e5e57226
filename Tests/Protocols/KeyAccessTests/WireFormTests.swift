import Foundation
import Testing

@testable import KeyAccess

/// A captured HTTP request.
struct CapturedRequest: Decodable, CustomTestStringConvertible, Sendable {
    struct Decoded: Decodable, Sendable {
        struct Claims: Decodable, Sendable {
            var iat: Int64
            var exp: Int64
        }
        var claims: Claims
        var requestBody: RewrapRequestBody
    }

    var client: String
    var method: String
    var path: String
    var body: String?
    var token_decoded: Decoded?

    var testDescription: String { "\(client) \(path)" }

    static func load(_ name: String) throws -> [CapturedRequest] {
        struct File: Decodable { var entries: [CapturedRequest] }
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Fixtures")
        return try JSONDecoder().decode(File.self, from: Data(contentsOf: folder.appending(path: name))).entries
    }

    static let openTDFKit = try! load("kas_requests_opentdfkit_captured.json")
    static let python = try! load("kas_requests_otdf_python_captured.json")
}

private func decode<T: Decodable>(_ type: T.Type, _ text: String) throws -> T {
    try JSONDecoder().decode(type, from: Data(text.utf8))
}

private func encode(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
}

@Suite struct WireFormTests {
    @Test(arguments: CapturedRequest.openTDFKit.filter { $0.token_decoded != nil })
    func `a captured rewrap is read down to its request body`(captured: CapturedRequest) throws {
        let request = try decode(RewrapRequest.self, try #require(captured.body))
        let token = try JSONWebToken(compact: request.signedRequestToken, limit: 1 << 20)
        let claims = try decode(RewrapRequestClaims.self, String(decoding: token.claims, as: UTF8.self))
        let expected = try #require(captured.token_decoded)
        #expect(claims.issuedAt?.seconds == expected.claims.iat)
        #expect(claims.expiresAt?.seconds == expected.claims.exp)
        #expect(try decode(RewrapRequestBody.self, claims.requestBody) == expected.requestBody)
        #expect(expected.requestBody.unified.count == 1)
        #expect(expected.requestBody.unified[0].algorithm == "ec:secp256r1")
        #expect(expected.requestBody.unified[0].keyAccessObjects[0].keyAccessObject.header?.isEmpty == false)
    }

    @Test func `otdf-python's top-level keyAccess is ignored beside requests`() throws {
        let body = try #require(CapturedRequest.python.last?.token_decoded).requestBody
        #expect(!body.isLegacyForm)
        #expect(body.keyAccess == nil)
        #expect(body.unified.count == 1)
        #expect(body.unified[0].policy == RewrapPolicy(id: "policy", body: nil))
    }

    @Test func `a v1 body becomes one request`() throws {
        let body = try decode(
            RewrapRequestBody.self,
            #"{"clientPublicKey":"P","keyAccess":{"type":"wrapped","wrappedKey":"AA==","policyBinding":"aGFzaA=="},"#
                + #""policy":"e30=","algorithm":"rsa:2048"}"#)
        #expect(body.isLegacyForm)
        let request = try #require(body.unified.first)
        #expect(request.algorithm == "rsa:2048")
        #expect(request.policy.body == "e30=")
        #expect(request.keyAccessObjects[0].keyAccessObjectId == "kao-0")
        #expect(
            request.keyAccessObjects[0].keyAccessObject.policyBinding
                == WrappedKeyBinding(algorithm: nil, hash: "aGFzaA=="))
        #expect(try decode(RewrapRequestBody.self, encode(body)) == body)
    }

    @Test(arguments: ["signed_request_token", "signedRequestToken"])
    func `the token is read under both spellings`(name: String) throws {
        let request = try decode(RewrapRequest.self, #"{"\#(name)":"a.b.c","other":[1,{}]}"#)
        #expect(request == RewrapRequest(signedRequestToken: "a.b.c"))
        #expect(try encode(request) == #"{"signed_request_token":"a.b.c"}"#)
    }

    @Test func `missing members of Go's NanoTDF request are empty`() throws {
        let entry = try decode(
            RewrapPolicyRequest.self,
            #"{"algorithm":"ec:secp256r1","keyAccessObjects":[{"keyAccessObject":{"header":"AA=="}}]}"#)
        #expect(entry.policy == RewrapPolicy(id: "", body: nil))
        #expect(entry.keyAccessObjects[0].keyAccessObjectId == "")
        #expect(entry.keyAccessObjects[0].keyAccessObject.type == nil)
    }

    @Test(arguments: [
        #"{"clientPublicKey":5}"#, #"{}"#, #"{"clientPublicKey":"P","requests":{}}"#,
        #"{"clientPublicKey":"P","requests":[{"keyAccessObjects":[{}]}]}"#,
        #"{"clientPublicKey":"P","requests":[{"keyAccessObjects":[{"keyAccessObject":{"policyBinding":{}}}]}]}"#,
    ])
    func `another form of the body is refused`(text: String) {
        #expect(throws: (any Error).self) { try decode(RewrapRequestBody.self, text) }
    }

    @Test func `the public key is written under both spellings and read under either`() throws {
        let response = PublicKeyResponse(publicKey: "PEM", kid: "e1")
        #expect(try encode(response) == #"{"kid":"e1","publicKey":"PEM","public_key":"PEM"}"#)
        #expect(
            try decode(PublicKeyResponse.self, #"{"publicKey":"A"}"#) == PublicKeyResponse(publicKey: "A", kid: nil))
        #expect(try decode(PublicKeyResponse.self, #"{"public_key":"B","kid":"k"}"#).publicKey == "B")
        #expect(throws: (any Error).self) { try decode(PublicKeyResponse.self, #"{"kid":"k"}"#) }
    }

    @Test func `a result names its failure twice and a success carries no metadata`() throws {
        let fail = KeyAccessRewrapResult.fail(id: "kao-0", error: "no")
        #expect(
            try encode(fail)
                == #"{"error":"no","keyAccessObjectId":"kao-0","metadata":{"error":"no"},"status":"fail"}"#)
        let permit = KeyAccessRewrapResult.permit(id: "kao-0", wrappedKey: "AA==")
        #expect(try encode(permit) == #"{"kasWrappedKey":"AA==","keyAccessObjectId":"kao-0","status":"permit"}"#)
    }

    @Test func `a third-party answer with obligations in its metadata is read`() throws {
        let response = try decode(
            RewrapResponse.self,
            #"{"responses":[{"results":[{"status":"permit","kasWrappedKey":"AA==","metadata":{"X-Required-Obligations":[]}}]}]}"#
        )
        #expect(response.responses[0].results[0].isPermitted)
        #expect(response.responses[0].results[0].metadata == nil)
        #expect(response.sessionPublicKey == "")
    }

    @Test func `the discovery document names every endpoint`() throws {
        let document = ServiceConfigurationDocument(
            origin: "https://kas.example.net:8443", identityProvider: .init(issuer: "https://id.example.net"))
        #expect(document.kas.uri == "https://kas.example.net:8443/kas")
        #expect(document.kas.rewrapURL == "https://kas.example.net:8443/kas/v2/rewrap")
        #expect(document.kas.connectRewrapURL == "https://kas.example.net:8443/kas.AccessService/Rewrap")
        #expect(document.kas.publicKeyURL == "https://kas.example.net:8443/kas/v2/kas_public_key")
        #expect(document.kas.algorithms == ["ec:secp256r1", "rsa:2048"])
        #expect(document.platformIssuer == "https://id.example.net")
        #expect(try decode(ServiceConfigurationDocument.self, encode(document)) == document)
    }

    /// docs/ref/wire-format.md, "Errors".
    @Test(arguments: [
        (ServiceFault.invalidRequest("m"), 400, "invalid_argument", "invalid_request"),
        (.authenticationFailed("m"), 401, "unauthenticated", "authentication_failed"),
        (.policyDenied("m"), 403, "permission_denied", "policy_denied"),
        (.notFound("m"), 404, "not_found", "not_found"),
        (.tooLarge("m"), 413, "resource_exhausted", "invalid_request"),
        (.unsupportedContent("m"), 415, "invalid_argument", "invalid_request"),
        (.rateLimited, 429, "resource_exhausted", "rate_limited"),
        (.internalError, 500, "internal", "internal_error"),
        (.unavailable, 503, "unavailable", "unavailable"),
    ])
    func `each fault has one status and one envelope`(fault: ServiceFault, status: Int, code: String, error: String) {
        #expect(fault.status == status)
        #expect(fault.envelope.code == code)
        #expect(fault.envelope.error == error)
        #expect(!fault.envelope.message.isEmpty)
    }

    @Test(arguments: [
        ("5", 5), ("-5", -5), ("1795230596.75", 1_795_230_596), ("1e9", 1_000_000_000), ("-0.5", -1),
    ])
    func `a date is an integer or a number with a fraction`(text: String, seconds: Int64) throws {
        #expect(try decode([NumericDate].self, "[\(text)]") == [NumericDate(seconds: seconds)])
    }

    @Test(arguments: ["1e300", "1e19", "\"5\"", "true", "null", "{}"])
    func `another date is refused`(text: String) {
        #expect(throws: (any Error).self) { try decode([NumericDate].self, "[\(text)]") }
    }
}
