import RTP
import Testing

/// A camera whose clock is right, behind a line that has too little room for some seconds.
struct NarrowLineTests {
    private let perSecond: Double = 25

    private func video() -> WrongClock { WrongClock(clockRate: 90000, perSecond: perSecond) }

    /// When a unit comes through a line that from second 60 on, for so long, has room for a share of what is sent, and
    /// then for `after` times as much.
    private static func narrow(_ share: Double, for seconds: Double, after: Double) -> (Double) -> Double {
        { taken in
            guard taken > 60 else { return taken }
            let through = 60 + share * seconds
            if taken <= through { return 60 + (taken - 60) / share }
            return max(taken, 60 + seconds + (taken - through) / after)
        }
    }

    /// By so much longer is a unit on its way from second 60 on: rising and falling within so many seconds.
    private static func slow(_ latency: Double, rising: Double, holding: Double, falling: Double) -> (Double) -> Double
    {
        { taken in
            let since = taken - 60
            let left = rising + holding + falling - since
            return taken + latency * max(0, min(1, min(since / rising, left / falling)))
        }
    }

    @Test(arguments: [(0.15, 2), (0.15, 3), (0.18, 4), (0.1, 5), (0.02, 8)] as [(Double, Double)], [1.5, 2, 8])
    func `a line with hardly any room for some seconds makes no clock useless for ever`(
        dip: (share: Double, seconds: Double), after: Double
    ) {
        var video = video()
        let way = Self.narrow(dip.share, for: dip.seconds, after: after)
        var isReported = false
        for moment in stride(from: 0.2, through: 60 + 3 * dip.seconds + 20, by: 0.2) {
            video.run(to: moment, rate: { _ in 1 }, way: way)
            isReported = isReported || video.clock.basis != .camera
        }
        video.forget()
        video.run(to: 300, rate: { _ in 1 }, way: way)
        #expect(video.clock.basis == .camera && !isReported)
        #expect(video.leastStep > 0.999 && video.mostStep < 1.001, "steps of \(video.leastStep) to \(video.mostStep)")
        #expect(video.latest < 0.06 && video.earliest < 0.06, "\(video.latest) s late, \(video.earliest) s early")
        #expect(video.clock.timelines == 0)
    }

    @Test func `a clock that did not measure time and then runs right is believed again`() {
        var video = video()
        video.run(to: 20) { _ in 1 }
        // Its time stamps stand nearly still.
        video.run(to: 60) { _ in 0.1 }
        video.forget()
        #expect(video.clock.basis == .arrival)
        video.run(to: 150) { _ in 1 }
        #expect(video.clock.basis == .camera && video.clock.timelines == 1)
        video.forget()
        video.run(to: 300) { _ in 1 }
        #expect(video.leastStep > 0.999 && video.mostStep < 1.001)
    }

    @Test(arguments: [(0.5, 0.5), (0.5, 2), (0.5, 6), (0.7, 3), (0.3, 3), (0.9, 6)] as [(Double, Double)], [1.5, 2])
    func `a dip leaves nothing behind a few seconds later`(dip: (share: Double, seconds: Double), after: Double) {
        var video = video()
        var audio = WrongClock(clockRate: 8000, perSecond: 50, seed: 8)
        let way = Self.narrow(dip.share, for: dip.seconds, after: after)
        let drained = 60 + dip.seconds + dip.seconds * (1 - dip.share) / (after - 1)
        video.run(to: drained + 4, rate: { _ in 1 }, way: way)
        audio.run(to: drained + 4, rate: { _ in 1 }, way: way)
        #expect(video.clock.basis == .camera && audio.clock.basis == .camera)
        #expect(video.hasOrder && audio.hasOrder && video.clock.timelines == 0 && audio.clock.timelines == 0)
        #expect(abs((video.presented - video.taken) - (audio.presented - audio.taken)) < 0.03)
        video.forget()
        video.run(to: drained + 240, rate: { _ in 1 }, way: way)
        #expect(video.leastStep > 0.999 && video.mostStep < 1.001, "steps of \(video.leastStep) to \(video.mostStep)")
        #expect(video.latest < 0.06 && video.earliest < 0.06, "\(video.latest) s late, \(video.earliest) s early")
    }

    @Test(arguments: [(0.001, 5), (0.5, 0), (2, 3), (5, 0), (5, 20)] as [(Double, Double)], [0.3, 1])
    func `a latency that rises for a while stretches nothing for long`(
        ramp: (rising: Double, holding: Double), latency: Double
    ) {
        var video = video()
        let way = Self.slow(latency, rising: ramp.rising, holding: ramp.holding, falling: 1)
        let over = 60 + ramp.rising + ramp.holding + 1
        var isReported = false
        for moment in stride(from: 0.2, through: over + 4, by: 0.2) {
            video.run(to: moment, rate: { _ in 1 }, way: way)
            isReported = isReported || video.clock.basis != .camera
        }
        #expect(!isReported && video.hasOrder && video.clock.timelines == 0)
        video.forget()
        video.run(to: over + 240, rate: { _ in 1 }, way: way)
        #expect(video.leastStep > 0.999 && video.mostStep < 1.001, "steps of \(video.leastStep) to \(video.mostStep)")
        #expect(video.latest < 0.06 && video.earliest < 0.06, "\(video.latest) s late, \(video.earliest) s early")
    }

    @Test(arguments: [12, 20] as [Double], [2, 8] as [Double])
    func `what comes at once after a long narrow time needs no new timeline`(seconds: Double, after: Double) {
        var video = video()
        let way = Self.narrow(0.3, for: seconds, after: after)
        video.run(to: 200, rate: { _ in 1 }, way: way)
        #expect(video.hasOrder && video.clock.timelines == 0)
        #expect(video.earliest < 0.5, "\(video.earliest) s early")
        #expect(video.clock.basis == .camera)
    }

    @Test(arguments: [1.0008, 1.0007, 0.9992])
    func `a clock just outside of what a crystal does is not trusted over and over`(rate: Double) {
        var video = video()
        video.run(to: 1800) { _ in rate }
        video.forget()
        video.run(to: 7200) { _ in rate }
        #expect(video.latest < 0.1 && video.earliest < 0.1, "\(video.latest) s late, \(video.earliest) s early")
        #expect(video.leastStep > 0.99 && video.mostStep < 1.01)
    }

    @Test(arguments: [0.5, 0.84, 1, 1.25])
    func `frames out of order at a wrong rate`(rate: Double) {
        var video = WrongClock(clockRate: 90000, perSecond: perSecond, hasB: true)
        video.run(to: 20) { _ in rate }
        #expect(video.latest < 0.5 && video.earliest < 0.5, "\(video.latest) s late, \(video.earliest) s early")
        video.forget()
        video.run(to: 600) { _ in rate }
        #expect(video.inversions == 0 && video.crowded == 0, "\(video.inversions) \(video.crowded)")
        #expect(video.latest < 0.3 && video.earliest < 0.3, "\(video.latest) s late, \(video.earliest) s early")
        #expect(video.hasOrder && video.clock.timelines == 0)
        #expect(abs((video.speed ?? 1) - rate) < 0.001)
    }

    @Test(arguments: [(0.15, 3), (0.5, 0.5), (0.5, 6)] as [(Double, Double)])
    func `frames out of order keep theirs behind a narrow line`(dip: (share: Double, seconds: Double)) {
        var video = WrongClock(clockRate: 90000, perSecond: perSecond, hasB: true)
        let way = Self.narrow(dip.share, for: dip.seconds, after: 2)
        video.run(to: 10, rate: { _ in 1 }, way: way)
        video.forget()
        video.run(to: 60 + 2 * dip.seconds + 5, rate: { _ in 1 }, way: way)
        #expect(video.clock.basis == .camera)
        video.run(to: 300, rate: { _ in 1 }, way: way)
        #expect(video.inversions == 0 && video.hasOrder && video.clock.timelines == 0)
        video.forget()
        video.run(to: 400, rate: { _ in 1 }, way: way)
        // A B picture comes 120 ms later than needed, together with the P picture before it.
        #expect(video.crowded == 0 && video.latest < 0.16 && video.earliest < 0.16)
    }

    @Test(arguments: [0.5, 1.5])
    func `a line that is narrow every half minute is never reported as a wrong clock`(seconds: Double) {
        var video = video()
        for moment in stride(from: 0.2, through: 900, by: 0.2) {
            video.run(to: moment) { _ in
                1
            } way: { taken in
                let phase = taken.truncatingRemainder(dividingBy: 30)
                return taken - phase + Self.narrow(0.4, for: seconds, after: 2)(phase + 50) - 50
            }
            #expect(video.clock.basis == .camera)
        }
        #expect(video.hasOrder && video.clock.timelines == 0)
    }

    @Test func `frames out of order keep theirs, and their distance, when time stamps nearly stand still`() {
        var video = WrongClock(clockRate: 90000, perSecond: perSecond, hasB: true)
        video.run(to: 20) { _ in 1 }
        video.run(to: 28) { _ in 0.15 }
        video.forget()
        video.run(to: 60) { _ in 0.15 }
        #expect(video.inversions == 0 && video.crowded == 0, "\(video.inversions) \(video.crowded)")
        #expect(video.hasOrder)
    }
}
