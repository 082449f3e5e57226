internal import Glibc

/// The test pattern's audio: 440 Hz, quiet, and at each full second a tenth of a second of 1000 Hz, loud.
///
/// Both fit a second an integer number of times, so one second of it is computed, and repeated.
struct TestTone {
    static let beepSeconds = 0.1

    private let second: [Float]

    init(sampleRate: Int) {
        second = (0..<sampleRate).map { index in
            let time = Double(index) / Double(sampleRate)
            let isBeep = time < Self.beepSeconds
            let wave = sin(2 * .pi * (isBeep ? 1000 : 440) * time)
            // Fades of 5 ms: a step would click.
            let sinceEdge = isBeep ? min(time, Self.beepSeconds - time) : min(time - Self.beepSeconds, 1 - time)
            return Float(wave * (isBeep ? 0.5 : 0.1) * min(1, sinceEdge / 0.005))
        }
    }

    /// `count` samples from sample `position` on, the same on each channel, interleaved.
    func samples(from position: Int64, count: Int, channels: Int) -> [Float] {
        var samples: [Float] = []
        samples.reserveCapacity(count * channels)
        var index = Int(position % Int64(second.count))
        if index < 0 { index += second.count }
        for _ in 0..<count {
            for _ in 0..<channels { samples.append(second[index]) }
            index = index + 1 == second.count ? 0 : index + 1
        }
        return samples
    }
}
