import Cryptography
import Foundation
import HTTPClient
import KeyAccess
import NanoTDF
import Settings
import Testing
import Wire

@testable import KeyAccessClient

struct KASCollectionRegistrarTests {
    /// An access token as a KAS issues them, but for its signature.
    private static let token: String = {
        func part(_ json: String) -> String { Base64.encode(Array(json.utf8), alphabet: .url) }
        return part(#"{"alg":"ES256"}"#) + "." + part(#"{"iss":"me","sub":"box"}"#) + "." + part("x")
    }()

    private static func sent(_ request: HTTPRequest) throws -> CollectionRegistration {
        try JSONDecoder().decode(CollectionRegistration.self, from: Data(request.body))
    }

    private static func proves(_ registration: CollectionRegistration, _ claim: CollectionClaim) throws -> Bool {
        let input = CollectionRegistration.proofInput(
            headerHash: claim.headerHash, stream: registration.stream, lifetime: registration.lifetime,
            issuedAt: registration.issuedAt, issuer: "me", subject: "box")
        return try Base64.decode(registration.proof) == claim.proof.mac(of: input)
    }

    private static func registrar(_ transport: ScriptedTransport, at time: Int64) -> KASCollectionRegistrar {
        KASCollectionRegistrar(
            configuration: KASConfiguration(url: "https://kas.example/kas", token: .value(token)),
            transport: transport, wallClock: { time })
    }

    @Test func `a header is registered at the root of the KAS, with token and proof`() async throws {
        let claim = try MiniatureKAS().sealer().claim
        let transport = ScriptedTransport { _ in
            .success(HTTPResponse(status: 200, headers: [HTTPHeader("WatchBox-Time", "1700000000123")]))
        }
        let time = try await Self.registrar(transport, at: 1_700_000_000_000)
            .register(claim, stream: "live/cam", lifetime: 600)
        #expect(time == 1_700_000_000_123)
        let request = try #require(transport.requests.first)
        #expect(request.method == .post && request.url == "https://kas.example/watchbox/v1/collections")
        #expect(request.header("Authorization") == "Bearer \(Self.token)")
        let registration = try Self.sent(request)
        #expect(registration.stream == "live/cam" && registration.lifetime == 600)
        #expect(registration.issuedAt == 1_700_000_000_000)
        #expect(try Base64.decode(registration.header) == claim.headerBytes)
        #expect(try Self.proves(registration, claim))
    }

    @Test func `a camera without a clock learns the time from the refusal, and keeps it`() async throws {
        let claim = try MiniatureKAS().sealer().claim
        let kasTime: Int64 = 1_700_000_000_000
        let transport = ScriptedTransport { request in
            let issued = (try? Self.sent(request).issuedAt) ?? 0
            let isNow = abs(issued - kasTime) <= CollectionRegistration.tolerance
            return .success(
                HTTPResponse(
                    status: isNow ? 200 : 400, headers: [HTTPHeader("WatchBox-Time", String(kasTime))]))
        }
        let registrar = Self.registrar(transport, at: 86_400_000)
        #expect(try await registrar.register(claim, stream: "s", lifetime: 600) == kasTime)
        #expect(transport.requests.count == 2)
        #expect(try Self.proves(Self.sent(transport.requests[1]), claim))
        try await registrar.register(claim, stream: "s", lifetime: 600)
        #expect(transport.requests.count == 3)
    }

    @Test func `a refusal that the clock does not explain is reported, once`() async throws {
        let claim = try MiniatureKAS().sealer().claim
        let transport = ScriptedTransport { _ in
            .success(HTTPResponse(status: 400, headers: [HTTPHeader("WatchBox-Time", "1700000000000")]))
        }
        await #expect(throws: KeyAccessError.status(400, message: "")) {
            try await Self.registrar(transport, at: 1_700_000_000_000).register(claim, stream: "s", lifetime: 600)
        }
        #expect(transport.requests.count == 1)
    }

    @Test func `a box with a device key signs header, stream and time, once more when the time was wrong`() async throws
    {
        let claim = try MiniatureKAS().sealer().claim
        let identity = try SigningIdentity.generate()
        let path = FileManager.default.temporaryDirectory.appending(path: "signing-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data(identity.keyForStream("door")).write(to: URL(filePath: path))
        let kasTime: Int64 = 1_700_000_000_000
        let transport = ScriptedTransport { request in
            let isNow = (try? Self.sent(request).issuedAt) == kasTime
            return .success(
                HTTPResponse(status: isNow ? 200 : 400, headers: [HTTPHeader("WatchBox-Time", String(kasTime))]))
        }
        let registrar = KASCollectionRegistrar(
            configuration: KASConfiguration(
                url: "https://kas.example/kas", token: .value(Self.token), signingKeyFile: path), transport: transport,
            wallClock: { 0 })
        try await registrar.register(claim, stream: "door", lifetime: 600)
        #expect(transport.requests.count == 2)
        for request in transport.requests {
            let registration = try Self.sent(request)
            let verified = try #require(
                registration.signature?.verified(
                    headerHash: claim.headerHash, stream: "door", issuedAt: registration.issuedAt,
                    verifies: CanonicalES256.verifies(_:of:by:)))
            #expect(try ECPublicKey(sec1: verified.device, curve: .p256).fingerprint == identity.fingerprint)
            #expect(SigningIdentity.fingerprint(publicKeyPEM: identity.publicKeyPEM) == identity.fingerprint)
            #expect(
                registration.signature?.verified(
                    headerHash: claim.headerHash, stream: "doors", issuedAt: registration.issuedAt,
                    verifies: CanonicalES256.verifies(_:of:by:)) == nil)
        }
    }

    @Test func `an invalid device key is reported, and nothing goes out unsigned`() async throws {
        let claim = try MiniatureKAS().sealer().claim
        let path = FileManager.default.temporaryDirectory.appending(path: "signing-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let transport = ScriptedTransport { _ in .success(HTTPResponse(status: 200)) }
        let registrar = KASCollectionRegistrar(
            configuration: KASConfiguration(
                url: "https://kas.example/kas", token: .value(Self.token), signingKeyFile: path), transport: transport)
        let good = try SigningIdentity.generate().keyForStream("door")
        let long = try ECPrivateKey.generate(.p384).privateKeyPEMBytes()
        for bytes in [
            nil, [], Array("nonsense".utf8), long, good.dropLast(20) + [], good + [UInt8](repeating: 10, count: 4096),
            good + good,
        ] as [[UInt8]?] {
            if let bytes { try Data(bytes).write(to: URL(filePath: path)) }
            let fault = await #expect(throws: KeyAccessError.self) {
                try await registrar.register(claim, stream: "door", lifetime: 600)
            }
            #expect(fault?.what.contains("signing key") == true && fault?.why.contains("PRIVATE") == false)
        }
        #expect(transport.requests.isEmpty)
        // It was put right.
        try Data(good).write(to: URL(filePath: path))
        try await registrar.register(claim, stream: "door", lifetime: 600)
        #expect(transport.requests.count == 1)
    }
}
