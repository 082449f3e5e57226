import Testing

@testable import RTSPIngest

private let second: UInt64 = 1_000_000_000

@Suite struct FreezeWatchTests {
    /// Feeds frames at a steady rate and gives the instant of the last one.
    private func run(_ watch: inout FreezeWatch, from begin: UInt64, rate: Double, seconds: Double) -> UInt64 {
        var now = begin
        let count = Int(seconds * rate)
        for frame in 0...count {
            now = begin + UInt64(Double(frame) / rate * 1e9)
            #expect(watch.finding(at: now) == nil)
            watch.frameArrived(at: now)
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
    func `at low rates it is three frames and two seconds`(rate: Double, limit: Double) {
        // Below a frame in 5 s it must be announced, or the first distance is taken for a freeze.
        var watch = FreezeWatch(rate: rate < 0.25 ? rate : nil, at: 0)
        let last = run(&watch, from: 0, rate: rate, seconds: 60 / rate)
        let deadline = last + UInt64(limit * 1e9)
        #expect(watch.finding(at: deadline - second / 100) == nil)
        #expect(watch.finding(at: deadline) == .frozen)
    }

    @Test func `a promised low rate counts before it is measured`() {
        var watch = FreezeWatch(rate: 0.5, at: 0)
        watch.frameArrived(at: second)
        #expect(watch.finding(at: 8 * second) == nil)
        #expect(watch.finding(at: 9 * second) == .frozen)
    }

    @Test func `a camera that sends whole groups at once is not frozen between them`() {
        var watch = FreezeWatch(rate: 25, at: 0)
        var now: UInt64 = second / 10
        for _ in 0..<30 {
            for _ in 0..<100 {
                watch.frameArrived(at: now)
                now += 100_000
            }
            now += 4 * second - 10_000_000
            #expect(watch.finding(at: now) == nil)
        }
        // Its end is still found in time.
        #expect(watch.finding(at: now - 4 * second + 6 * second) == .frozen)
    }

    @Test func `packets without a frame are not life for longer than a group`() {
        var watch = FreezeWatch(rate: 25, at: 0)
        let last = run(&watch, from: 0, rate: 25, seconds: 20)
        var now = last
        while now < last + 10 * second {
            #expect(watch.finding(at: now) == nil)
            watch.packetArrived(at: now)
            now += second / 50
        }
        #expect(watch.finding(at: now) == .noKeyFrame(seconds: 10))
        #expect(watch.nextDeadline <= now)
    }

    @Test func `no first key frame within a group is found, and so is nothing at all`() {
        var watch = FreezeWatch(rate: nil, at: 7 * second)
        #expect(watch.finding(at: 17 * second - 1) == nil)
        #expect(watch.finding(at: 17 * second) == .silent)
        watch.packetArrived(at: 8 * second)
        #expect(watch.finding(at: 17 * second - 1) == nil)
        #expect(watch.finding(at: 17 * second) == .noKeyFrame(seconds: 10))
        watch.frameArrived(at: 16 * second)
        #expect(watch.finding(at: 17 * second) == nil)
    }

    @Test func `instants out of order and at the end of the range do not trap`() {
        var watch = FreezeWatch(rate: .nan, at: 10)
        watch.frameArrived(at: .max)
        watch.frameArrived(at: 5)
        watch.packetArrived(at: 0)
        _ = watch.finding(at: .max)
        _ = watch.finding(at: 0)
        _ = watch.nextDeadline
        #expect(FreezeWatch(rate: -1, at: 0).interval == 0)
        #expect(FreezeWatch(rate: .infinity, at: 0).interval == 0)
    }

    // MARK: - Long groups

    /// 25 whole frames a second that wait for a key frame, until one comes or something is found.
    private func wait(
        _ watch: inout FreezeWatch, from begin: UInt64, keyFrameAfter seconds: UInt64, isWhole: Bool = true
    ) -> (finding: FreezeWatch.Finding?, at: UInt64) {
        var now = begin
        while now < begin + seconds * second {
            if let finding = watch.finding(at: now) { return (finding, now - begin) }
            if isWhole { watch.frameSkipped(at: now) } else { watch.packetArrived(at: now) }
            now += second / 25
        }
        watch.frameArrived(at: now, isKeyFrame: true)
        return (nil, now - begin)
    }

    @Test(arguments: [11, 30, 60] as [UInt64]) func `key frames up to a minute apart are waited for`(group: UInt64) {
        var watch = FreezeWatch(rate: 25, at: 0)
        #expect(wait(&watch, from: 0, keyFrameAfter: group) == (nil, group * second))
        // And after a loss.
        let begin = run(&watch, from: group * second, rate: 25, seconds: Double(group) / 2)
        #expect(wait(&watch, from: begin, keyFrameAfter: group).finding == nil)
        // Now their distance is known.
        let later = begin + group * second
        #expect(wait(&watch, from: later, keyFrameAfter: group).finding == nil)
    }

    @Test func `a camera that sends no key frame at all is given a minute`() {
        var watch = FreezeWatch(rate: 25, at: 0)
        let (finding, at) = wait(&watch, from: 0, keyFrameAfter: 3600)
        #expect(finding == .noKeyFrame(seconds: 66))
        #expect(at == 66 * second)
        #expect(!watch.isWaitingLong(at: 10 * second - 1))
        #expect(watch.isWaitingLong(at: 10 * second))
    }

    @Test func `a camera whose key frames were close is found after ten seconds, as before`() {
        var watch = FreezeWatch(rate: 25, at: 0)
        for group in 0..<10 as Range<UInt64> { watch.frameArrived(at: group * 2 * second, isKeyFrame: true) }
        let (finding, at) = wait(&watch, from: 18 * second + 1, keyFrameAfter: 3600)
        #expect(finding == .noKeyFrame(seconds: 10))
        #expect(at <= 10 * second + second / 25)
    }

    @Test func `packets of which nothing whole comes are found after ten seconds`() {
        var watch = FreezeWatch(rate: 25, at: 0)
        let (finding, at) = wait(&watch, from: 0, keyFrameAfter: 3600, isWhole: false)
        #expect(finding == .noKeyFrame(seconds: 10))
        #expect(at == 10 * second)
    }

    @Test func `a freeze while a key frame is waited for is found as fast as any`() {
        var watch = FreezeWatch(rate: 25, at: 0)
        _ = wait(&watch, from: 0, keyFrameAfter: 30)
        let begin = run(&watch, from: 30 * second, rate: 25, seconds: 20)
        var now = begin
        while now < begin + 20 * second {
            watch.frameSkipped(at: now)
            now += second / 25
        }
        let last = now - second / 25
        #expect(watch.finding(at: last + 3 * second - 1) == nil)
        #expect(watch.finding(at: last + 3 * second) == .frozen)
        #expect(watch.nextDeadline == last + 3 * second)
        // Before the first frame, too: audio would go on.
        var fresh = FreezeWatch(rate: 25, at: 0)
        for frame in 0..<25 as Range<UInt64> { fresh.frameSkipped(at: frame * second / 25) }
        #expect(fresh.finding(at: 6 * second) == .frozen)
    }

    // MARK: - Groups of which nothing is known

    @Test(arguments: [0, 1900] as [UInt64])
    func `a loss behind the only key frame, which came with PLAY, is found after ten seconds`(milliseconds: UInt64) {
        var watch = FreezeWatch(rate: 25, at: 0)
        watch.frameArrived(at: milliseconds * 1_000_000, isKeyFrame: true)
        let begin = run(&watch, from: 2 * second, rate: 25, seconds: 3)
        let (finding, at) = wait(&watch, from: begin + 1, keyFrameAfter: 3600)
        #expect(finding == .noKeyFrame(seconds: 10))
        #expect(at <= 10 * second + second / 25)
    }

    @Test func `a loss behind the only key frame is waited out where PLAY did not bring it`() {
        var watch = FreezeWatch(rate: 25, at: 0)
        _ = wait(&watch, from: 0, keyFrameAfter: 3)
        let begin = run(&watch, from: 3 * second, rate: 25, seconds: 3)
        #expect(wait(&watch, from: begin, keyFrameAfter: 60).finding == nil)
    }

    @Test func `what an earlier session showed counts after a loss, and not at the start`() {
        // Short groups: a reconnection soon, though this session's first key frame was long in coming.
        var watch = FreezeWatch(rate: 25, earlierGroup: 2 * second, at: 0)
        #expect(wait(&watch, from: 0, keyFrameAfter: 60).finding == nil)
        var begin = run(&watch, from: 60 * second, rate: 25, seconds: 3)
        #expect(wait(&watch, from: begin + 1, keyFrameAfter: 3600).finding == .noKeyFrame(seconds: 10))
        // Long ones: the next is waited for, even where the first came with PLAY.
        watch = FreezeWatch(rate: 25, earlierGroup: 30 * second, at: 0)
        watch.frameArrived(at: second, isKeyFrame: true)
        begin = run(&watch, from: 2 * second, rate: 25, seconds: 3)
        #expect(wait(&watch, from: begin, keyFrameAfter: 30).finding == nil)
        #expect(watch.knownGroup == 34 * second)
    }

    @Test(arguments: [0, 100, 1500], [10, 30, 60] as [UInt64])
    func `a wait for a key frame is not a gap between frames`(frames: Int, seconds: UInt64) {
        var watch = FreezeWatch(rate: 25, earlierGroup: seconds * second, at: 0)
        _ = wait(&watch, from: 0, keyFrameAfter: 11)
        var last = 11 * second
        for frame in 0...frames {
            last = 11 * second + UInt64(frame) * second / 25
            watch.frameArrived(at: last)
        }
        let begin = last + second / 25
        #expect(wait(&watch, from: begin, keyFrameAfter: seconds).finding == nil)
        last = begin + seconds * second
        for frame in 0..<5 as Range<UInt64> {
            last = begin + seconds * second + frame * second / 25
            watch.frameArrived(at: last)
        }
        #expect(watch.finding(at: last + 3 * second - 1) == nil)
        #expect(watch.finding(at: last + 3 * second) == .frozen)
    }
}
