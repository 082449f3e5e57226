import Cryptography
import Foundation
import HTTPClient
import KeyAccess
import NanoTDF
import Settings
import Testing
import Wire

@testable import KeyAccessClient

struct ArchiveKeyClientTests {
    private static let configuration = KASConfiguration(url: "https://kas.example/", token: .value("the-token"))
    private static let rsa = try! RSAPrivateKey.generate(bits: 2048)

    private static let object: KeyAccessObject = {
        var object = KeyAccessObject(
            type: "wrapped", url: "https://elsewhere.example/kas", protocol: "kas", wrappedKey: "AAAA",
            policyBinding: WrappedKeyBinding(algorithm: "HS256", hash: "BBBB"), kid: "r1")
        object.sid = ""
        object.encryptedMetadata = String(repeating: "x", count: 1_000_000)
        return object
    }()

    /// Answers with that key, under the salt.
    private static func transport(_ key: [UInt8], salt: SessionSalt) throws -> ScriptedTransport {
        let kas = try MiniatureKAS()
        return ScriptedTransport { request in
            do {
                let question = try kas.question(request.body).body
                guard case .ec(let client) = try PublicKeyPEM.load(question.clientPublicKey) else {
                    return .success(HTTPResponse(status: 400))
                }
                let session = try ECPrivateKey.generate(.p256)
                let wrapping = try session.deriveKey(with: client, salt: salt.bytes)
                let nonce = try SecureRandom.bytes(12)
                let wrapped = nonce + (try AESGCM.seal(key: wrapping, nonce: nonce, plaintext: key))
                let response = RewrapResponse(
                    responses: [
                        PolicyRewrapResult(
                            policyId: "policy", results: [.permit(id: "kao-0", wrappedKey: Base64.encode(wrapped))])
                    ], sessionPublicKey: try session.publicKey.spkiPEM())
                return .success(HTTPResponse(status: 200, body: Array(try JSONEncoder().encode(response))))
            } catch {
                return .success(HTTPResponse(status: 400))
            }
        }
    }

    @Test(arguments: SessionSalt.allCases)
    func `the key of an archive comes under any salt`(salt: SessionSalt) async throws {
        let expected = [UInt8](0..<32)
        let client = KASRewrapClient(
            configuration: Self.configuration, transport: try Self.transport(expected, salt: salt))
        let key = try await client.rewrap(archive: Self.object, policy: "cG9saWN5")
        #expect(key.withBytes { bytes in bytes.indices.map { bytes[$0] } } == expected)
    }

    @Test func `the request has what the manifest has, and goes to the configured KAS only`() async throws {
        let transport = try Self.transport([UInt8](0..<32), salt: .tdf)
        let client = KASRewrapClient(configuration: Self.configuration, transport: transport)
        _ = try await client.rewrap(archive: Self.object, policy: "cG9saWN5")
        let request = try #require(transport.requests.first)
        #expect(request.url == "https://kas.example/kas/v2/rewrap")
        #expect(request.header("Authorization") == "Bearer the-token")
        // The KAS is asked for no facts of a collection.
        #expect(request.header(CollectionFacts.requestHeader.name) == nil)
        let question = try MiniatureKAS().question(request.body).body
        let policy = try #require(question.requests.first)
        #expect(policy.algorithm == "rsa:2048")
        #expect(policy.policy.body == "cG9saWN5")
        var expected = Self.object
        expected.encryptedMetadata = nil
        #expect(policy.keyAccessObjects.map(\.keyAccessObject) == [expected])
    }

    @Test func `the RSA key of a KAS is asked for without a token`() async throws {
        let pem = try Self.rsa.publicKey.spkiPEM()
        let transport = ScriptedTransport { _ in
            .success(
                HTTPResponse(
                    status: 200,
                    body: Array((try? JSONEncoder().encode(PublicKeyResponse(publicKey: pem, kid: "r1"))) ?? Data())))
        }
        let key = try await KASArchiveKey.fetch(Self.configuration, transport: transport)
        #expect(key == KASArchiveKey(url: "https://kas.example/kas", kid: "r1", publicKeyPEM: pem))
        let request = try #require(transport.requests.first)
        #expect(request.url == "https://kas.example/kas/v2/kas_public_key?algorithm=rsa:2048")
        #expect(request.header("Authorization") == nil)
    }

    @Test func `a recorder's key is used while its KAS is away, for years and over restarts`() async throws {
        let pem = try Self.rsa.publicKey.spkiPEM()
        let answer = HTTPResponse(
            status: 200, body: Array(try JSONEncoder().encode(PublicKeyResponse(publicKey: pem, kid: "r1"))))
        let network = Shared<ScriptedTransport.Outcome>(.success(answer))
        let seconds = Shared<Int64>(1_800_000_000)
        let transport = ScriptedTransport { _ in network.value }
        let file = FileManager.default.temporaryDirectory.appending(path: "archive-key-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        func cache(_ url: String = "https://kas.example/kas") -> KASArchiveKeyCache {
            KASArchiveKeyCache(
                configuration: KASConfiguration(url: url), file: file, transport: transport,
                monotonic: { UInt64(seconds.value) * 1_000_000_000 }, wallClock: { seconds.value })
        }
        let first = cache()
        let key = try await first.key()
        #expect(key == KASArchiveKey(url: "https://kas.example/kas", kid: "r1", publicKeyPEM: pem))
        seconds.value += 3599
        #expect(try await first.key() == key)
        #expect(transport.requests.count == 1, "it is fresh for an hour")
        network.value = .failure(.unreachable(host: "h", reason: "r"))
        seconds.value += 3 * 365 * 86_400
        #expect(try await first.key() == key)
        #expect(try await cache().key() == key, "what the file has")
        await #expect(throws: KeyAccessError.self) { try await cache("https://other.example/kas").key() }
        let other = try RSAPrivateKey.generate(bits: 2048).publicKey.spkiPEM()
        network.value = .success(
            HTTPResponse(
                status: 200, body: Array(try JSONEncoder().encode(PublicKeyResponse(publicKey: other, kid: "r2")))))
        #expect(try await cache().key().publicKeyPEM == other)
    }

    @Test func `another key than an RSA key is no key for archives`() async throws {
        let kas = try MiniatureKAS()
        await #expect(throws: KeyAccessError.invalidKey(.archivePublicKey)) {
            try await KASArchiveKey.fetch(Self.configuration, transport: kas.transport())
        }
        let silent = ScriptedTransport { _ in .success(HTTPResponse(status: 404)) }
        await #expect(throws: KeyAccessError.status(404, message: "")) {
            try await KASArchiveKey.fetch(Self.configuration, transport: silent)
        }
    }
}
