import Foundation

/// How many packets may be on their way, and how fast they follow each other. Models of what Linux has, as far as it
/// matters here: packets, seconds.
protocol VirtualCongestion {
    var window: Double { get }
    /// Packets a second; nil: as the window allows.
    var pace: Double? { get }

    /// - Parameters:
    ///   - count: packets that were acknowledged with this one.
    ///   - sample: what was measured with it; nil: it was sent twice.
    mutating func acknowledged(_ count: Double, _ sample: VirtualSample?, inFlight: Double, at now: Double)
    /// The first loss of a window.
    mutating func lost(inFlight: Double, at now: Double)
    mutating func timedOut(at now: Double)
}

struct VirtualSample {
    var roundTrip: Double
    /// Packets a second, since that one was sent.
    var rate: Double
    /// There was less to send than could have been.
    var isLimited: Bool
    /// A round trip begins.
    var isRound: Bool
}

/// RFC 9438 with HyStart's exit by delay.
struct VirtualCubic: VirtualCongestion {
    private(set) var window = 10.0
    var pace: Double? { nil }
    private var threshold = Double.infinity
    private var most = 0.0
    private var epoch: Double?
    private var plateau = 0.0
    private var rise = 0.0
    private var least = Double.infinity
    private var ofRound = Double.infinity
    private var smoothed = 0.0

    mutating func acknowledged(_ count: Double, _ sample: VirtualSample?, inFlight: Double, at now: Double) {
        if let sample {
            least = min(least, sample.roundTrip)
            ofRound = min(ofRound, sample.roundTrip)
            smoothed = smoothed == 0 ? sample.roundTrip : 0.875 * smoothed + 0.125 * sample.roundTrip
            if sample.isRound {
                if window < threshold, window >= 16, ofRound > least + min(0.016, max(0.004, least / 8)) {
                    threshold = window
                }
                ofRound = .infinity
            }
        }
        guard window >= threshold else {
            if inFlight + count >= window / 2 { window += count }
            return
        }
        guard inFlight + count >= window - 1 else { return }
        if epoch == nil {
            epoch = now
            rise = window < most ? cbrt((most - window) / 0.4) : 0
            plateau = max(most, window)
        }
        let time = now - (epoch ?? now) + smoothed - rise
        let wanted = plateau + 0.4 * time * time * time
        let friendly = window + count * 0.53 / window
        window = max(
            wanted > window ? window + (wanted - window) / window * count : window + 0.01 * count / window,
            min(friendly, window + count))
    }

    mutating func lost(inFlight: Double, at now: Double) {
        most = window < most ? window * 0.85 : window
        window = max(2, window * 0.7)
        threshold = window
        epoch = nil
    }

    mutating func timedOut(at now: Double) {
        most = max(most * 0.85, window)
        threshold = max(2, window * 0.7)
        window = 1
        epoch = nil
    }
}

/// Version 1: the highest rate of ten round trips, the shortest round trip of ten seconds.
struct VirtualBBR: VirtualCongestion {
    private enum Phase { case startup, drain, probe, least }

    private(set) var window = 10.0
    var pace: Double? { phase == .startup ? fastest : rate * gain }
    /// In its startup it never paces slower than it did, and it begins with a window in a round trip.
    private var fastest: Double?
    private var rates: [(round: Int, rate: Double)] = []
    private var rate: Double { rates.map(\.rate).max() ?? 0 }
    private var round = 0
    private var phase = Phase.startup
    private static let startupGain = 2.885
    private var gain = startupGain
    private var cycle = 0
    private var cycleAt = 0.0
    private var fullRate = 0.0
    private var fullRounds = 0
    private var least = Double.infinity
    private var leastAt = 0.0
    private var leastUntil = 0.0

    mutating func acknowledged(_ count: Double, _ sample: VirtualSample?, inFlight: Double, at now: Double) {
        if let sample {
            if sample.roundTrip <= least || now - leastAt > 10 {
                if now - leastAt > 10, phase == .probe {
                    phase = .least
                    leastUntil = now + 0.2 + sample.roundTrip
                }
                least = sample.roundTrip
                leastAt = now
            }
            if sample.isRound {
                round += 1
                if phase == .startup, !sample.isLimited { lookWhetherFull() }
            }
            // What was limited by the sender says nothing, and lets nothing of what was known go.
            if sample.rate > rate || !sample.isLimited {
                rates.removeAll { $0.round < round - 10 }
                rates.append((round, sample.rate))
            }
        }
        if phase == .startup, let sample {
            fastest = max(fastest ?? 10 * Self.startupGain / max(0.001, sample.roundTrip), rate * Self.startupGain)
        }
        let product = rate * min(least, 10)
        if phase == .drain, inFlight <= product { begin(.probe, gain: 1, cycle: 2, at: now) }
        if phase == .least, now >= leastUntil { begin(.probe, gain: 1, cycle: 2, at: now) }
        if phase == .probe, now - cycleAt > least {
            let next = (cycle + 1) % 8
            begin(.probe, gain: next == 0 ? 1.25 : next == 1 ? 0.75 : 1, cycle: next, at: now)
        }
        let wanted = phase == .least ? 4 : max(4, (phase == .startup ? Self.startupGain : 2) * product)
        window = rate == 0 || window < wanted ? min(rate == 0 ? .infinity : wanted, window + count) : wanted
    }

    private mutating func lookWhetherFull() {
        guard rate <= fullRate * 1.25 else {
            fullRate = rate
            fullRounds = 0
            return
        }
        fullRounds += 1
        guard fullRounds >= 3 else { return }
        phase = .drain
        gain = 1 / Self.startupGain
    }

    private mutating func begin(_ phase: Phase, gain: Double, cycle: Int, at now: Double) {
        self.phase = phase
        self.gain = gain
        self.cycle = cycle
        cycleAt = now
    }

    mutating func lost(inFlight: Double, at now: Double) {}
    mutating func timedOut(at now: Double) { window = 4 }
}
