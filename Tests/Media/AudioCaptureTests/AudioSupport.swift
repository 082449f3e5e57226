import Glibc

/// A tone of 1 kHz for a tenth of a second at each multiple of `interval` seconds, silence between.
struct Beeps {
    var interval = 2.0

    func value(at seconds: Double) -> Float {
        let phase = seconds - (seconds / interval).rounded(.down) * interval
        return seconds >= 0 && phase < 0.1 ? Float(0.5 * sin(2 * .pi * 1000 * seconds)) : 0
    }

    /// Frames at which the audio begins after 50 ms of quiet.
    static func onsets(in samples: [Float], rate: Int) -> [Int] {
        var found: [Int] = []
        var quiet = rate
        for (index, sample) in samples.enumerated() {
            if sample.magnitude > 0.1 {
                if quiet > rate / 20 { found.append(index) }
                quiet = 0
            } else {
                quiet += 1
            }
        }
        return found
    }
}

/// How well `samples` are one sine of `frequency`: its amplitude, and that of all that is left.
func sineFit(_ samples: [Float], frequency: Double, rate: Double) -> (amplitude: Double, rest: Double) {
    var sine = 0.0
    var cosine = 0.0
    for (index, sample) in samples.enumerated() {
        let angle = 2 * .pi * frequency * Double(index) / rate
        sine += Double(sample) * sin(angle)
        cosine += Double(sample) * cos(angle)
    }
    sine *= 2 / Double(samples.count)
    cosine *= 2 / Double(samples.count)
    var rest = 0.0
    for (index, sample) in samples.enumerated() {
        let angle = 2 * .pi * frequency * Double(index) / rate
        let left = Double(sample) - sine * sin(angle) - cosine * cos(angle)
        rest += left * left
    }
    return ((sine * sine + cosine * cosine).squareRoot(), (2 * rest / Double(samples.count)).squareRoot())
}
