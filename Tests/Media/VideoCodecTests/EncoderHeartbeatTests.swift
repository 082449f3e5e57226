import Media
import Synchronization
import Testing

@testable import VideoCodec

@Suite struct EncoderHeartbeatTests {
    private struct Failed: Error {}

    @Test func `it is busy while a call runs, and beats when it ends`() throws {
        let heartbeat = EncoderHeartbeat()
        #expect(heartbeat.busySince == nil && heartbeat.beats == 0)
        let before = SourceClock.now
        heartbeat.during {
            let since = heartbeat.busySince
            #expect(since.map { (before...SourceClock.now).contains($0) } == true)
            // An inner call is part of the outer one.
            heartbeat.during { #expect(heartbeat.busySince == since) }
            #expect(heartbeat.busySince == since && heartbeat.beats == 0)
        }
        #expect(heartbeat.busySince == nil && heartbeat.beats == 1)
        #expect(throws: Failed.self) { try heartbeat.during { throw Failed() } }
        #expect(heartbeat.busySince == nil && heartbeat.beats == 2)
    }

    @Test func `a call that lasts is seen from another thread`() async {
        let heartbeat = EncoderHeartbeat()
        let mayEnd = Mutex(false)
        async let call: Void = onThread {
            heartbeat.during {
                while !mayEnd.withLock({ $0 }) { _ = SourceClock().wait(until: SourceClock.now + 1_000_000) }
            }
        }
        while heartbeat.busySince == nil { await Task.yield() }
        let since = heartbeat.busySince ?? 0
        #expect(heartbeat.isStuck(longerThan: 1_000_000_000, now: since + 1_000_000_001))
        #expect(!heartbeat.isStuck(longerThan: 1_000_000_000, now: since + 1_000_000_000))
        #expect(!heartbeat.isStuck(longerThan: 1_000_000_000, now: since - 1))
        mayEnd.withLock { $0 = true }
        await call
        #expect(!heartbeat.isStuck(longerThan: 0, now: .max))
    }

    @Test func `each call of an encoder beats`() throws {
        let heartbeat = EncoderHeartbeat()
        var encoder: VideoEncoder? = try VideoEncoder(Pattern.configuration(), heartbeat: heartbeat)
        let opened = heartbeat.beats
        #expect(opened == 1)
        _ = try encoder?.encode(Pattern.frame(0), at: .zero)
        let encoded = heartbeat.beats
        // One frame in, one packet out, and no second one.
        #expect(encoded == opened + 3)
        _ = try encoder?.finish()
        #expect(heartbeat.beats > encoded)
        let finished = heartbeat.beats
        encoder = nil
        #expect(heartbeat.beats == finished + 1)
        #expect(heartbeat.busySince == nil)
    }
}
