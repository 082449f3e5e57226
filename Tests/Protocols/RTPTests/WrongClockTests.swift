import RTP
import Testing

/// A camera that stamps 25 frames a second and sends 21, only at night, or the other way round.
struct WrongClockTests {
    private func video(_ policy: StreamClock.Policy = .auto) -> WrongClock {
        WrongClock(clockRate: 90000, perSecond: 25, policy: policy)
    }

    @Test(arguments: [0.5, 0.6, 0.75, 0.84, 0.9, 0.99, 0.998, 1.002, 1.01, 1.1, 1.25])
    func `for an hour a frame stays near its arrival, in lip sync with audio that is right`(rate: Double) {
        var video = video()
        var audio = WrongClock(clockRate: 8000, perSecond: 50, seed: 8)
        var apart = 0.0
        var apartLater = 0.0
        for moment in stride(from: 0.2, through: 3600, by: 0.2) {
            video.run(to: moment) { _ in rate }
            audio.run(to: moment) { _ in 1 }
            let distance = abs((video.presented - video.taken) - (audio.presented - audio.taken))
            apart = max(apart, distance)
            // After five minutes even a rate of 0.998 was found out.
            if moment > 300 { apartLater = max(apartLater, distance) }
            if abs(moment - 300) < 0.1 { video.forget() }
        }
        #expect(apart < 0.3, "\(apart) s apart")
        #expect(apartLater < 0.06, "\(apartLater) s apart")
        #expect(video.latest < 0.06 && video.earliest < 0.06, "\(video.latest) s late, \(video.earliest) s early")
        #expect(video.leastStep > 0.99 && video.mostStep < 1.01, "steps of \(video.leastStep) to \(video.mostStep)")
        #expect(video.hasOrder && audio.hasOrder)
        #expect(video.clock.timelines == 0 && audio.clock.basis == .camera)
        #expect(abs((video.speed ?? 1) - rate) < 0.001)
        #expect(abs((video.clock.driftPartsPerMillion ?? 0) / 1e6 + 1 - rate) < 0.001)
    }

    @Test(arguments: [0.5, 0.6, 0.75, 0.84, 0.9, 0.99, 1.01, 1.1, 1.25])
    func `until the rate is known a frame is at most 300 ms late`(rate: Double) {
        for perSecond in [10, 15, 25, 50] as [Double] {
            var video = WrongClock(clockRate: 90000, perSecond: perSecond, seed: UInt64(perSecond))
            video.run(to: 120) { _ in rate }
            #expect(video.latest < 0.32 && video.earliest < 0.3, "\(video.latest) s late, \(video.earliest) s early")
            #expect(video.hasOrder && video.clock.timelines == 0)
        }
    }

    @Test func `audio that runs wrong is corrected as well, and frames that are right stay as they are`() {
        var video = video()
        var audio = WrongClock(clockRate: 8000, perSecond: 50, seed: 8)
        for moment in stride(from: 0.2, through: 600, by: 0.2) {
            video.run(to: moment) { _ in 1 }
            audio.run(to: moment) { _ in 0.9 }
            #expect(abs((video.presented - video.taken) - (audio.presented - audio.taken)) < 0.3)
        }
        #expect(video.clock.basis == .camera && abs((audio.speed ?? 0) - 0.9) < 0.001)
        #expect(video.leastStep > 0.999 && video.mostStep < 1.001)
    }

    @Test(arguments: [10, 60, 300] as [Double], [0.5, 0.84, 1.25])
    func `a camera whose rate changes between day and night`(seconds: Double, night: Double) {
        var video = video()
        video.run(to: 3600) { Int($0 / seconds).isMultiple(of: 2) ? 1 : night }
        #expect(video.latest < 0.5 && video.earliest < 0.3, "\(video.latest) s late, \(video.earliest) s early")
        #expect(video.hasOrder && video.clock.timelines == 0)
    }

    @Test func `a clock that runs right again is trusted again`() {
        var video = video()
        video.run(to: 60) { _ in 0.84 }
        #expect(video.speed != nil)
        video.run(to: 180) { _ in 1 }
        #expect(video.clock.basis == .camera)
        video.forget()
        video.run(to: 3600) { _ in 1 }
        #expect(video.leastStep > 0.999 && video.mostStep < 1.001)
        #expect(video.latest < 0.08 && video.earliest < 0.08)
    }

    @Test(arguments: [0.3, 1, 3, 5])
    func `a stalled connection that catches up is not a wrong clock`(stall: Double) {
        // At once, and within as long as it took.
        for catchingUp in [0, 1.0] {
            var video = video()
            video.run(to: 3600) { _ in
                1
            } way: { taken in
                let phase = taken.truncatingRemainder(dividingBy: 60)
                guard phase >= 20 else { return taken }
                let back = taken - phase + 20 + stall
                return max(taken, catchingUp == 0 ? back : back + (phase - 20) / 2)
            }
            #expect(video.clock.basis == .camera && video.hasOrder && video.clock.timelines == 0)
            #expect(video.leastStep > 0.999 && video.mostStep < 1.001, "after \(stall) s, \(catchingUp)")
        }
    }

    @Test(arguments: [0.5, 0.84, 1.25])
    func `a stalled connection of a clock that runs wrong leaves nothing behind`(rate: Double) {
        var video = video()
        video.run(to: 100) { _ in rate }
        video.run(to: 104) { _ in
            rate
        } way: {
            max($0, 103)
        }
        video.forget()
        video.run(to: 600) { _ in rate }
        #expect(video.latest < 0.1 && video.earliest < 0.1, "\(video.latest) s late, \(video.earliest) s early")
        #expect(video.hasOrder && video.clock.timelines == 0)
    }

    @Test func `a camera that stopped its clock for a second is caught up with`() {
        var video = video()
        video.run(to: 60) { _ in 1 }
        // The next frame's time stamp is only 40 ms later.
        video.run(to: 60.01) { _ in 0.04 }
        video.run(to: 90) { _ in 1 }
        video.forget()
        video.run(to: 200) { _ in 1 }
        #expect(video.latest < 0.1 && video.earliest < 0.1, "\(video.latest) s late, \(video.earliest) s early")
        #expect(video.hasOrder && video.clock.timelines == 0)
    }

    @Test func `groups of pictures at once of a clock that runs wrong`() {
        var video = video()
        let sent = { (taken: Double) in (taken / 2).rounded(.up) * 2 }
        video.run(to: 120, rate: { _ in 0.84 }, way: sent)
        video.forget()
        video.run(to: 3600, rate: { _ in 0.84 }, way: sent)
        // A group's first frame is two seconds late, its last one is not.
        #expect(video.latest < 2.2 && video.earliest < 0.1, "\(video.latest) s late, \(video.earliest) s early")
        #expect(video.leastStep > 0.99 && video.mostStep < 1.01)
        #expect(video.hasOrder && video.clock.timelines == 0)
    }

    @Test func `the camera's timestamps count when they are requested`() {
        var video = video(.camera)
        video.run(to: 30) { _ in 0.84 }
        #expect(video.clock.basis == .camera)
        #expect(video.latest > 4 && video.mostStep < 0.841)
    }
}
