import Testing

@testable import RTSPIngest

private let second: UInt64 = 1_000_000_000

@Suite struct FreezeWatchTests {
    /// Feeds pictures at a steady rate and gives the instant of the last one.
    private func run(_ watch: inout FreezeWatch, from begin: UInt64, rate: Double, seconds: Double) -> UInt64 {
        var now = begin
        let count = Int(seconds * rate)
        for picture in 0...count {
            now = begin + UInt64(Double(picture) / rate * 1e9)
            #expect(watch.finding(at: now) == nil)
            watch.pictureArrived(at: now)
        }
        return now
    }

    @Test func `three seconds without a packet are a freeze`() {
        var watch = FreezeWatch(rate: 25, at: 0)
        let last = run(&watch, from: 0, rate: 25, seconds: 20)
        #expect(watch.nextDeadline == last + 3 * second)
        #expect(watch.finding(at: last + 3 * second - 1) == nil)
        #expect(watch.finding(at: last + 3 * second) == .frozen)
    }

    @Test func `in the first ten seconds it takes five, because bursts are not known yet`() {
        var watch = FreezeWatch(rate: nil, at: 0)
        let last = run(&watch, from: 0, rate: 25, seconds: 3)
        #expect(watch.finding(at: last + 5 * second - 1) == nil)
        #expect(watch.finding(at: last + 5 * second) == .frozen)
    }

    @Test(arguments: [(1.0, 5.0), (0.5, 8.0), (0.2, 17.0)])
    func `at low rates it is three pictures and two seconds`(rate: Double, limit: Double) {
        // Below a picture in 5 s it has to be promised, or the first distance is taken for a freeze.
        var watch = FreezeWatch(rate: rate < 0.25 ? rate : nil, at: 0)
        let last = run(&watch, from: 0, rate: rate, seconds: 60 / rate)
        let deadline = last + UInt64(limit * 1e9)
        #expect(watch.finding(at: deadline - second / 100) == nil)
        #expect(watch.finding(at: deadline) == .frozen)
    }

    @Test func `a promised low rate counts before it is measured`() {
        var watch = FreezeWatch(rate: 0.5, at: 0)
        watch.pictureArrived(at: second)
        #expect(watch.finding(at: 8 * second) == nil)
        #expect(watch.finding(at: 9 * second) == .frozen)
    }

    @Test func `a camera that sends whole groups at once is not frozen between them`() {
        var watch = FreezeWatch(rate: 25, at: 0)
        var now: UInt64 = second / 10
        for _ in 0..<30 {
            for _ in 0..<100 {
                watch.pictureArrived(at: now)
                now += 100_000
            }
            now += 4 * second - 10_000_000
            #expect(watch.finding(at: now) == nil)
        }
        // Its end is still found in time.
        #expect(watch.finding(at: now - 4 * second + 6 * second) == .frozen)
    }

    @Test func `packets without a picture are not life for longer than a group`() {
        var watch = FreezeWatch(rate: 25, at: 0)
        let last = run(&watch, from: 0, rate: 25, seconds: 20)
        var now = last
        while now < last + 10 * second {
            #expect(watch.finding(at: now) == nil)
            watch.packetArrived(at: now)
            now += second / 50
        }
        #expect(watch.finding(at: now) == .noKeyFrame)
        #expect(watch.nextDeadline <= now)
    }

    @Test func `no first key frame within a group is found, and so is nothing at all`() {
        var watch = FreezeWatch(rate: nil, at: 7 * second)
        #expect(watch.finding(at: 17 * second - 1) == nil)
        #expect(watch.finding(at: 17 * second) == .silent)
        watch.packetArrived(at: 8 * second)
        #expect(watch.finding(at: 17 * second - 1) == nil)
        #expect(watch.finding(at: 17 * second) == .noKeyFrame)
        watch.pictureArrived(at: 16 * second)
        #expect(watch.finding(at: 17 * second) == nil)
    }

    @Test func `instants out of order and at the end of the range do not trap`() {
        var watch = FreezeWatch(rate: .nan, at: 10)
        watch.pictureArrived(at: .max)
        watch.pictureArrived(at: 5)
        watch.packetArrived(at: 0)
        _ = watch.finding(at: .max)
        _ = watch.finding(at: 0)
        _ = watch.nextDeadline
        #expect(FreezeWatch(rate: -1, at: 0).interval == 0)
        #expect(FreezeWatch(rate: .infinity, at: 0).interval == 0)
    }
}
