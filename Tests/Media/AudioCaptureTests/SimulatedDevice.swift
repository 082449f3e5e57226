import TestSupport

@testable import AudioCapture

/// A microphone with a clock of its own, in virtual time: what it hears is a function of the true time.
struct SimulatedDevice {
    let rate: Int
    /// Positive: its clock is fast.
    let drift: Double
    let audio: (Double) -> Float
    /// Of the instants, nanoseconds, to either side.
    let jitter: Int64
    static let begin: UInt64 = 5_000_000_000_000

    private var frame = 0
    private var generator: SeededGenerator

    init(
        rate: Int = 48_000, partsPerMillion: Double = 0, jitter: Int64 = 0, seed: UInt64 = 1,
        audio: @escaping (Double) -> Float
    ) {
        self.rate = rate
        drift = partsPerMillion * 1e-6
        self.jitter = jitter
        self.audio = audio
        generator = SeededGenerator(seed: seed)
    }

    /// True seconds since `begin`.
    var now: Double { Double(frame) / (Double(rate) * (1 + drift)) }

    mutating func block(_ count: Int) -> AudioBlock {
        let first = now
        let step = 1 / (Double(rate) * (1 + drift))
        let samples = (0..<count).map { audio(first + Double($0) * step) }
        frame += count
        let noise = jitter > 0 ? Int64.random(in: -jitter...jitter, using: &generator) : 0
        let instant = Int64(Self.begin) + Int64((first * 1e9).rounded()) + noise
        return AudioBlock(samples: samples, instant: UInt64(instant))
    }

    /// Audio that is never fetched.
    mutating func lose(_ count: Int) {
        frame += count
    }
}

/// All that a timeline gave, as one piece, and whether it is one.
struct Recording {
    var samples: [Float] = []
    var begin: UInt64 = 0
    var isContinuous = true
    private var rate = 48_000

    init(rate: Int = 48_000) {
        self.rate = rate
    }

    /// Of the frame behind the last.
    var end: UInt64 { begin + UInt64(samples.count) * 1_000_000_000 / UInt64(rate) }

    mutating func add(_ placed: AudioTimeline.Placed) {
        if samples.isEmpty {
            begin = placed.instant
        } else if max(placed.instant, end) - min(placed.instant, end) > 1 {
            isContinuous = false
        }
        samples += placed.samples
    }

    /// Seconds of true time of a frame.
    func seconds(_ frame: Int) -> Double {
        (Double(begin) - Double(SimulatedDevice.begin)) / 1e9 + Double(frame) / Double(rate)
    }
}
