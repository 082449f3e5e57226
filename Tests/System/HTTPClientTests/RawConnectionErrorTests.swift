import Glibc
import TestSupport
import Testing

@testable import HTTPClient

@Suite(.ownThread, .timeLimit(.minutes(15)))
struct RawConnectionErrorTests {
    private func failure(
        _ options: RawConnection.Options, isCancelled: () -> Bool = { false }
    ) -> HTTPClientError? {
        do throws(HTTPClientError) {
            _ = try RawConnection(options, isCancelled: isCancelled)
            return nil
        } catch {
            return error
        }
    }

    @Test func `nothing listens`() {
        let (descriptor, port) = deafPort()
        defer { close(descriptor) }
        for trust in [nil, HTTPTrust.firstUse] {
            let error = failure(.init(host: "127.0.0.1", port: port, trust: trust))
            #expect(error == .unreachable(host: "127.0.0.1", reason: "Connection refused"))
        }
    }

    @Test func `a name without an address`() {
        guard case .unreachable(let host, _)? = failure(.init(host: "camera.invalid", port: 554)) else {
            Issue.record("it has one")
            return
        }
        #expect(host == "camera.invalid")
    }

    @Test(arguments: [
        "", "a b", "a/b", "user@host", "host:554", "[::1]", "a\0b", "a?b", "a#b", "::1/64", "host\r\nX: y",
        String(repeating: "a", count: 300),
    ])
    func `an invalid host is refused`(host: String) {
        guard case .invalidURL? = failure(.init(host: host, port: 554, connectTimeout: .seconds(60))) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func `port 0 is refused`() {
        guard case .invalidURL? = failure(.init(host: "127.0.0.1", port: 0)) else {
            Issue.record("accepted")
            return
        }
    }

    @Test func `a peer that never answers is left at the deadline`() {
        // The kernel accepts; nothing speaks TLS.
        let hole = BlackHole(answersSYN: true)
        #expect(
            failure(.init(host: "127.0.0.1", port: hole.port, trust: .firstUse, connectTimeout: .milliseconds(300)))
                == .connectTimedOut(host: "127.0.0.1", after: .milliseconds(300)))
    }

    @Test func `a host that is not there is left at the deadline`() {
        let hole = BlackHole(answersSYN: false)
        #expect(
            failure(.init(host: "127.0.0.1", port: hole.port, connectTimeout: .milliseconds(300)))
                == .connectTimedOut(host: "127.0.0.1", after: .milliseconds(300)))
    }

    @Test(arguments: [true, false])
    func `a connect is cancelled long before its deadline`(answersSYN: Bool) {
        let hole = BlackHole(answersSYN: answersSYN)
        var asked = 0
        // The suite's own limit comes before this one.
        let options = RawConnection.Options(
            host: "127.0.0.1", port: hole.port, trust: .firstUse, connectTimeout: .seconds(600))
        let error = failure(options) {
            asked += 1
            return asked == 5
        }
        #expect(error == .cancelled)
        #expect(asked == 5)
    }

    @Test func `cancelled from the beginning`() throws {
        #expect(failure(.init(host: "127.0.0.1", port: 1)) { true } == .cancelled)
    }

    @Test func `TLS with a peer that speaks something else`() throws {
        try #require(PythonPeer.isInstalled)
        let peer = try PythonPeer.raw(.text)
        guard case .tlsFailed(let host, _)? = failure(.init(host: "127.0.0.1", port: peer.port, trust: .firstUse))
        else {
            Issue.record("accepted")
            return
        }
        #expect(host == "127.0.0.1")
    }
}
