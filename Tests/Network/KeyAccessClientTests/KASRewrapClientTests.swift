import Cryptography
import HTTPClient
import KeyAccess
import NanoTDF
import Settings
import TestSupport
import Testing
import Wire

@testable import KeyAccessClient

struct KASRewrapClientTests {
    private func client(_ transport: ScriptedTransport, salt: SessionSalt = .l1l) -> KASRewrapClient {
        KASRewrapClient(
            configuration: KASConfiguration(
                url: "https://kas.example/kas/", token: .value("the-token"), sessionSalt: salt),
            transport: transport, now: { 1_700_000_000 })
    }

    private func failure(_ transport: ScriptedTransport, header: [UInt8]) async -> KeyAccessError? {
        do throws(KeyAccessError) {
            _ = try await client(transport).rewrap(header: header)
            return nil
        } catch {
            return error
        }
    }

    @Test func `the key that comes opens the collection`() async throws {
        let kas = try MiniatureKAS()
        let sealer = try kas.sealer()
        let key = try await client(kas.transport()).rewrap(header: sealer.headerBytes).key
        #expect(try MiniatureKAS.opens(sealer, key))
    }

    @Test func `the request is what the reference says, and goes to the configured KAS only`() async throws {
        let kas = try MiniatureKAS()
        let sealer = try kas.sealer()
        let transport = kas.transport()
        for _ in 0..<2 { _ = try await client(transport).rewrap(header: sealer.headerBytes) }
        let request = try #require(transport.requests.first)
        #expect(request.method == .post)
        #expect(request.url == "https://kas.example/kas/v2/rewrap")
        #expect(request.header("Authorization") == "Bearer the-token")
        #expect(request.header("Content-Type") == "application/json")
        let question = try kas.question(request.body)
        #expect(question.header.algorithm == "ES256")
        #expect(question.claims.issuedAt?.seconds == 1_700_000_000)
        #expect(question.claims.expiresAt?.seconds == 1_700_000_060)
        let policy = try #require(question.body.requests.first)
        #expect(question.body.requests.count == 1)
        #expect(policy.algorithm == "ec:secp256r1")
        #expect(
            policy.policy.body == Base64.encode(Array(#"{"uuid":"u","body":{"dataAttributes":[],"dissem":[]}}"#.utf8)))
        let object = try #require(policy.keyAccessObjects.first)
        #expect(object.keyAccessObject.type == "remote")
        #expect(object.keyAccessObject.protocol == "kas")
        #expect(object.keyAccessObject.url == "https://kas.example/kas")
        #expect(object.keyAccessObject.header == Base64.encode(sealer.headerBytes))

        let other = try kas.question(transport.requests[1].body)
        #expect(question.claims.tokenID?.count == 32)
        #expect(question.claims.tokenID != other.claims.tokenID)
        #expect(question.body.clientPublicKey != other.body.clientPublicKey)
    }

    @Test(arguments: SessionSalt.allCases, SessionSalt.allCases)
    func `every salt of a KAS is found, whichever is configured`(theirs: SessionSalt, ours: SessionSalt) async throws {
        var kas = try MiniatureKAS()
        kas.salt = theirs
        let sealer = try kas.sealer()
        let key = try await client(kas.transport(), salt: ours).rewrap(header: sealer.headerBytes).key
        #expect(try MiniatureKAS.opens(sealer, key))
    }

    @Test func `an invalid header is not sent`() async throws {
        let transport = try MiniatureKAS().transport()
        #expect(await failure(transport, header: [1, 2, 3]) == .invalidHeader)
        #expect(transport.requests.isEmpty)
    }

    static let spoiled: [(String, KeyAccessError, @Sendable (inout RewrapResponse) -> Void)] = [
        ("no responses", .garbage(.missingResult), { $0.responses = [] }),
        ("no results", .garbage(.missingResult), { $0.responses[0].results = [] }),
        ("no wrapped key", .garbage(.wrappedKeyForm), { $0.responses[0].results[0].kasWrappedKey = nil }),
        ("no base64", .garbage(.wrappedKeyForm), { $0.responses[0].results[0].kasWrappedKey = "%%%" }),
        (
            "59 bytes", .garbage(.wrappedKeyForm),
            { $0.responses[0].results[0].kasWrappedKey = Base64.encode([UInt8](repeating: 7, count: 59)) }
        ),
        (
            "60 other bytes", .invalidKey(.wrappedKey),
            { $0.responses[0].results[0].kasWrappedKey = Base64.encode([UInt8](repeating: 7, count: 60)) }
        ),
        ("no session key", .invalidKey(.sessionKey), { $0.sessionPublicKey = "" }),
        (
            "a session key that is not a point", .invalidKey(.sessionKey),
            {
                let point = Base64.encode([4] + [UInt8](repeating: 9, count: 64))
                $0.sessionPublicKey = "-----BEGIN PUBLIC KEY-----\n\(point)\n-----END PUBLIC KEY-----\n"
            }
        ),
        (
            "failed", .denied(reason: "not yours"),
            { $0.responses[0].results = [.fail(id: "kao-0", error: "not\u{7}yours")] }
        ),
        ("unknown status", .denied(reason: ""), { $0.responses[0].results[0].status = "maybe" }),
    ]

    @Test(arguments: 0..<10)
    func `a spoiled answer is reported by its fault`(index: Int) async throws {
        let (name, expected, spoil) = Self.spoiled[index]
        var kas = try MiniatureKAS()
        kas.spoil = spoil
        let error = await failure(kas.transport(), header: try kas.sealer().headerBytes)
        #expect(error == expected, "\(name)")
    }

    @Test(arguments: [
        (301, KeyAccessError.Retry.late), (400, .late), (401, .late), (403, .late), (404, .late), (408, .soon),
        (429, .soon), (500, .soon), (503, .soon), (204, .late),
    ])
    func `a status is an error with the KAS's message, made printable`(
        status: Int, retry: KeyAccessError.Retry
    ) async throws {
        let words = String(repeating: "w\\u0007\\\"", count: 300)
        let transport = ScriptedTransport { _ in
            .success(
                HTTPResponse(status: status, body: Array(#"{"code":"c","error":"e","message":"\#(words)"}"#.utf8)))
        }
        let error = await failure(transport, header: try MiniatureKAS().sealer().headerBytes)
        guard case .status(status, let message) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(message.count == 160)
        #expect(message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value < 0x7F })
        #expect(error?.retry == retry)
    }

    @Test(arguments: ["", "{", "[]", "null", "<html>", #"{"responses":7}"#, #"{"responses":[7]}"#])
    func `garbage is reported as garbage`(body: String) async throws {
        let transport = ScriptedTransport { _ in .success(HTTPResponse(status: 200, body: Array(body.utf8))) }
        #expect(
            await failure(transport, header: try MiniatureKAS().sealer().headerBytes) == .garbage(.unreadable))
    }

    @Test func `JSON that nests without end is refused before a decoder sees it`() async throws {
        let body = [UInt8](repeating: UInt8(ascii: "["), count: 60_000)
        let transport = ScriptedTransport { _ in .success(HTTPResponse(status: 200, body: body)) }
        #expect(
            await failure(transport, header: try MiniatureKAS().sealer().headerBytes) == .garbage(.unreadable))
    }

    @Test(arguments: [
        (HTTPClientError.unreachable(host: "h", reason: "r"), KeyAccessError.Retry.soon),
        (.timedOut(host: "h", after: .seconds(1)), .soon),
        (.connectTimedOut(host: "h", after: .seconds(1)), .soon),
        (.tlsFailed(host: "h", reason: "r"), .soon),
        (.connectionLost(host: "h", reason: "r"), .soon),
        (.malformedResponse(host: "h", reason: "r"), .soon),
        (.responseTooLarge(host: "h", limit: 1), .soon),
        (.plainHTTPRefused(host: "h"), .late),
        (.cancelled, .never),
    ])
    func `a network failure is reported, with the text for the operator`(
        error: HTTPClientError, retry: KeyAccessError.Retry
    ) async throws {
        let transport = ScriptedTransport { _ in .failure(error) }
        let failure = try #require(await failure(transport, header: try MiniatureKAS().sealer().headerBytes))
        #expect(failure.retry == retry)
        #expect(!failure.what.isEmpty && !failure.why.isEmpty && !failure.hint.isEmpty)
    }

    @Test(arguments: UInt64(0)..<64)
    func `flipped bits of a good answer throw or are harmless`(seed: UInt64) async throws {
        let kas = try MiniatureKAS()
        let sealer = try kas.sealer()
        let transport = ScriptedTransport { request in
            guard var response = try? kas.rewrap(request.body) else { return .failure(.cancelled) }
            var generator = SeededGenerator(seed: seed)
            for _ in 0..<8 {
                let index = Int.random(in: 0..<response.body.count, using: &generator)
                response.body[index] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            }
            return .success(response)
        }
        let key: CollectionKey
        do throws(KeyAccessError) {
            key = try await client(transport).rewrap(header: sealer.headerBytes).key
        } catch {
            #expect(error != .cancelled)
            return
        }
        #expect(try MiniatureKAS.opens(sealer, key))
    }
}
