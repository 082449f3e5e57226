import Foundation
import Glibc
import HTTPClient
import KeyAccess
import NanoTDF
import Settings
import TestSupport
import Testing

@testable import KeyAccessClient

struct KASConfigurationTests {
    @Test(arguments: [
        ("https://kas.example", "https://kas.example/kas", "https://kas.example"),
        ("https://kas.example/", "https://kas.example/kas", "https://kas.example"),
        ("https://kas.example:8443/kas/", "https://kas.example:8443/kas", "https://kas.example:8443"),
        ("https://kas.example/deep/kas", "https://kas.example/deep/kas", "https://kas.example/deep"),
        ("https://kas.example/keys", "https://kas.example/keys", "https://kas.example/keys"),
        ("http://[::1]:80", "http://[::1]:80/kas", "http://[::1]:80"),
    ])
    func `base and root of a URL`(url: String, base: String, root: String) {
        let configuration = KASConfiguration(url: url)
        #expect(configuration.base == base)
        #expect(configuration.root == root)
    }

    @Test func `a configuration comes back from JSON, and lacks may be left out`() throws {
        let whole = KASConfiguration(
            url: "https://k/kas", token: .file("/run/token"), certificateAuthorityFile: "/ca.pem",
            publicKeyPin: "sha256//x", sessionSalt: .empty,
            keyIdentifier: .always, publicKeyCacheFile: "/var/key.json", connectTimeout: .seconds(1.5),
            timeout: .seconds(7))
        #expect(try JSONDecoder().decode(KASConfiguration.self, from: JSONEncoder().encode(whole)) == whole)
        let short = try JSONDecoder().decode(KASConfiguration.self, from: Data(#"{"url":"https://k"}"#.utf8))
        #expect(short == KASConfiguration(url: "https://k"))
    }

    @Test(arguments: ["-1", "0", "1e300", "3601"])
    func `an impossible time is refused`(seconds: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(
                KASConfiguration.self, from: Data(#"{"url":"https://k","timeoutSeconds":\#(seconds)}"#.utf8))
        }
    }

    @Test func `no text of it holds a secret`() {
        let configuration = KASConfiguration(
            url: "https://user:password@k/kas?key=query", token: .value("bearer-secret"))
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped, "\(configuration.token)"] {
            for secret in ["password", "query", "bearer-secret"] { #expect(!text.contains(secret), "\(text)") }
        }
    }
}

struct AccessTokenReaderTests {
    private func failure(_ source: AccessTokenSource) -> KeyAccessError? {
        do throws(KeyAccessError) {
            _ = try AccessTokenReader(source).token()
            return nil
        } catch {
            return error
        }
    }

    private func temporaryFile(_ text: String) throws -> String {
        let path = FileManager.default.temporaryDirectory.appending(path: "token-\(UInt64.random(in: 0 ..< .max))").path
        try Data(text.utf8).write(to: URL(filePath: path))
        return path
    }

    @Test func `none, a value, and a file with its line end`() throws {
        let path = try temporaryFile("abc.def\n")
        defer { unlink(path) }
        #expect(try AccessTokenReader(.none).token() == nil)
        #expect(try AccessTokenReader(.value("  xyz ")).token() == "xyz")
        #expect(try AccessTokenReader(.file(path)).token() == "abc.def")
    }

    @Test func `a file that was replaced is read again`() throws {
        let path = try temporaryFile("one")
        defer { unlink(path) }
        let reader = AccessTokenReader(.file(path))
        #expect(try reader.token() == "one")
        try Data("two!".utf8).write(to: URL(filePath: path), options: .atomic)
        #expect(try reader.token() == "two!")
        unlink(path)
        #expect(throws: KeyAccessError.tokenUnreadable(path: path, .system(ENOENT))) { try reader.token() }
    }

    @Test func `an invalid token is refused without being repeated`() throws {
        let empty = try temporaryFile(" \n")
        let broken = try temporaryFile("secret\r\nInjected: 1")
        let long = try temporaryFile(String(repeating: "s", count: 16 * 1024 + 1))
        defer { for path in [empty, broken, long] { unlink(path) } }
        #expect(failure(.file(empty)) == .tokenUnreadable(path: empty, .empty))
        #expect(failure(.file(broken)) == .tokenUnreadable(path: broken, .invalidCharacter))
        #expect(failure(.file(long)) == .tokenUnreadable(path: long, .tooLong(limit: 16 * 1024)))
        #expect(failure(.file("/")) == .tokenUnreadable(path: "/", .notAFile))
        #expect(failure(.value("geheim\u{E9}")) == .tokenUnreadable(path: nil, .invalidCharacter))
        #expect(failure(.file(broken))?.description.contains("secret") == false)
    }
}

@Suite(.timeLimit(.minutes(15)))
struct KASOverSocketsTests {
    /// - Parameter timeout: short only for a server that never answers: a busy machine may be slow to.
    private func failure(_ server: StandInServer, timeout: Duration = .seconds(50)) async throws -> KeyAccessError? {
        let header = try MiniatureKAS().sealer().headerBytes
        let configuration = KASConfiguration(url: server.url, timeout: timeout)
        do throws(KeyAccessError) {
            _ = try await KASRewrapClient(configuration: configuration).rewrap(header: header)
            return nil
        } catch {
            return error
        }
    }

    @Test func `a KAS that never answers is slow`() async throws {
        let server = StandInServer { _ in .silence(after: []) }
        defer { server.stop() }
        let slow = try await failure(server, timeout: .milliseconds(200))
        #expect(slow == .slow(.timedOut(host: "127.0.0.1", after: .milliseconds(200))))
    }

    @Test func `a KAS that stops within its answer is slow`() async throws {
        let server = StandInServer { _ in .silence(after: Array(StandInServer.answer(200, "{}").dropLast())) }
        defer { server.stop() }
        let slow = try await failure(server, timeout: .milliseconds(200))
        #expect(slow == .slow(.timedOut(host: "127.0.0.1", after: .milliseconds(200))))
    }

    @Test func `a KAS that fails, one that talks nonsense, and one that floods`() async throws {
        let failing = StandInServer { _ in .bytes(StandInServer.answer(500, "oops")) }
        let talking = StandInServer { _ in .last(Array("220 mail ready\r\n".utf8)) }
        let flooding = StandInServer { _ in .bytes(StandInServer.answer(200, String(repeating: "x", count: 65_537))) }
        defer { for server in [failing, talking, flooding] { server.stop() } }
        #expect(try await failure(failing) == .status(500, message: ""))
        guard case .notAKeyService(.malformedResponse) = try await failure(talking) else {
            Issue.record("accepted")
            return
        }
        #expect(try await failure(flooding) == .notAKeyService(.responseTooLarge(host: "127.0.0.1", limit: 65_536)))
    }

    @Test func `a redirect is refused, and not followed with the token`() async throws {
        let thief = StandInServer { _ in .bytes(StandInServer.answer(200, "{}")) }
        let location = "Location: \(thief.url)/kas/v2/rewrap"
        let server = StandInServer { _ in .bytes(StandInServer.answer(307, "", headers: [location])) }
        defer { for server in [thief, server] { server.stop() } }
        #expect(try await failure(server) == .status(307, message: ""))
        #expect(thief.requests.isEmpty)
    }

    @Test func `a rewrap that is cancelled ends at once`() async throws {
        let server = StandInServer { _ in .silence(after: []) }
        defer { server.stop() }
        let header = try MiniatureKAS().sealer().headerBytes
        let client = KASRewrapClient(configuration: KASConfiguration(url: server.url, timeout: .seconds(50)))
        let task = Task { () async -> KeyAccessError? in
            do throws(KeyAccessError) {
                _ = try await client.rewrap(header: header)
                return nil
            } catch {
                return error
            }
        }
        while server.requests.isEmpty { await Task.yield() }
        task.cancel()
        #expect(await task.value == .cancelled)
    }
}
