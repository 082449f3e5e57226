import Cryptography
import Foundation
import KeyAccess
import Testing
import Wire

@testable import KeyAccessServer

/// Requests of third-party clients, answered at their own time.
struct Captured: Decodable, CustomTestStringConvertible, Sendable {
    struct Decoded: Decodable, Sendable {
        struct Claims: Decodable, Sendable { var iat: Int64 }
        var claims: Claims
        var requestBody: RewrapRequestBody
    }

    var client: String
    var method: String
    var path: String
    var headers: [String: String]
    var body: String?
    var body_b64: String?
    var token_decoded: Decoded?
    var session_salt_of_the_answer: String?

    var testDescription: String { "\(client): \(method) \(path)" }

    var bytes: [UInt8] { body.map { Array($0.utf8) } ?? body_b64.map { try! Base64.decode($0) } ?? [] }

    func header(_ name: String) -> String? { headers.first { $0.key.lowercased() == name }?.value }

    static let all: [Captured] = ["kas_requests_opentdfkit_captured.json", "kas_requests_otdf_python_captured.json"]
        .flatMap {
            struct File: Decodable { var entries: [Captured] }
            return Fixtures.load(File.self, $0).entries
        }

    static let rewraps = all.filter { $0.token_decoded != nil }
    static let publicKeys = all.filter { $0.token_decoded == nil }
}

@Suite struct CapturedRequestTests {
    static let openTDFKitKeyPEM = Fixtures.headerKeys.kas_private_key_pem

    /// The clients' private keys are gone, so the session key and the DEK are checked on the KAS's side: what it
    /// derived is compared with the independently computed key through the processor's own unwrapper.
    @Test(arguments: Captured.rewraps)
    func `a captured rewrap is answered at its iat`(captured: Captured) throws {
        let decoded = try #require(captured.token_decoded)
        let rig = try Rig(now: decoded.claims.iat) { configuration, _ in
            configuration.requiresRegisteredHeaders = false
            configuration.allowsUnverifiableBindings = captured.client.contains("d8ffeff")
        }
        try rig.importTestKey()
        let answer = rig.post(
            captured.path, captured.bytes, token: try rig.accessToken(),
            contentType: try #require(captured.header("content-type")), encoding: captured.header("content-encoding"))
        #expect(answer.status == 200, "\(answer.text)")
        let isProtobuf = captured.header("content-type") == "application/proto"
        #expect(answer.contentType == (isProtobuf ? .protobuf : .json))
        let response = isProtobuf ? try RewrapResponse(protobuf: answer.body) : try answer.rewrap
        let result = try #require(response.responses.first?.results.first)
        #expect(response.responses[0].policyId == decoded.requestBody.requests[0].policy.id)
        #expect(result.status == "permit", "\(rig.auditLines)")
        #expect(result.keyAccessObjectId == "kao-0")
        #expect(result.metadata == nil)
        let wrapped = try Base64.decode(try #require(result.kasWrappedKey))
        if captured.client.contains("python") {
            #expect(response.sessionPublicKey.isEmpty)
            #expect(wrapped.count == 256)
        } else {
            #expect(response.sessionPublicKey.hasPrefix("-----BEGIN PUBLIC KEY-----"))
            #expect(wrapped.count == 60)
        }
        let audit = try #require(rig.auditLines.last)
        #expect(audit.contains(#""kid":"e7""#) && audit.contains(#""decision":"permit""#))
    }

    /// The same requests with the client key replaced by one of ours, in each form: the DEK comes out equal under
    /// the salt that the service was configured to use, and under no other.
    @Test(arguments: Captured.rewraps, [SessionSalt.l1l, .empty, .tdf])
    func `the key comes out equal under the configured salt`(
        captured: Captured, salt: SessionSalt
    ) throws {
        let decoded = try #require(captured.token_decoded)
        let rig = try Rig(now: decoded.claims.iat) { configuration, _ in
            configuration.requiresRegisteredHeaders = false
            configuration.allowsUnverifiableBindings = captured.client.contains("d8ffeff")
            configuration.sessionSalts = ["client": salt]
        }
        try rig.importTestKey()
        let client = TestClient()
        var body = decoded.requestBody
        body.clientPublicKey = try client.key.publicKey.spkiPEM()
        let answer = rig.post(
            Route.rewrap, try client.request(body, now: decoded.claims.iat),
            token: try rig.accessToken(client: "client"))
        let response = try answer.rewrap
        let wrapped = try #require(response.responses[0].results[0].kasWrappedKey)
        let header = try Base64.decode(
            try #require(body.requests[0].keyAccessObjects[0].keyAccessObject.header))
        let expected = try #require(Fixtures.headerKeys.headers[Hexadecimal.encode(Digest.sha256(header))]).dek_hex
        for other in [SessionSalt.l1l, .empty, .tdf] {
            let key = try? client.unwrap(wrapped, session: response.sessionPublicKey, salt: other.bytes)
            #expect(key.map { Hexadecimal.encode($0) } == (other == salt ? expected : nil))
        }
    }

    @Test(arguments: Captured.publicKeys)
    func `a captured public key request is answered`(captured: Captured) throws {
        let rig = try Rig()
        let parts = captured.path.split(separator: "?", maxSplits: 1)
        let answer =
            captured.method == "GET"
            ? rig.get(String(parts[0]), query: ["algorithm": "ec:secp256r1"])
            : rig.post(
                captured.path, captured.bytes, token: nil, contentType: try #require(captured.header("content-type")),
                encoding: captured.header("content-encoding"))
        #expect(answer.status == 200)
        let response =
            answer.contentType == .protobuf
            ? try PublicKeyResponse(protobuf: answer.body) : try answer.json(PublicKeyResponse.self)
        #expect(response.kid == "e1")
        #expect(response.publicKey == (try rig.store.publicKeyPEM(.p256)))
    }

    @Test func `the three salts give the vector's wrapping keys`() throws {
        struct Vector: Decodable {
            struct Case: Decodable {
                var session_salt: String
                var wrapping_key_hex: String
                var kasWrappedKey_b64: String
            }
            var client_private: String
            var session_public_spki_pem: String
            var dek_hex: String
            var cases: [Case]
        }
        let vector = Fixtures.load(Vector.self, "kas_rewrap_unwrap.json")
        let key = try ECPrivateKey(scalar: Hexadecimal.decode(vector.client_private), curve: .p256)
        let client = TestClient(key: key)
        #expect(vector.cases.count == 3)
        for item in vector.cases {
            let salt = try #require(SessionSalt(rawValue: item.session_salt)).bytes
            let session = vector.session_public_spki_pem
            #expect(
                Hexadecimal.encode(try key.deriveKey(with: ECPublicKey(pem: session), salt: salt))
                    == item.wrapping_key_hex)
            #expect(
                Hexadecimal.encode(try client.unwrap(item.kasWrappedKey_b64, session: session, salt: salt))
                    == vector.dek_hex)
        }
    }
}
