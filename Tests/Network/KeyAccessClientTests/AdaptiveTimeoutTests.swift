import HTTPClient
import Settings
import Synchronization
import Testing

@testable import KeyAccessClient

struct AdaptiveTimeoutTests {
    /// Of a KAS that swallows so many tries.
    private static func swallowed(_ count: Int, by timeout: inout AdaptiveTimeout) -> [AdaptiveTimeout.Limit] {
        (0..<count).map { _ in
            defer { timeout.timedOut() }
            return timeout.next
        }
    }

    @Test func `a KAS that swallows requests is asked shortly three times of four`() {
        var timeout = AdaptiveTimeout()
        let cycle = [AdaptiveTimeout.Limit.short, .short, .short, .configured]
        #expect(Self.swallowed(8, by: &timeout) == cycle + cycle)
        // Back, and away again.
        timeout.answered(timeout.next, after: .seconds(1))
        #expect(Self.swallowed(4, by: &timeout) == cycle)
        // Short tries alone come to 2 s: a SYN's repetition after 1 s is within the connection's limit.
        #expect(AdaptiveTimeout.connect <= .seconds(2) && AdaptiveTimeout.total <= .seconds(4))
    }

    @Test func `a slow link that has answered is given its time until it is fast`() {
        var timeout = AdaptiveTimeout()
        #expect(Self.swallowed(3, by: &timeout) == [.short, .short, .short])
        for seconds in [7, 5, 9, 4, 3] {
            #expect(timeout.next == .configured)
            timeout.answered(.configured, after: .seconds(seconds))
        }
        // A short try would have had that, too.
        timeout.answered(timeout.next, after: .milliseconds(1900))
        #expect(timeout.next == .short)
    }

    /// The KAS has died behind the slow link: back within 2 s is what a short try gives.
    @Test func `a slow link that falls silent costs one long try, and then short ones`() {
        var timeout = AdaptiveTimeout()
        _ = Self.swallowed(3, by: &timeout)
        timeout.answered(.configured, after: .seconds(6))
        #expect(Self.swallowed(5, by: &timeout) == [.configured, .short, .short, .configured, .short])
    }

    @Test func `a short try's answer is never slow, and a refusal says nothing about the link`() {
        var timeout = AdaptiveTimeout()
        // Sent again within its limits.
        timeout.answered(.short, after: .milliseconds(3900))
        #expect(timeout.next == .short)
        _ = Self.swallowed(3, by: &timeout)
        timeout.refused()
        #expect(timeout.next == .short)
        _ = Self.swallowed(3, by: &timeout)
        timeout.answered(.configured, after: .seconds(8))
        timeout.refused()
        #expect(timeout.next == .configured)
    }

    // MARK: - The requests

    /// A KAS behind a slow link, and the clock that its answers move.
    private final class SlowLink: KASTransport {
        private let state: Mutex<(now: UInt64, delay: UInt64, limits: [Duration])>

        init(seconds: UInt64) { state = Mutex((0, seconds * 1_000_000_000, [])) }

        var now: UInt64 { state.withLock { $0.now } }
        /// The whole time that each request was given.
        var limits: [Duration] { state.withLock { $0.limits } }
        func becomes(seconds: UInt64) { state.withLock { $0.delay = seconds * 1_000_000_000 } }

        func send(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
            if Task.isCancelled { throw .cancelled }
            let delay = state.withLock { state in
                state.limits.append(request.totalTimeout)
                let limit = UInt64(request.totalTimeout / .nanoseconds(1))
                state.now += min(limit, state.delay)
                return state.delay
            }
            guard delay < UInt64(request.totalTimeout / .nanoseconds(1)) else {
                throw .timedOut(host: "kas.example", after: request.totalTimeout)
            }
            return HTTPResponse(status: 200, headers: [], body: [])
        }
    }

    private static func connection(_ link: SlowLink) -> KASConnection {
        KASConnection(KASConfiguration(url: "https://kas.example"), link, uptime: { link.now })
    }

    /// - Returns: tries until it had an answer.
    private static func ask(_ connection: KASConnection, _ timeout: SharedAdaptiveTimeout) async -> Int {
        for count in 1...20 {
            if (try? await connection.send(.get, "/", authorised: false, adaptiveTimeout: timeout)) != nil {
                return count
            }
        }
        return .max
    }

    @Test func `each collection after the first is registered with one request over a slow link`() async {
        let link = SlowLink(seconds: 6)
        let connection = Self.connection(link)
        let timeout = SharedAdaptiveTimeout()
        #expect(await Self.ask(connection, timeout) == 4)
        for _ in 0..<3 { #expect(await Self.ask(connection, timeout) == 1) }
        link.becomes(seconds: 1)
        #expect(await Self.ask(connection, timeout) == 1)
        #expect(await Self.ask(connection, timeout) == 1)
        #expect(link.limits.last == AdaptiveTimeout.total)
    }

    /// The camera gives up a registration that it waits for after 3 s: that says nothing of the KAS.
    @Test func `a try that was given up does not begin the count again`() async {
        let link = SlowLink(seconds: 6)
        let connection = Self.connection(link)
        let timeout = SharedAdaptiveTimeout()
        for _ in 0..<3 { _ = try? await connection.send(.get, "/", authorised: false, adaptiveTimeout: timeout) }
        let given = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try? await connection.send(.get, "/", authorised: false, adaptiveTimeout: timeout)
        }
        await given.value
        #expect(await Self.ask(connection, timeout) == 1)
    }
}
