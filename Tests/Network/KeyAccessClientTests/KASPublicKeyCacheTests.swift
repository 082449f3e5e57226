import Cryptography
import Foundation
import HTTPClient
import KeyAccess
import NanoTDF
import Settings
import TestSupport
import Testing

@testable import KeyAccessClient

struct PublicKeyStateTests {
    private let second: UInt64 = 1_000_000_000
    private let key = KnownPublicKey(url: "u", publicKey: "k", kid: nil, etag: "e", fetchedAt: 1000)

    @Test func `nothing known: ask, without anything to fall back on`() {
        var state = PublicKeyState()
        #expect(state.decide(at: 5) == .ask(etag: nil, fallback: nil))
    }

    @Test func `fresh for 300 s, then asked for with its tag`() {
        var state = PublicKeyState()
        state.fetched(key, at: 10 * second)
        #expect(state.decide(at: 310 * second - 1) == .use(key))
        #expect(state.decide(at: 310 * second) == .ask(etag: "e", fallback: key))
    }

    @Test func `an outage is asked about at growing distances, and the last good key goes on for 24 h`() {
        var state = PublicKeyState()
        state.fetched(key, at: 0)
        var now = 300 * second
        var distances: [UInt64] = []
        for _ in 0..<8 {
            #expect(state.decide(at: now) == .ask(etag: "e", fallback: key))
            state.failed(at: now)
            var next = now
            while state.decide(at: next) == .use(key) { next += second }
            distances.append((next - now) / second)
            now = next
        }
        #expect(distances == [2, 4, 8, 16, 32, 60, 60, 60])
        #expect(state.decide(at: 86_399 * second) == .ask(etag: "e", fallback: key))
        #expect(state.decide(at: 86_400 * second) == .ask(etag: nil, fallback: nil))
    }

    @Test func `without a key every use asks`() {
        var state = PublicKeyState()
        state.failed(at: 0)
        #expect(state.decide(at: 1) == .ask(etag: nil, fallback: nil))
    }

    @Test(
        arguments: [
            (1100, true, true), (1299, true, true), (1300, false, true), (87_399, false, true),
            (87_400, false, false), (0, true, true), (Int64.min, true, true), (Int64.max, false, false),
        ] as [(Int64, Bool, Bool)])
    func `a stored key counts from when it was fetched, whatever the clock says`(
        wallClock: Int64, isFresh: Bool, isGood: Bool
    ) {
        var state = PublicKeyState()
        state.restored(key, wallClock: wallClock, at: 7)
        let expected: PublicKeyState.Decision =
            isFresh ? .use(key) : isGood ? .ask(etag: "e", fallback: key) : .ask(etag: nil, fallback: nil)
        #expect(state.decide(at: 7) == expected)
    }

    @Test func `an invalidated key is asked for again, and is still good`() {
        var state = PublicKeyState()
        state.fetched(key, at: 0)
        state.invalidate()
        #expect(state.decide(at: 1) == .ask(etag: "e", fallback: key))
    }
}

struct KASPublicKeyCacheTests {
    private final class Network: Sendable {
        let answer = Shared<ScriptedTransport.Outcome>(.failure(.unreachable(host: "h", reason: "r")))
        let now = Shared<UInt64>(1)
        let wallClock = Shared<Int64>(1_700_000_000)
        let transport: ScriptedTransport

        init() {
            transport = ScriptedTransport { [answer] _ in answer.value }
        }

        func cache(
            file: String? = nil, url: String = "https://kas.example:8443/kas", pin: String? = nil,
            kid: KeyIdentifierUse = .automatic
        )
            -> KASPublicKeyCache
        {
            KASPublicKeyCache(
                configuration: KASConfiguration(
                    url: url, token: .value("secret-token"), publicKeyPin: pin, keyIdentifier: kid,
                    publicKeyCacheFile: file),
                transport: transport, monotonic: { [now] in now.value }, wallClock: { [wallClock] in wallClock.value })
        }
    }

    private static func temporaryFile() -> String {
        FileManager.default.temporaryDirectory.appending(path: "kas-key-\(UInt64.random(in: 0 ..< .max))").path
    }

    @Test func `the answer becomes whom to seal for, and is used until it is old`() async throws {
        let kas = try MiniatureKAS()
        let network = Network()
        network.answer.value = .success(try kas.publicKeyAnswer())
        let cache = network.cache()
        let recipient = try await cache.recipient()
        #expect(recipient.publicKey == kas.key.publicKey.compressed())
        #expect(recipient.locator.text == "kas.example:8443/kas")
        #expect(recipient.locator.keyIdentifier == [])
        #expect(try await cache.recipient() == recipient)
        #expect(
            network.transport.requests.map(\.url) == [
                "https://kas.example:8443/kas/v2/kas_public_key?algorithm=ec:secp256r1"
            ])
        #expect(network.transport.requests[0].header("Authorization") == nil)
    }

    @Test(arguments: [("k1", "k1"), (String(repeating: "k", count: 32), String(repeating: "k", count: 32))])
    func `the key is named in the header when that is configured`(kid: String, expected: String) async throws {
        let network = Network()
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer(kid: kid))
        #expect(try await network.cache(kid: .always).recipient().locator.keyIdentifier == Array(expected.utf8))
    }

    @Test(arguments: [(KeyIdentifierUse.automatic, true, true), (.automatic, false, false), (.never, true, false)])
    func `the key is named where the KAS says that it reads the name`(
        use: KeyIdentifierUse, says: Bool, isNamed: Bool
    ) async throws {
        let network = Network()
        var answer = try MiniatureKAS().publicKeyAnswer(kid: "e2")
        if says {
            let (name, value) = PublicKeyResponse.identifierHeader
            answer.headers.append(HTTPHeader(name, value))
        }
        network.answer.value = .success(answer)
        #expect(
            try await network.cache(kid: use).recipient().locator.keyIdentifier == (isNamed ? Array("e2".utf8) : []))
    }

    @Test(arguments: [nil, String(repeating: "k", count: 33)])
    func `a KAS without a name for its key, or with one that fits no header`(kid: String?) async throws {
        let network = Network()
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer(kid: kid))
        #expect(try await network.cache(kid: .always).recipient().locator.keyIdentifier == [])
    }

    @Test func `an unchanged key is confirmed by its tag`() async throws {
        let network = Network()
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer(etag: "\"v1\""))
        let cache = network.cache()
        let recipient = try await cache.recipient()
        network.now.value += 301_000_000_000
        network.answer.value = .success(HTTPResponse(status: 304))
        #expect(try await cache.recipient() == recipient)
        #expect(network.transport.requests[1].header("If-None-Match") == "\"v1\"")
        network.now.value += 299_000_000_000
        #expect(try await cache.recipient() == recipient)
        #expect(network.transport.requests.count == 2)
    }

    @Test func `a rolled key is taken over`() async throws {
        let network = Network()
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer())
        let cache = network.cache()
        let old = try await cache.recipient()
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer(kid: "k2"))
        #expect(try await cache.recipient() == old)
        await cache.invalidate()
        #expect(try await cache.recipient() != old)
    }

    @Test func `304 without a question is garbage`() async {
        let network = Network()
        network.answer.value = .success(HTTPResponse(status: 304))
        await #expect(throws: KeyAccessError.garbage(.unexpectedNotModified)) { try await network.cache().recipient() }
    }

    @Test(arguments: [
        ScriptedTransport.Outcome.failure(.unreachable(host: "h", reason: "r")),
        .failure(.timedOut(host: "h", after: .seconds(3))), .success(HTTPResponse(status: 500)),
        .success(HTTPResponse(status: 200, body: Array("garbage".utf8))),
        .success(HTTPResponse(status: 200, body: Array(#"{"public_key":"no key","kid":"x"}"#.utf8))),
    ])
    func `whatever goes wrong, the last good key goes on for a day and not longer`(
        outcome: ScriptedTransport.Outcome
    ) async throws {
        let network = Network()
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer())
        let cache = network.cache()
        let recipient = try await cache.recipient()
        network.answer.value = outcome
        network.now.value += 3600_000_000_000
        #expect(try await cache.recipient() == recipient)
        #expect(await cache.lastFailure != nil)
        #expect(network.transport.requests.last?.totalTimeout == .seconds(3))
        network.now.value += 86_400_000_000_000
        await #expect(throws: KeyAccessError.self) { try await cache.recipient() }
        #expect(network.transport.requests.last?.totalTimeout == .seconds(10))
    }

    @Test func `a restart during an outage finds the key in the file`() async throws {
        let file = Self.temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let network = Network()
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer())
        let recipient = try await network.cache(file: file).recipient()
        network.answer.value = .failure(.unreachable(host: "h", reason: "r"))
        network.wallClock.value += 86_000
        #expect(try await network.cache(file: file).recipient() == recipient)
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)

        await #expect(throws: KeyAccessError.self, "another KAS's key") {
            try await network.cache(file: file, url: "https://other.example/kas").recipient()
        }
        network.wallClock.value += 401
        await #expect(throws: KeyAccessError.self, "too old") { try await network.cache(file: file).recipient() }
    }

    @Test func `a stored key that was read without the pin of today is not used`() async throws {
        let file = Self.temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let network = Network()
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer())
        _ = try await network.cache(file: file).recipient()
        network.answer.value = .failure(.pinMismatch(host: "h"))
        await #expect(throws: KeyAccessError.self) { try await network.cache(file: file, pin: "one").recipient() }
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer())
        let pinned = try await network.cache(file: file, pin: "one").recipient()
        network.answer.value = .failure(.unreachable(host: "h", reason: "r"))
        #expect(try await network.cache(file: file, pin: "one").recipient() == pinned)
        #expect(try await network.cache(file: file).recipient() == pinned)
        await #expect(throws: KeyAccessError.self) { try await network.cache(file: file, pin: "two").recipient() }
    }

    @Test func `a server that is not the pinned one is asked again late, and is not an outage`() {
        let error = KeyAccessError(.tlsFailed(host: "h", reason: "its public key is not the pinned one"))
        #expect(error.retry == .late && error.isDistrust)
        #expect(error.hint.contains("pin"))
        let other = KeyAccessError(.tlsFailed(host: "h", reason: "certificate has expired"))
        #expect(other.retry == .soon && other.isDistrust)
        #expect(!KeyAccessError(.unreachable(host: "h", reason: "r")).isDistrust)
    }

    @Test(arguments: UInt64(0)..<32)
    func `a damaged file is not a file`(seed: UInt64) async throws {
        let file = Self.temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let kas = try MiniatureKAS()
        let network = Network()
        network.answer.value = .success(try kas.publicKeyAnswer())
        _ = try await network.cache(file: file).recipient()
        var generator = SeededGenerator(seed: seed)
        var bytes = try Data(contentsOf: URL(filePath: file))
        if seed.isMultiple(of: 2) {
            bytes = bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator))
        } else {
            for _ in 0..<8 {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
        }
        try bytes.write(to: URL(filePath: file))
        network.wallClock.value += 400
        #expect(try await network.cache(file: file).recipient().publicKey == kas.key.publicKey.compressed())
    }

    /// Each write costs a memory card some blocks, and each camera asks 288 times a day.
    @Test func `a key that stays the same is written once an hour`() async throws {
        let file = Self.temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let network = Network()
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer(etag: "\"v1\""))
        let cache = network.cache(file: file)
        let recipient = try await cache.recipient()
        let first = try Data(contentsOf: URL(filePath: file))
        func passes(seconds: UInt64) async throws {
            network.now.value += seconds * 1_000_000_000
            network.wallClock.value += Int64(seconds)
            #expect(try await cache.recipient() == recipient)
        }
        network.answer.value = .success(HTTPResponse(status: 304))
        for _ in 1...11 { try await passes(seconds: 301) }
        #expect(network.transport.requests.count == 12)
        #expect(try Data(contentsOf: URL(filePath: file)) == first)
        try await passes(seconds: 301)
        let second = try Data(contentsOf: URL(filePath: file))
        #expect(second != first)
        // After a restart as well.
        network.wallClock.value += 301
        #expect(try await network.cache(file: file).recipient() == recipient)
        #expect(try Data(contentsOf: URL(filePath: file)) == second)
        // A clock that was set back.
        network.wallClock.value -= 7200
        await cache.invalidate()
        _ = try await cache.recipient()
        #expect(try Data(contentsOf: URL(filePath: file)) != second)
    }

    @Test func `another key is written at once, and so is one that could not be`() async throws {
        let file = Self.temporaryFile()
        defer { try? FileManager.default.removeItem(atPath: file) }
        let network = Network()
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer())
        let cache = network.cache(file: file + "/key.json")
        let old = try await cache.recipient()
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        await cache.invalidate()
        #expect(try await cache.recipient() == old)
        let first = try Data(contentsOf: URL(filePath: file + "/key.json"))
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer(kid: "k2"))
        await cache.invalidate()
        #expect(try await cache.recipient() != old)
        #expect(try Data(contentsOf: URL(filePath: file + "/key.json")) != first)
    }

    @Test func `a file that cannot be written costs the restart, not the stream`() async throws {
        let network = Network()
        network.answer.value = .success(try MiniatureKAS().publicKeyAnswer())
        _ = try await network.cache(file: "/absent/directory/key.json").recipient()
    }

    @Test func `many who ask at once cost one request`() async throws {
        let server = StandInServer { _ in
            .bytes(
                StandInServer.answer(
                    200, String(decoding: (try? MiniatureKAS().publicKeyAnswer().body) ?? [], as: UTF8.self)))
        }
        defer { server.stop() }
        let cache = KASPublicKeyCache(configuration: KASConfiguration(url: server.url))
        let keys = try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<20 { group.addTask { try await cache.recipient().publicKey } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(keys.count == 1)
        #expect(server.requests.count == 1)
        #expect(server.requests[0].line == "GET /kas/v2/kas_public_key?algorithm=ec:secp256r1 HTTP/1.1")
    }
}
