import Archive
import Testing

@testable import Recording

/// When what is recorded was not seen live, as a dialogue.
struct LiveGapLogTests {
    private static let second: UInt64 = 1_000_000_000
    /// Milliseconds since 1970 at 0.
    private static let wall: Int64 = 1_800_000_000_000

    private static func gaps(
        _ log: LiveGapLog, since oldest: Int64? = wall, at now: UInt64 = 1 << 60, ahead: Int64 = 0
    ) -> [LiveGap] {
        log.gaps(since: oldest, at: now) { wall + ahead + Int64($0 / 1_000_000) }
    }

    private static func gap(_ from: Int64, _ to: Int64?) -> LiveGap {
        LiveGap(from: wall + from * 1000, to: to.map { wall + $0 * 1000 })
    }

    @Test func `until something gets to a relay nothing is seen live`() {
        var log = LiveGapLog(at: 10 * Self.second)
        log.take(former: [])
        #expect(log.isChanged && Self.gaps(log) == [Self.gap(10, nil)])
        // Two seconds are none, and that one lasts longer is not known before.
        #expect(log.isUndecided(at: 12 * Self.second) && !log.isUndecided(at: 13 * Self.second))
        #expect(Self.gaps(log, at: 12 * Self.second) == [])
        #expect(Self.gaps(log, at: 13 * Self.second) == [Self.gap(10, nil)])
        log.published(true, from: 20 * Self.second)
        #expect(Self.gaps(log) == [Self.gap(10, 20)])
        log.published(false, from: 40 * Self.second)
        #expect(Self.gaps(log) == [Self.gap(10, 20), Self.gap(40, nil)])
        log.published(true, from: 50 * Self.second)
        #expect(Self.gaps(log) == [Self.gap(10, 20), Self.gap(40, 50)])
    }

    @Test func `a start without an outage is none, and neither is what was over before the oldest recording`() {
        var log = LiveGapLog(at: 10 * Self.second)
        log.take(former: [])
        log.published(true, from: 12 * Self.second)
        #expect(Self.gaps(log) == [])
        log.published(false, from: 20 * Self.second)
        log.published(true, from: 30 * Self.second)
        #expect(Self.gaps(log) == [Self.gap(20, 30)])
        #expect(Self.gaps(log, since: Self.wall + 30_000) == [])
        #expect(Self.gaps(log, since: nil) == [])
    }

    @Test func `a relay that comes and goes makes one gap`() {
        var log = LiveGapLog(at: 0)
        log.take(former: [])
        for instant in stride(from: 10 * Self.second, to: 100 * Self.second, by: Int(Self.second)) {
            log.published(true, from: instant)
            log.published(false, from: instant + Self.second / 2)
        }
        #expect(Self.gaps(log) == [Self.gap(0, nil)])
        // Said twice it is the same.
        log.published(false, from: 200 * Self.second)
        log.published(true, from: 300 * Self.second)
        log.published(true, from: 400 * Self.second)
        #expect(Self.gaps(log) == [Self.gap(0, 300)])
    }

    @Test func `what was not over when the process ended goes on until the next one publishes`() {
        var log = LiveGapLog(at: 100 * Self.second)
        log.take(former: [Self.gap(1, 9), Self.gap(60, nil)])
        #expect(Self.gaps(log) == [Self.gap(1, 9), Self.gap(60, nil)])
        log.published(true, from: 130 * Self.second)
        #expect(Self.gaps(log) == [Self.gap(1, 9), Self.gap(60, 130)])
        // One whose clock was ahead.
        var later = LiveGapLog(at: 100 * Self.second)
        later.take(former: [Self.gap(5000, nil)])
        later.published(true, from: 130 * Self.second)
        #expect(Self.gaps(later) == [Self.gap(100, 130)])
    }

    @Test func `a clock that is set moves this process's gaps, and no others`() {
        var log = LiveGapLog(at: 10 * Self.second)
        log.take(former: [Self.gap(1, 9)])
        log.published(true, from: 20 * Self.second)
        log.kept()
        #expect(!log.isChanged)
        log.clockChanged()
        #expect(log.isChanged && Self.gaps(log, ahead: 3_600_000) == [Self.gap(1, 9), Self.gap(3610, 3620)])
    }

    @Test func `an old gap that was not over ends where something got to a relay first, however much came after`() {
        var log = LiveGapLog(at: 100 * Self.second)
        log.take(former: [Self.gap(60, nil)])
        for number in 0..<UInt64(1500) {
            log.published(true, from: (number * 20 + 110) * Self.second)
            log.published(false, from: (number * 20 + 120) * Self.second)
        }
        #expect(Self.gaps(log).first == Self.gap(60, 110))
    }

    @Test func `what is none takes no other's place`() {
        var log = LiveGapLog(at: 0)
        log.take(former: [])
        log.published(true, from: 60 * Self.second)
        for number in 1..<UInt64(3000) {
            log.published(false, from: (number * 60 + 60) * Self.second)
            log.published(true, from: (number * 60 + 61) * Self.second)
        }
        #expect(Self.gaps(log) == [Self.gap(0, 60)])
    }

    @Test func `there is a bound to all of it`() {
        var log = LiveGapLog(at: 0)
        log.take(former: [])
        for number in 0..<UInt64(3000) {
            log.published(true, from: (number * 20 + 10) * Self.second)
            log.published(false, from: (number * 20 + 20) * Self.second)
        }
        let gaps = Self.gaps(log)
        #expect(gaps.count == RecordingDirectory.maxLiveGaps && gaps.last == Self.gap(60_000, nil))
        // Times that lie before the last ones are none that come out of a pump.
        log.published(true, from: 0)
        log.published(false, from: 0)
        #expect(Self.gaps(log).allSatisfy { gap in gap.to.map { $0 > gap.from } ?? true })
    }
}
