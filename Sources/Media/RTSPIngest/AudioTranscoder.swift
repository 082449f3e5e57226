internal import Media
internal import VideoCodec

/// Samples of a camera made into AAC: those of 8000 a second doubled, others at their own rate; and kept on the
/// camera's time by one more or less in a packet, which is inaudible.
final class AudioTranscoder {
    /// Nanoseconds that the audio may be away from its place before a sample is put in or left out.
    private static let tolerance: Int64 = 5_000_000
    /// From here on single samples do not suffice: the camera delivers another number of them than it announces.
    private static let stretching: Int64 = 20_000_000
    /// From here on it is a hole, or audio that came twice.
    private static let jump: Int64 = 100_000_000
    /// Of a packet; longer ones are no camera's.
    private static let maxSeconds = 2

    private let inputRate: Int
    private let channels: Int
    private let outputRate: Int
    private let encoder: AudioEncoder
    /// Of each channel; empty: the rate stays.
    private var doublers: [RateDoubler]
    /// Where the next sample belongs.
    private var position: MediaTime?

    /// Samples a second that are taken.
    static let inputRates: Set<Int> = [8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]

    /// - Parameter inputRate: one of `inputRates`.
    /// - Parameter channels: 1 or 2.
    init(inputRate: Int = 8_000, channels: Int = 1) throws(VideoCodecError) {
        self.inputRate = inputRate
        self.channels = channels
        // AAC of 8000 samples a second is known to fewer players.
        let isDoubled = inputRate == 8_000
        outputRate = isDoubled ? 2 * inputRate : inputRate
        doublers = isDoubled ? [RateDoubler](repeating: RateDoubler(), count: channels) : []
        var configuration = AudioEncoderConfiguration(
            channels: channels, bitsPerSecond: (outputRate > 24_000 ? 64_000 : 32_000) * channels)
        configuration.sampleRate = outputRate
        encoder = try AudioEncoder(configuration)
    }

    var format: AudioFormat { encoder.format }

    /// G.711: a byte is a sample.
    ///
    /// - Parameter time: of the first sample.
    func encode(
        _ bytes: [UInt8], isALaw: Bool, at time: MediaTime, captureInstant: UInt64
    ) throws(VideoCodecError) -> [AccessUnit] {
        guard bytes.count <= Self.maxSeconds * inputRate * channels else { return [] }
        let table = isALaw ? G711.aLaw : G711.muLaw
        return try encode(bytes.map { table[Int($0)] }, at: time, captureInstant: captureInstant)
    }

    /// - Parameter samples: −1…1, the channels of one instant side by side; half an instant at the end is left out.
    /// - Parameter time: of the first sample.
    func encode(
        _ samples: [Float], at time: MediaTime, captureInstant: UInt64
    ) throws(VideoCodecError) -> [AccessUnit] {
        let whole = samples.count / channels * channels
        guard whole > 0, whole <= Self.maxSeconds * inputRate * channels else { return [] }
        var begin = position ?? time
        let error = (time - begin).nanoseconds
        if error <= -Self.jump { return [] }
        if error >= Self.jump {
            begin = time
            for channel in doublers.indices { doublers[channel] = RateDoubler() }
        }
        var samples = doubled(Array(samples.prefix(whole)))
        if error.magnitude < Self.jump.magnitude, error.magnitude > Self.stretching.magnitude {
            samples = stretched(samples, error: error)
        } else if error > Self.tolerance, error < Self.jump {
            samples += samples.suffix(channels)
        } else if error < -Self.tolerance {
            samples.removeLast(channels)
        }
        position = begin + MediaTime(ticks: Int64(samples.count / channels), timescale: Int64(outputRate))
        // The encoder puts silence in front of the first sample: what would come before the stream's begin is left out.
        return try encoder.encode(samples, at: begin, captureInstant: captureInstant).filter {
            $0.decodeTime >= .zero
        }
    }

    /// More samples of the same audio, or fewer: half of what is more than `stretching` is taken out.
    private func stretched(_ samples: [Float], error: Int64) -> [Float] {
        let frames = samples.count / channels
        guard frames > 0 else { return samples }
        let excess = error - error.signum() * Self.stretching
        let change = Int(excess / 2) * outputRate / 1_000_000_000 + Int(error.signum())
        let count = max(max(1, frames / 2), min(frames * 2, frames + change))
        let step = Double(frames - 1) / Double(max(1, count - 1))
        var result: [Float] = []
        result.reserveCapacity(count * channels)
        for index in 0..<count {
            let place = Double(index) * step
            let before = min(frames - 1, Int(place))
            let after = min(frames - 1, before + 1)
            let part = Float(place - Double(before))
            for channel in 0..<channels {
                let first = samples[before * channels + channel]
                result.append(first + (samples[after * channels + channel] - first) * part)
            }
        }
        return result
    }

    private func doubled(_ samples: [Float]) -> [Float] {
        if doublers.isEmpty { return samples }
        if channels == 1 { return doublers[0].doubled(samples) }
        var result = [Float](repeating: 0, count: samples.count * 2)
        for channel in doublers.indices {
            let own = stride(from: channel, to: samples.count, by: channels).map { samples[$0] }
            for (index, sample) in doublers[channel].doubled(own).enumerated() {
                result[index * channels + channel] = sample
            }
        }
        return result
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
