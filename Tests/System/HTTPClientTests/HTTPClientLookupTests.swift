import TestSupport
import Testing

@testable import HTTPClient

@Suite(
    .ownThread, .serialized, .timeLimit(.minutes(15)),
    .enabled(if: HangingLookup.isInterposed, "linked without --export-dynamic-symbol=getaddrinfo"))
struct HTTPClientLookupTests {
    @Test func `a cancelled request whose look-up hangs does not keep others waiting`() async throws {
        let lookup = HangingLookup.shared
        lookup.hold()
        defer { lookup.release() }
        let server = StandInServer { _ in .bytes(StandInServer.answer(200, "")) }
        defer { server.stop() }
        let client = HTTPClient(configuration: .init(plainHTTP: .anywhere))
        let hanging = Task {
            defer { lookup.over() }
            _ = try await client.send(
                HTTPRequest(
                    url: "http://\(lookup.host)/", connectTimeout: .seconds(600), totalTimeout: .seconds(600)))
        }
        #expect(await lookup.begun())
        hanging.cancel()
        await #expect(throws: HTTPClientError.cancelled) { try await hanging.value }
        // The look-up still hangs, so the thread has this to do or stands still until the suite's limit.
        let request = HTTPRequest(url: server.url, connectTimeout: .seconds(600), totalTimeout: .seconds(600))
        #expect(try await client.send(request).status == 200)
    }
}
