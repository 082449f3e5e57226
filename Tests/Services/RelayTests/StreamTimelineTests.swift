import Testing

@testable import Relay

@Suite struct StreamTimelineTests {
    @Test func `a publisher's own times pass unchanged, also across 2^24 and 2^32`() {
        var line = StreamTimeline()
        for time: UInt32 in [16_777_200, 16_777_215, 16_777_216, 4_294_967_284, 21] {
            // From 16.7 million to 4.29 thousand million is a jump forward of 2^32 − 2^24: 49 days less 5 hours; as a
            // signed difference that is 4.7 hours back, and a new clock.
            if time == 4_294_967_284 { line = StreamTimeline() }
            #expect(line.frame(time, .video, at: 0) == time)
        }
        #expect(line.latest == 21)
    }

    @Test func `a small step back is clamped per track`() {
        var line = StreamTimeline()
        #expect(line.frame(1000, .video, at: 0) == 1000)
        #expect(line.frame(980, .audio, at: 0) == 980, "tracks interleave")
        #expect(line.frame(960, .video, at: 0) == 1000)
        #expect(line.frame(1040, .video, at: 0) == 1040)
    }

    @Test func `a jump back is a new clock, placed by the wall clock`() {
        var line = StreamTimeline()
        _ = line.frame(500_000, .video, at: .seconds(1))
        #expect(line.frame(0, .video, at: .seconds(1) + .milliseconds(40)) == 500_040)
        #expect(line.frame(20, .audio, at: .seconds(1) + .milliseconds(60)) == 500_060)
        #expect(line.frame(40, .video, at: .seconds(1) + .milliseconds(80)) == 500_080)
    }

    @Test func `a header that is stamped 0 in mid-stream takes the time around it`() {
        var line = StreamTimeline()
        #expect(line.header(77) == 77)
        _ = line.frame(5000, .video, at: 0)
        #expect(line.header(0) == 5000)
        #expect(line.header(5040) == 5040, "its own time fits")
        #expect(line.header(60_000) == 5000)
    }

    @Test func `after a return the clock of the first frame counts, not that of the headers`() {
        var line = StreamTimeline()
        _ = line.frame(100, .audio, at: 0)
        line.publisherChanged()
        #expect(line.header(0) == 100)
        #expect(line.frame(7000, .video, at: .milliseconds(900)) == 1000)
        #expect(line.frame(7033, .video, at: .milliseconds(933)) == 1033)
    }
}
