internal import Media
internal import VideoCodec

/// G.711 of a camera made into AAC: decoded, doubled to 16 000 samples a second, and kept on the camera's time by one
/// sample more or less in a packet, which nobody hears.
final class SoundTranscoder {
    static let inputRate = 8_000
    static let outputRate = 16_000
    private static let bitsPerSecond = 32_000
    /// Nanoseconds that the sound may be away from its place before a sample is put in or left out.
    private static let tolerance: Int64 = 5_000_000
    /// From here on single samples do not suffice: the camera delivers another number of them than it announces.
    private static let stretching: Int64 = 20_000_000
    /// From here on it is a hole, or sound that came twice.
    private static let jump: Int64 = 100_000_000
    /// Longer runs of samples are no packet of a camera: two seconds.
    private static let mostSamples = 16_000

    private let encoder: AudioEncoder
    private var doubler = RateDoubler()
    /// Where the next sample stands.
    private var position: MediaTime?

    init() throws(VideoCodecError) {
        var configuration = AudioEncoderConfiguration(channels: 1, bitsPerSecond: Self.bitsPerSecond)
        configuration.sampleRate = Self.outputRate
        encoder = try AudioEncoder(configuration)
    }

    var format: AudioFormat { encoder.format }

    /// - Parameter time: of the first sample.
    func encode(
        _ bytes: [UInt8], isALaw: Bool, at time: MediaTime, captureInstant: UInt64
    ) throws(VideoCodecError) -> [AccessUnit] {
        guard !bytes.isEmpty, bytes.count <= Self.mostSamples else { return [] }
        var begin = position ?? time
        let error = (time - begin).nanoseconds
        if error <= -Self.jump { return [] }
        if error >= Self.jump {
            begin = time
            doubler = RateDoubler()
        }
        let table = isALaw ? G711.aLaw : G711.muLaw
        var samples = doubler.doubled(bytes.map { table[Int($0)] })
        if error.magnitude < Self.jump.magnitude, error.magnitude > Self.stretching.magnitude {
            samples = Self.stretched(samples, error: error)
        } else if error > Self.tolerance, error < Self.jump, let last = samples.last {
            samples.append(last)
        } else if error < -Self.tolerance {
            samples.removeLast()
        }
        position = begin + MediaTime(ticks: Int64(samples.count), timescale: Int64(Self.outputRate))
        // The encoder puts silence in front of the first sample: what would come before the stream's begin is left out.
        return try encoder.encode(samples, at: begin, captureInstant: captureInstant).filter {
            $0.decodeTime >= .zero
        }
    }

    /// More samples of the same sound, or fewer: half of what is more than `stretching` is taken out.
    private static func stretched(_ samples: [Float], error: Int64) -> [Float] {
        let excess = error - error.signum() * stretching
        let change = Int(excess / 2) * outputRate / 1_000_000_000 + Int(error.signum())
        let count = max(samples.count / 2, min(samples.count * 2, samples.count + change))
        let step = Double(samples.count - 1) / Double(max(1, count - 1))
        return (0..<count).map { index in
            let place = Double(index) * step
            let before = min(samples.count - 1, Int(place))
            let after = min(samples.count - 1, before + 1)
            return samples[before] + (samples[after] - samples[before]) * Float(place - Double(before))
        }
    }
}

/// ITU-T G.711: a byte as a sample of −1…1.
enum G711 {
    static let muLaw: [Float] = (0...255).map { byte in
        let code = ~UInt8(byte)
        let magnitude = ((Int(code & 0x0F) << 3) + 0x84) << Int(code >> 4 & 7) - 0x84
        return Float(code & 0x80 != 0 ? -magnitude : magnitude) / 32_768
    }

    static let aLaw: [Float] = (0...255).map { byte in
        let code = UInt8(byte) ^ 0x55
        let segment = Int(code >> 4 & 7)
        let base = Int(code & 0x0F) << 4 + 8
        let magnitude = segment == 0 ? base : (base + 0x100) << (segment - 1)
        return Float(code & 0x80 != 0 ? magnitude : -magnitude) / 32_768
    }
}

/// Puts a sample between each two: a windowed sinc over eight of them.
struct RateDoubler {
    private var history = [Float](repeating: 0, count: 7)
    /// sinc(k + ½) under a Hann window over ±4, brought to a sum of 1.
    private static let factors: [Float] = {
        let plain = [0.5, 1.5, 2.5, 3.5].map { distance in
            let sinc = sine(distance) / (Double.pi * distance)
            return sinc * (0.5 + 0.5 * cosine(distance / 4))
        }
        let sum = plain.reduce(0, +)
        return plain.map { Float($0 / sum / 2) }
    }()

    /// sin(π·x) at half-integers.
    private static func sine(_ x: Double) -> Double { Int(x).isMultiple(of: 2) ? 1 : -1 }

    /// cos(π·x) for 0 ≤ x < 1, by its series.
    private static func cosine(_ x: Double) -> Double {
        let square = (Double.pi * x) * (Double.pi * x)
        var term = 1.0
        var sum = 1.0
        for step in 1...12 {
            term *= -square / Double((2 * step - 1) * (2 * step))
            sum += term
        }
        return sum
    }

    mutating func doubled(_ samples: [Float]) -> [Float] {
        let line = history + samples
        var result: [Float] = []
        result.reserveCapacity(samples.count * 2)
        for index in 0..<samples.count {
            // Four on each side of the new sample.
            var between: Float = 0
            for (distance, factor) in Self.factors.enumerated() {
                between += factor * (line[index + 3 - distance] + line[index + 4 + distance])
            }
            result.append(line[index + 3])
            result.append(min(max(between, -1), 1))
        }
        history = Array(line.suffix(7))
        return result
    }
}
