import TestSupport
import Testing

@testable import RTSPIngest

private let second: UInt64 = 1_000_000_000

@Suite struct PullSupervisionTests {
    /// Plays the part of the source: goes on in time until the next attempt.
    ///
    /// - Returns: how long it took, in seconds.
    private func waited(_ supervision: inout PullSupervision, _ now: inout UInt64) -> Double {
        let begin = now
        while case .wait(let pause) = supervision.next(at: now) { now += pause }
        return Double(now - begin) / 1e9
    }

    @Test func `the first attempt comes at once`() {
        var supervision = PullSupervision(random: { 0.5 })
        #expect(supervision.next(at: 17) == .connect)
        #expect(supervision.state == .connecting)
        #expect(supervision.next(at: 18) == .watch)
        #expect(supervision.attempts == 1)
    }

    @Test(arguments: [0, 0.5, 0.999_999]) func `pauses double up to a minute`(random: Double) {
        var supervision = PullSupervision(random: { random })
        var now: UInt64 = 0
        var pauses: [Double] = []
        _ = supervision.next(at: now)
        for _ in 0..<12 {
            supervision.ended(.broken, at: now)
            pauses.append(waited(&supervision, &now))
        }
        #expect(pauses[0] <= 1)
        #expect(pauses[0] >= 0.5)
        for (earlier, later) in zip(pauses, pauses.dropFirst()) { #expect(later >= earlier) }
        #expect(abs(pauses[1] / pauses[0] - 2) < 0.001)
        #expect(pauses[11] <= 60)
        #expect(pauses[11] >= 30)
        #expect(supervision.attempts == 13)
    }

    @Test func `a stream that was live for ten seconds begins again with short pauses`() {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        for _ in 0..<5 {
            supervision.ended(.broken, at: now)
            _ = waited(&supervision, &now)
        }
        supervision.frameArrived(at: now)
        #expect(supervision.state == .live)
        now += 9 * second
        supervision.frameArrived(at: now)
        // What it was frozen for does not count.
        now += 6 * second
        supervision.ended(.stalled, at: now)
        let pause = waited(&supervision, &now)
        #expect(pause > 1 && pause <= 5)
        supervision.frameArrived(at: now)
        now += 10 * second
        supervision.frameArrived(at: now)
        supervision.ended(.stalled, at: now)
        #expect(waited(&supervision, &now) <= 0.5)
        #expect(supervision.connections == 2)
    }

    @Test(arguments: [0, 0.5, 0.999_999]) func `a session that had frames is begun again within five seconds`(
        random: Double
    ) {
        var supervision = PullSupervision(random: { random })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        var pauses: [Double] = []
        for _ in 0..<10 {
            supervision.frameArrived(at: now)
            now += 3 * second
            supervision.frameArrived(at: now)
            supervision.ended(.away, at: now)
            pauses.append(waited(&supervision, &now))
        }
        #expect(pauses[0] <= 1)
        #expect(pauses.allSatisfy { $0 <= 5 })
        // No storm either.
        #expect(pauses[9] >= 2)
    }

    @Test(arguments: [0, 0.5, 0.999_999], [12, 20, 30])
    func `a camera that ends every session loses at most a second and a half`(random: Double, length: Int) {
        // Over an hour: 25 frames a second, groups of a second that do not begin with PLAY, answers after 100 ms.
        var supervision = PullSupervision(random: { random })
        var now: UInt64 = 0
        var lastFrame: UInt64?
        var longest: UInt64 = 0
        var sessions = 0
        #expect(supervision.next(at: now) == .connect)
        while now < 3600 * second {
            #expect(supervision.state == .connecting)
            sessions += 1
            let end = now + UInt64(length) * second + second / 2
            now += second / 10
            // The camera's groups go on while no one looks.
            now += (second - now % second) % second
            while now < end {
                if let lastFrame { longest = max(longest, now - lastFrame) }
                lastFrame = now
                supervision.frameArrived(at: now)
                now += second / 25
            }
            now = end
            supervision.ended(.away, at: now)
            _ = waited(&supervision, &now)
        }
        #expect(Double(longest) / 1e9 <= 1.5, "\(Double(longest) / 1e9) s")
        #expect(sessions > 3600 / (length + 2))
    }

    @Test func `a stall is a state of its own until the attempt ends or frames come again`() {
        var supervision = PullSupervision(random: { 0.5 })
        _ = supervision.next(at: 0)
        supervision.frameArrived(at: 1)
        supervision.stalled(at: second)
        #expect(supervision.state == .stalled)
        #expect(supervision.next(at: second) == .watch)
        supervision.frameArrived(at: 2 * second)
        #expect(supervision.state == .live)
        supervision.stalled(at: 3 * second)
        supervision.ended(.stalled, at: 3 * second)
        #expect(supervision.stalls == 2)
        var now = 3 * second
        #expect(waited(&supervision, &now) <= 1)
    }

    @Test func `a frozen camera is live again within eight seconds of its last packet`() {
        // The whole chain in virtual time: 25 frames a second that stop after 3 s, then a camera that answers in 100
        // ms.
        for random in [0.0, 0.25, 0.999_999] {
            var supervision = PullSupervision(random: { random })
            var now: UInt64 = second
            #expect(supervision.next(at: now) == .connect)
            var watch = FreezeWatch(rate: 25, at: now)
            for frame in 0..<75 {
                now = second + UInt64(frame) * 40_000_000
                watch.packetArrived(at: now)
                watch.frameArrived(at: now)
                supervision.frameArrived(at: now)
                #expect(watch.finding(at: now) == nil)
            }
            let last = now
            now = watch.nextDeadline
            #expect(watch.finding(at: now) == .frozen)
            #expect(watch.finding(at: now - 1) == nil)
            #expect(now - last <= 6 * second)
            supervision.stalled(at: now)
            supervision.ended(.stalled, at: now)
            _ = waited(&supervision, &now)
            now += second / 10
            supervision.frameArrived(at: now)
            #expect(supervision.state == .live)
            #expect(now - last <= 8 * second)
        }
    }

    @Test func `a refused login is tried twice and then every quarter of an hour`() {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        supervision.ended(.loginRefused, at: now)
        #expect(waited(&supervision, &now) <= 5)
        supervision.ended(.loginRefused, at: now)
        #expect(supervision.state == .refused(until: now + 900 * second))
        #expect(waited(&supervision, &now) == 900)
        supervision.ended(.loginRefused, at: now)
        #expect(waited(&supervision, &now) == 900)
        #expect(supervision.attempts == 4)
    }

    @Test func `a network that fails between two refusals does not give the account more attempts`() {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        supervision.ended(.loginRefused, at: now)
        _ = waited(&supervision, &now)
        supervision.ended(.broken, at: now)
        _ = waited(&supervision, &now)
        supervision.ended(.loginRefused, at: now)
        #expect(waited(&supervision, &now) == 900)
    }

    @Test func `a login that works forgets the refusals`() {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        supervision.ended(.loginRefused, at: now)
        _ = waited(&supervision, &now)
        supervision.frameArrived(at: now)
        supervision.ended(.broken, at: now)
        _ = waited(&supervision, &now)
        supervision.ended(.loginRefused, at: now)
        #expect(waited(&supervision, &now) <= 5)
    }

    @Test(arguments: [(nil, 30.0), (7, 7), (0, 1), (-5, 1), (Int.max, 600)] as [(Int?, Double)])
    func `a busy camera is left alone as long as it asks`(asked: Int?, expected: Double) {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        supervision.ended(.busy(seconds: asked), at: now)
        #expect(waited(&supervision, &now) == expected)
    }

    @Test func `an announcement ends a pause and protects the account`() {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        for _ in 0..<8 {
            supervision.ended(.broken, at: now)
            _ = waited(&supervision, &now)
        }
        supervision.ended(.broken, at: now)
        now += second
        #expect(supervision.woken(by: .announcement, at: now) == true)
        #expect(supervision.next(at: now) == .connect)
        // A flood of them does not make a flood of attempts.
        supervision.ended(.broken, at: now)
        #expect(supervision.woken(by: .announcement, at: now + second) == false)
        #expect(supervision.next(at: now + second) != .connect)
        _ = waited(&supervision, &now)
        supervision.ended(.loginRefused, at: now)
        now += 1
        #expect(supervision.woken(by: .announcement, at: now + 10 * second) == false)
        _ = waited(&supervision, &now)
        supervision.ended(.loginRefused, at: now)
        #expect(supervision.woken(by: .announcement, at: now + 60 * second) == false)
        #expect(supervision.woken(by: .person, at: now + 61 * second) == true)
        #expect(supervision.next(at: now + 61 * second) == .connect)
        #expect(supervision.woken(by: .person, at: now + 62 * second) == false)
    }

    @Test func `a long wait shows that it gets on`() {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        supervision.ended(.person, at: now)
        var steps = supervision.steps
        var since = now
        while case .wait(let pause) = supervision.next(at: now) {
            #expect(pause <= 10 * second)
            if supervision.steps != steps {
                steps = supervision.steps
                since = now
            }
            #expect(now - since < 10 * second)
            now += min(pause, second / 4)
        }
        #expect(now == 900 * second)
        #expect(supervision.attempts == 2)
    }

    @Test func `an attempt that gets on shows it`() {
        var supervision = PullSupervision(random: { 0.5 })
        _ = supervision.next(at: 0)
        let steps = supervision.steps
        supervision.progressed()
        #expect(supervision.steps == steps + 1)
        #expect(supervision.attempts == 1)
        #expect(supervision.state == .connecting)
    }

    // MARK: - Starting up

    @Test(arguments: [0, 20, 59]) func `a camera that was away and starts up is back within ninety seconds`(
        ready: UInt64
    ) {
        for ending in [PullSupervision.Ending.unready, .loginRefused] {
            var supervision = PullSupervision(random: { 0.999_999 })
            var now: UInt64 = 0
            _ = supervision.next(at: now)
            for _ in 0..<6 {
                supervision.ended(.away, at: now)
                _ = waited(&supervision, &now)
            }
            let answered = now
            while now < answered + ready * second {
                supervision.ended(ending, at: now)
                if case .refused = supervision.state { Issue.record("\(ending) after \((now - answered) / second) s") }
                _ = waited(&supervision, &now)
            }
            supervision.frameArrived(at: now)
            #expect(now - answered <= 90 * second)
        }
    }

    @Test func `what is still refused after ninety seconds is for a person`() {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        supervision.ended(.away, at: now)
        _ = waited(&supervision, &now)
        let begin = now
        var attempts = 0
        supervision.ended(.unready, at: now)
        while case .waiting = supervision.state {
            attempts += 1
            _ = waited(&supervision, &now)
            supervision.ended(.unready, at: now)
        }
        #expect(attempts == 5)
        #expect(now - begin == 90 * second)
        #expect(waited(&supervision, &now) == 900)
        supervision.ended(.unready, at: now)
        #expect(waited(&supervision, &now) == 900)
    }

    @Test func `a camera that was not away is refused at once`() {
        for ending in [PullSupervision.Ending.unready, .person] {
            var supervision = PullSupervision(random: { 0.5 })
            _ = supervision.next(at: 0)
            supervision.ended(ending, at: 0)
            #expect(supervision.state == .refused(until: 900 * second))
        }
        // What no start explains: a missing password, a certificate.
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        supervision.ended(.away, at: now)
        _ = waited(&supervision, &now)
        supervision.ended(.person, at: now)
        #expect(supervision.state == .refused(until: now + 900 * second))
    }

    /// Whatever a camera does between: the account sees one login more than it always did, once.
    @Test(arguments: UInt64(1)...32) func `a camera that comes and goes gets no more logins`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var supervision = PullSupervision(random: { 0 })
        var now: UInt64 = 0
        var logins: [UInt64] = []
        // Where clock or nonce are in doubt, an attempt shows three.
        var shown: [UInt64] = []
        while now < 24 * 3600 * second {
            _ = supervision.next(at: now)
            now += second / 10
            if Bool.random(using: &random) {
                logins.append(now)
                shown += Array(repeating: now, count: supervision.showsOneLogin ? 1 : 3)
                supervision.ended(.loginRefused, at: now)
            } else {
                supervision.ended([.away, .broken, .stalled].randomElement(using: &random) ?? .away, at: now)
            }
            // Forged ones, whenever they might help.
            supervision.woken(by: .announcement, at: now + 1)
            _ = waited(&supervision, &now)
        }
        for (index, login) in logins.enumerated() {
            let hour = logins[index...].prefix { $0 < login + 3600 * second }.count
            // Two at once, then every quarter of an hour; and once the one more.
            #expect(hour <= (index == 0 ? 6 : 5), "\(hour) in the hour from \(login / second) s")
        }
        #expect(logins.count <= 3 + 24 * 4)
        for (index, login) in shown.enumerated() where index % 3 == 0 {
            let hour = shown[index...].prefix { $0 < login + 3600 * second }.count
            #expect(hour <= (index == 0 ? 16 : 15), "\(hour) logins in the hour from \(login / second) s")
        }
        #expect(shown.count <= 3 * (2 + 24 * 4) + 1)
    }

    @Test func `only frames for long enough earn another start`() {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        func outage(_ frames: UInt64) {
            _ = supervision.next(at: now)
            supervision.frameArrived(at: now)
            now += frames * second
            supervision.frameArrived(at: now)
            for _ in 0..<2 {
                supervision.ended(.away, at: now)
                _ = waited(&supervision, &now)
            }
            supervision.ended(.unready, at: now)
        }
        outage(1)
        #expect(supervision.pause(at: now) == 5 * second)
        let begin = now
        _ = waited(&supervision, &now)
        outage(9)
        #expect(now < begin + 30 * second)
        #expect(supervision.pause(at: now) == begin + 30 * second - now, "the same start goes on")
        now += 3600 * second
        outage(9)
        #expect(supervision.pause(at: now) == 900 * second)
        now += 3600 * second
        outage(10)
        #expect(supervision.pause(at: now) == 5 * second)
    }

    /// Forged ones, or those of a camera that says Hello several times while it starts.
    @Test(arguments: [
        [3, 8, 13, 18, 23], [2, 20, 40], [1, 6, 11, 16, 21, 26, 31, 36, 41, 46, 51, 56, 61, 66, 71, 76],
    ])
    func `announcements use up nothing of the time to start up`(hellos: [UInt64]) {
        for ready in [40, 80] as [UInt64] {
            var supervision = PullSupervision(random: { 0.5 })
            var now: UInt64 = 0
            _ = supervision.next(at: now)
            supervision.ended(.away, at: now)
            _ = waited(&supervision, &now)
            let begin = now
            var left = hellos[...]
            while now < begin + ready * second {
                supervision.ended(.unready, at: now)
                if case .refused = supervision.state { Issue.record("given up after \((now - begin) / second) s") }
                while case .wait(let pause) = supervision.next(at: now) {
                    let hello = left.first.map { begin + $0 * second } ?? .max
                    guard hello < now + pause else {
                        now += pause
                        continue
                    }
                    now = max(now, hello)
                    left.removeFirst()
                    supervision.woken(by: .announcement, at: now)
                }
            }
            #expect(now <= begin + 90 * second, "back after \((now - begin) / second) s")
            #expect(supervision.attempts <= 2 + 5 + UInt64(hellos.count))
        }
    }

    @Test func `the time to start up begins with the first refusal`() {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        supervision.ended(.away, at: now)
        _ = waited(&supervision, &now)
        // Its port is open for two minutes, and nothing answers there.
        let begin = now
        while now < begin + 120 * second {
            now += 5 * second
            supervision.ended(.broken, at: now)
            _ = waited(&supervision, &now)
        }
        supervision.ended(.unready, at: now)
        #expect(supervision.pause(at: now) == 5 * second)
    }

    @Test func `each power cut is followed by a time to start up, and no more logins`() {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        func cut(_ seconds: UInt64) {
            let begin = now
            while now < begin + seconds * second {
                supervision.ended(.away, at: now)
                _ = waited(&supervision, &now)
            }
        }
        _ = supervision.next(at: now)
        cut(60)
        supervision.ended(.unready, at: now)
        #expect(supervision.pause(at: now) == 5 * second)
        _ = waited(&supervision, &now)
        // Another one while it starts up.
        now += 80 * second
        cut(60)
        supervision.ended(.unready, at: now)
        #expect(supervision.pause(at: now) == 5 * second)
        // One that has refused for days; away for a moment is nothing.
        now += 100_000 * second
        _ = supervision.next(at: now)
        cut(1)
        supervision.ended(.unready, at: now)
        #expect(waited(&supervision, &now) == 900)
        cut(60)
        supervision.ended(.unready, at: now)
        #expect(supervision.pause(at: now) == 5 * second)
        _ = waited(&supervision, &now)
        for pause in [2, 60, 900, 900] as [Double] {
            supervision.ended(.loginRefused, at: now)
            #expect(waited(&supervision, &now) == pause)
        }
        cut(60)
        supervision.ended(.loginRefused, at: now)
        #expect(waited(&supervision, &now) == 900)
    }

    @Test func `the one login more stays one while the camera is away`() {
        var supervision = PullSupervision(random: { 0.5 })
        var now: UInt64 = 0
        _ = supervision.next(at: now)
        supervision.ended(.away, at: now)
        _ = waited(&supervision, &now)
        for expected in [false, false] {
            #expect(supervision.showsOneLogin == expected)
            supervision.ended(.loginRefused, at: now)
            _ = waited(&supervision, &now)
        }
        #expect(supervision.showsOneLogin)
        supervision.ended(.away, at: now)
        _ = waited(&supervision, &now)
        #expect(supervision.showsOneLogin)
        supervision.ended(.loginRefused, at: now)
        #expect(!supervision.showsOneLogin)
        #expect(waited(&supervision, &now) == 900)
    }

    @Test(arguments: [0, 0.5, 0.999_999]) func `a camera that ends every session at once is asked less often in time`(
        random: Double
    ) {
        var supervision = PullSupervision(random: { random })
        var now: UInt64 = 0
        var sessions = 0
        var pauses: [Double] = []
        _ = supervision.next(at: now)
        while now < 3600 * second {
            sessions += 1
            supervision.frameArrived(at: now)
            supervision.ended(.away, at: now)
            pauses.append(waited(&supervision, &now))
        }
        #expect(pauses.prefix(10).allSatisfy { $0 <= 5 })
        #expect(pauses.allSatisfy { $0 <= 30 })
        #expect(pauses.last ?? 0 >= 14)
        #expect(sessions <= 270)
        // Frames for long enough, and it begins again.
        supervision.frameArrived(at: now)
        supervision.frameArrived(at: now + 10 * second)
        supervision.ended(.away, at: now + 10 * second)
        #expect(supervision.pause(at: now + 10 * second) ?? .max <= second / 2)
        now += 20 * second
        _ = supervision.next(at: now)
        supervision.frameArrived(at: now)
        supervision.ended(.away, at: now)
        #expect(waited(&supervision, &now) <= 5)
    }
}
