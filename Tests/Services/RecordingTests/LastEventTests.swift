import CameraModel
import Testing

@testable import Recording

struct LastEventTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `an event keeps its time while two clocks drift, and gets another when one is set`() {
        var last = LastEvent()
        #expect(last.event(nil, wall: 5_000_000, monotonic: 100 * Self.second) == nil)
        let motion = (cause: RecordingStatistics.Event.Cause.motion, instant: 90 * Self.second)
        #expect(last.event(motion, wall: 5_000_000, monotonic: 100 * Self.second)?.time == 4_990_000)
        #expect(last.event(motion, wall: 5_010_400, monotonic: 110 * Self.second)?.time == 4_990_000)
        #expect(last.event(motion, wall: 5_009_100, monotonic: 110 * Self.second)?.time == 4_990_000)
        #expect(last.event(motion, wall: 9_000_000, monotonic: 120 * Self.second)?.time == 8_970_000)
        #expect(last.event(motion, wall: 1000, monotonic: 130 * Self.second)?.time == -39_000)
    }

    @Test func `a new event has a new time`() {
        var last = LastEvent()
        _ = last.event((.motion, 90 * Self.second), wall: 5_000_000, monotonic: 100 * Self.second)
        let mark = last.event((.mark, 90 * Self.second), wall: 5_000_100, monotonic: 100 * Self.second)
        #expect(mark == .init(cause: .mark, time: 4_990_100))
        let next = last.event((.mark, 99 * Self.second), wall: 5_000_100, monotonic: 100 * Self.second)
        #expect(next?.time == 4_999_100)
    }
}
