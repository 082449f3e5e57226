import NanoTDF
import Settings
import Testing

@testable import Player

struct KeyRequestTests {
    private static let second: UInt64 = 1_000_000_000

    @Test(arguments: [true, false])
    func `a KAS that does not answer is asked for ever, twice a second at least`(hasPlayed: Bool) throws {
        for random in [0, .max / 2, .max] as [UInt64] {
            var request = KeyRequest(at: 0)
            var now: UInt64 = 0
            // A day.
            while now < 86_400 * Self.second {
                let answer = request.refused(.unavailable, hasPlayed: hasPlayed, at: now, random: random)
                let pause = try #require(answer)
                #expect(pause <= KeyRequest.maxPause && pause >= 125_000_000)
                now += pause + 60 * Self.second
            }
        }
    }

    @Test func `a refusal of a viewer that never played is believed after 30 s`() {
        var request = KeyRequest(at: 0)
        var now: UInt64 = 0
        while let pause = request.refused(.denied, hasPlayed: false, at: now, random: .max) {
            #expect(pause <= KeyRequest.maxPause)
            now += pause
        }
        #expect(now >= 30 * Self.second && now < 31 * Self.second)
    }

    @Test func `behind an outage, publishers have as long to register as at the beginning`() {
        var request = KeyRequest(at: 0)
        let back = 3600 * Self.second
        #expect(request.refused(.unavailable, hasPlayed: false, at: back, random: 0) != nil)
        #expect(request.refused(.denied, hasPlayed: false, at: back + 29 * Self.second, random: 0) != nil)
        #expect(request.refused(.denied, hasPlayed: false, at: back + 30 * Self.second, random: 0) == nil)
    }

    @Test func `a viewer that has played asks on, whatever the answer`() throws {
        var request = KeyRequest(at: 0)
        for hour in 1..<100 as Range<UInt64> {
            let answer = request.refused(.denied, hasPlayed: true, at: hour * 3600 * Self.second, random: hour)
            let pause = try #require(answer)
            #expect(pause <= KeyRequest.believedPause && pause >= KeyRequest.believedPause / 2)
        }
        #expect(request.isRefused)
    }

    @Test func `headers that a relay makes up end no request for the genuine one`() {
        let genuine = KeyRequest(at: 0)
        // The KAS is slow with the genuine one, and with the others as well, or refuses them.
        var requests = [genuine] + (1...3).map { KeyRequest(at: $0) }
        #expect(KeyRequest.dispensable(of: requests, at: 4) == 3)
        _ = requests[1].refused(.denied, hasPlayed: true, at: 4, random: 0)
        _ = requests[2].refused(.denied, hasPlayed: true, at: 4, random: 0)
        #expect(KeyRequest.dispensable(of: requests, at: 4) == 2)
        // In a long outage the oldest goes: its frames are over.
        requests = (0..<4).map { KeyRequest(at: UInt64($0) * 60 * Self.second) }
        #expect(KeyRequest.dispensable(of: requests, at: 240 * Self.second) == 0)
    }
}

/// A stand-in KAS that does everything but its work.
@Suite(.timeLimit(.minutes(15)))
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
