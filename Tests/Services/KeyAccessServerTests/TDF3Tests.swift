import Cryptography
import KeyAccess
import Testing
import Wire

@testable import KeyAccessServer

@Suite struct TDF3Tests {
    struct Vector: Decodable, Sendable {
        struct Key: Decodable, Sendable, CustomTestStringConvertible {
            var name: String
            var dek_hex: String
            var wrapped_b64: String
            var binding: String

            var testDescription: String { name }
        }
        var kas_rsa_private_key_pem: String
        var policy_b64: String
        var keys: [Key]
    }

    static let vector = Fixtures.load(Vector.self, "tdf3_rsa_wrapped.json")

    let client = TestClient()

    private func rig(_ configure: (inout KeyAccessServerConfiguration) -> Void = { _ in }) throws -> Rig {
        let rig = try Rig { configuration, _ in configure(&configuration) }
        try rig.store.importKey(
            pem: Self.vector.kas_rsa_private_key_pem, purpose: .rsa2048, kid: "archive", now: rig.time.seconds)
        return rig
    }

    private func object(_ key: Vector.Key) -> KeyAccessObject {
        KeyAccessObject(
            type: "wrapped", wrappedKey: key.wrapped_b64,
            policyBinding: WrappedKeyBinding(algorithm: "HS256", hash: key.binding), kid: "archive")
    }

    private func rewrap(
        _ rig: Rig, _ object: KeyAccessObject, algorithm: String? = "rsa:2048", policy: String? = vector.policy_b64,
        clientKey: String? = nil, subject: String = "viewer"
    ) throws -> (RewrapResponse, KeyAccessRewrapResult) {
        let body = RewrapRequestBody(
            clientPublicKey: try clientKey ?? client.key.publicKey.spkiPEM(),
            requests: [
                RewrapPolicyRequest(
                    algorithm: algorithm, policy: RewrapPolicy(id: "p", body: policy),
                    keyAccessObjects: [.init(keyAccessObjectId: "k", keyAccessObject: object)])
            ])
        let response = try rig.post(
            Route.rewrap, client.request(body, now: rig.time.seconds),
            token: rig.accessToken(subject: subject, streams: [])
        ).rewrap
        return (response, try #require(response.responses.first?.results.first))
    }

    @Test(arguments: vector.keys, ["rsa:2048", "", nil])
    func `a wrapped key comes out equal under the TDF salt`(key: Vector.Key, algorithm: String?) throws {
        let rig = try rig()
        let (response, result) = try rewrap(rig, object(key), algorithm: algorithm)
        let wrapped = try #require(result.kasWrappedKey, "\(rig.auditLines)")
        let opened = try client.unwrap(
            wrapped, session: response.sessionPublicKey, salt: Digest.sha256(Array("TDF".utf8)))
        #expect(Hexadecimal.encode(opened) == key.dek_hex)
    }

    @Test func `a client with an RSA key gets it under that key`() throws {
        let rsa = try RSAPrivateKey.generate(bits: 2048)
        let (response, result) = try rewrap(
            rig(), object(Self.vector.keys[0]), clientKey: try rsa.publicKey.spkiPEM())
        #expect(response.sessionPublicKey == "")
        let opened = try rsa.decryptOAEP(Base64.decode(try #require(result.kasWrappedKey)))
        #expect(Hexadecimal.encode(opened) == Self.vector.keys[0].dek_hex)
    }

    @Test func `a client that is set to the empty salt gets it here too`() throws {
        let rig = try rig { $0.defaultSessionSalt = .empty }
        let (response, result) = try rewrap(rig, object(Self.vector.keys[0]))
        let wrapped = try #require(result.kasWrappedKey)
        #expect(
            Hexadecimal.encode(try client.unwrap(wrapped, session: response.sessionPublicKey, salt: []))
                == Self.vector.keys[0].dek_hex)
    }

    @Test func `a wrong key, binding, policy, kid or subject is refused with the same message`() throws {
        let rig = try rig()
        let good = object(Self.vector.keys[0])
        var cases: [(KeyAccessObject, String?, String, String)] = []
        var object = good
        object.wrappedKey = Base64.encode([UInt8](repeating: 7, count: 256))
        cases.append((object, Self.vector.policy_b64, "viewer", "unwrap failed"))
        object.wrappedKey = Base64.encode([UInt8](repeating: 7, count: 255))
        cases.append((object, Self.vector.policy_b64, "viewer", "unwrap failed"))
        object = good
        object.wrappedKey = "?"
        cases.append((object, Self.vector.policy_b64, "viewer", "malformed"))
        object.wrappedKey = ""
        cases.append((object, Self.vector.policy_b64, "viewer", "without a key"))
        object = good
        object.policyBinding =
            Self.vector.keys[2].binding.isEmpty ? nil : .init(algorithm: "HS256", hash: Self.vector.keys[2].binding)
        cases.append((object, Self.vector.policy_b64, "viewer", "binding does not verify"))
        object.policyBinding = .init(algorithm: "none", hash: Self.vector.keys[0].binding)
        cases.append((object, Self.vector.policy_b64, "viewer", "binding does not verify"))
        object.policyBinding = nil
        cases.append((object, Self.vector.policy_b64, "viewer", "binding missing"))
        object = good
        object.kid = "nobody"
        cases.append((object, Self.vector.policy_b64, "viewer", "unknown kid"))
        let open = Base64.encode(Array(#"{"uuid":"u","body":{"dataAttributes":[],"dissem":[]}}"#.utf8))
        cases.append((good, open, "viewer", "binding does not verify"))
        cases.append((good, nil, "viewer", "policy can't be read"))
        cases.append((good, Self.vector.policy_b64, "stranger", "not in dissem"))
        for (object, policy, subject, reason) in cases {
            // A refusal for a reason that was logged in the same second is only counted.
            rig.time.seconds += 1
            let (_, result) = try rewrap(rig, object, policy: policy, subject: subject)
            #expect(result == .fail(id: "k", error: RewrapProcessor.refusal))
            #expect(rig.auditLines.last?.contains(reason) == true, "\(reason): \(rig.auditLines.last ?? "")")
        }
    }

    @Test func `a key in the header field is read when it has the size of an RSA block`() throws {
        let rig = try rig { $0.allowsUnboundTDF3 = true }
        let (_, result) = try rewrap(
            rig, KeyAccessObject(type: "remote", header: Self.vector.keys[0].wrapped_b64),
            policy: Self.vector.policy_b64)
        #expect(result.isPermitted)
    }

    @Test func `a v1 body is answered in the v1 form as well`() throws {
        let rig = try rig()
        var body = RewrapRequestBody(clientPublicKey: try client.key.publicKey.spkiPEM(), requests: [])
        body.keyAccess = object(Self.vector.keys[0])
        body.policy = Self.vector.policy_b64
        body.algorithm = "rsa:2048"
        for path in [Route.rewrap, Route.legacyRewrap] {
            var copy = body
            copy.clientPublicKey = try ECPrivateKey.generate(.p256).publicKey.spkiPEM()
            let response = try rig.post(
                path, client.request(copy, now: rig.time.seconds), token: rig.accessToken(streams: [])
            ).rewrap
            #expect(response.entityWrappedKey != nil)
            #expect(response.entityWrappedKey == response.responses[0].results[0].kasWrappedKey)
        }
    }

    @Test func `an EC-wrapped key comes out equal`() throws {
        let rig = try rig()
        let ephemeral = try ECPrivateKey.generate(.p256)
        let kas = try #require(rig.store.ring.p256.first)
        let key = [UInt8](0..<32)
        let wrapping = try ephemeral.deriveKey(with: kas.key.publicKey, salt: Digest.sha256(Array("TDF".utf8)))
        let nonce = [UInt8](repeating: 9, count: 12)
        let wrapped = nonce + (try AESGCM.seal(key: wrapping, nonce: nonce, plaintext: key))
        let hash = Digest.hmacSHA256(key: key, Array(Self.vector.policy_b64.utf8))
        var object = KeyAccessObject(
            type: "ec-wrapped", wrappedKey: Base64.encode(wrapped),
            policyBinding: .init(algorithm: "HS256", hash: Base64.encode(hash)), kid: kas.kid,
            ephemeralPublicKey: try ephemeral.publicKey.spkiPEM())
        let (response, result) = try rewrap(rig, object)
        let opened = try client.unwrap(
            try #require(result.kasWrappedKey), session: response.sessionPublicKey,
            salt: Digest.sha256(Array("TDF".utf8)))
        #expect(opened == key)
        object.ephemeralPublicKey = nil
        #expect(try !rewrap(rig, object).1.isPermitted)
        object.ephemeralPublicKey = try ECPrivateKey.generate(.p256).publicKey.spkiPEM()
        #expect(try !rewrap(rig, object).1.isPermitted)
    }
}
