import RTMP
import Testing

struct ReconnectBackoffTests {
    @Test func `a young outage is probed often and an old one seldom`() throws {
        var backoff = ReconnectBackoff()
        var now: UInt64 = 100 * second
        var delays: [UInt64] = []
        for _ in 0..<24 {
            let given = backoff.delay(after: .transient, at: now, random: 0)
            let delay = try #require(given)
            delays.append(delay / 100_000_000)
            now += delay
        }
        #expect(delays.prefix(4) == [5, 10, 15, 15])
        #expect(delays.suffix(3) == [40, 40, 40])
        // While the outage is under 20 s no wait is longer than 1.5 s.
        var age: UInt64 = 0
        for delay in delays {
            if age < 200 { #expect(delay <= 15) }
            age += delay
        }
    }

    @Test(arguments: [0, 1, 12_345, .max, .max / 2] as [UInt64])
    func `jitter takes away at most half`(random: UInt64) throws {
        var backoff = ReconnectBackoff()
        let given = backoff.delay(after: .badName, at: 0, random: random)
        let delay = try #require(given)
        #expect((250_000_000...500_000_000).contains(delay))
    }

    @Test func `a stream of 30 s resets and a shorter one does not`() {
        var backoff = ReconnectBackoff()
        for _ in 0..<5 { _ = backoff.delay(after: .transient, at: 0, random: 0) }
        backoff.streamStarted(at: 10 * second)
        _ = backoff.delay(after: .transient, at: 39 * second, random: 0)
        #expect(backoff.attempts == 6)
        backoff.streamStarted(at: 40 * second)
        #expect(backoff.delay(after: .transient, at: 70 * second, random: 0) == second / 2)
        #expect(backoff.attempts == 1)
    }

    @Test func `a relay that restarts again and again is found within 1,5 s`() throws {
        var backoff = ReconnectBackoff()
        for restart in UInt64(0)..<1000 {
            backoff.streamStarted(at: restart * 3 * second)
            let given = backoff.delay(after: .transient, at: restart * 3 * second + second, random: 0)
            let delay = try #require(given)
            #expect(delay <= 3 * second / 2)
        }
    }

    @Test func `the class decides`() {
        var backoff = ReconnectBackoff()
        #expect(backoff.delay(after: .never, at: 0, random: 0) == nil)
        #expect(backoff.delay(after: .immediately, at: 0, random: 0) == 0)
        #expect(backoff.delay(after: .authentication, at: 0, random: 0) == 300 * second)
        #expect(backoff.attempts == 0)
    }

    @Test func `a clock that stands still or runs back does not trap`() {
        var backoff = ReconnectBackoff()
        backoff.streamStarted(at: 50)
        for _ in 0..<100 { _ = backoff.delay(after: .transient, at: 10, random: .max) }
        #expect(backoff.attempts == 100)
    }
}
