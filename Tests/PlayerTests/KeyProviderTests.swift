import KeyAccessClient
import NanoTDF
import Testing

@testable import Player

struct KeyRequestTests {
    @Test func `a KAS that does not answer is asked for ever, at growing distances`() {
        var request = KeyRequest()
        let delays = (0..<8).map { _ in request.refused(.unavailable).map { $0 / 1_000_000 } }
        #expect(delays == [250, 500, 1000, 2000, 4000, 4000, 4000, 4000])
    }

    @Test func `a denial is believed when it was repeated`() {
        var request = KeyRequest()
        var delays: [UInt64] = []
        while let delay = request.refused(.denied) { delays.append(delay / 1_000_000) }
        #expect(delays == [250, 500, 1000, 2000, 2000])
    }

    @Test func `an outage between two denials begins the count anew`() {
        var request = KeyRequest()
        for _ in 0..<5 { #expect(request.refused(.denied) != nil) }
        #expect(request.refused(.unavailable) != nil)
        #expect(request.refused(.denied) != nil)
    }
}

/// A stand-in KAS that does everything but its work.
@Suite(.timeLimit(.minutes(1)))
struct KASKeyProviderTests {
    /// - Parameter timeout: short only for a server that never answers: a busy machine may be slow to.
    private func refusal(_ server: StandInServer, timeout: Duration = .seconds(50)) async throws -> KeyRefusal? {
        let header = try SealedStream.Collection().sealer.headerBytes
        let provider = KASKeyProvider(
            KASConfiguration(url: server.url, token: .value("viewer-secret"), timeout: timeout))
        do throws(KeyRefusal) {
            _ = try await provider.key(forHeader: header)
            return nil
        } catch {
            return error
        }
    }

    @Test func `garbage, 500, silence and half an answer are worth another try`() async throws {
        let replies: [StandInServer.Reply] = [
            .bytes(StandInServer.answer(200, "<html>")), .bytes(StandInServer.answer(500, "{}")),
            .silence(after: []), .silence(after: Array(StandInServer.answer(200, "{}").dropLast())),
            .last(Array("no HTTP at all\r\n".utf8)),
        ]
        for reply in replies {
            let server = StandInServer { _ in reply }
            defer { server.stop() }
            let timeout: Duration = if case .silence = reply { .milliseconds(200) } else { .seconds(50) }
            let refusal = try #require(try await refusal(server, timeout: timeout))
            #expect(refusal.kind == .unavailable)
            #expect(!refusal.reason.contains("viewer-secret"))
        }
    }

    @Test(arguments: [400, 401, 403, 404])
    func `a KAS that knows us and says no has denied the key`(status: Int) async throws {
        let server = StandInServer { _ in
            .bytes(StandInServer.answer(status, #"{"code":"c","error":"e","message":"m"}"#))
        }
        defer { server.stop() }
        #expect(try await refusal(server)?.kind == .denied)
    }

    @Test func `only the configured KAS is asked, whatever the header's locator says`() async throws {
        let server = StandInServer { _ in .bytes(StandInServer.answer(503, "{}")) }
        defer { server.stop() }
        _ = try await refusal(server)
        #expect(server.requests.map(\.line) == ["POST /kas/v2/rewrap HTTP/1.1"])
        #expect(server.requests.first?.headers["authorization"] == "Bearer viewer-secret")
    }
}
