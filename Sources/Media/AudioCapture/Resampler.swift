internal import Glibc

/// Reads audio at any rate near its own, between its samples: a windowed sinc (Kaiser, β 8), 256 phases with straight
/// lines between them.
struct Resampler: Sendable {
    private let channels: Int
    /// Input frames per output frame.
    private let nominalStep: Double
    /// Input frames on each side of an output frame that it is made of.
    private let half: Int
    /// A row of 2 · `half` factors for each phase, and one for phase 1.
    private let table: [Float]

    /// One array for each channel.
    private var input: [[Float]]
    /// Of the next output frame, in input frames.
    private var position: Double

    private static let phases = 256

    init(inputRate: Int, outputRate: Int, channels: Int) {
        self.channels = channels
        nominalStep = Double(inputRate) / Double(outputRate)
        // Towards a lower rate, what that cannot hold is cut off first, and the filter is as much longer.
        let half = Int((16 * max(1, nominalStep)).rounded(.up))
        self.half = half
        table = Self.makeTable(half: half, cutoff: 0.95 * min(1, 1 / nominalStep))
        input = Array(repeating: Array(repeating: 0, count: half), count: channels)
        position = Double(half)
    }

    /// Forgets what it holds; the next frame that is appended is the first that comes out.
    mutating func restart() {
        input = Array(repeating: Array(repeating: 0, count: half), count: channels)
        position = Double(half)
    }

    /// Input frames from the next output frame to the end of what was appended.
    var ahead: Double { Double(input[0].count) - position }

    mutating func append(_ samples: ArraySlice<Float>, frames: Int) {
        for channel in 0..<channels {
            input[channel].reserveCapacity(input[channel].count + frames)
            var index = samples.startIndex + channel
            for _ in 0..<frames {
                input[channel].append(samples[index])
                index += channels
            }
        }
    }

    mutating func appendSilence(_ frames: Int) {
        for channel in 0..<channels { input[channel] += [Float](repeating: 0, count: max(frames, 0)) }
    }

    /// All that can be made of what was appended, interleaved. `correction`: how much slower than nominal it is read.
    mutating func take(correction: Double) -> [Float] {
        let step = nominalStep * (1 - correction)
        let room = Double(input[0].count - half) - position
        guard room > 0 else { return [] }
        // An output frame needs the input frames up to `half` behind its position.
        let begin = position
        var count = Int((room / step).rounded(.up))
        // The last one may have been rounded to one frame too far.
        while count > 0, Int(begin + Double(count - 1) * step) + half >= input[0].count { count -= 1 }
        let made = [Float](unsafeUninitializedCapacity: count * channels) { target, filled in
            for channel in 0..<channels {
                input[channel].withUnsafeBufferPointer { source in
                    table.withUnsafeBufferPointer { table in
                        for index in 0..<count {
                            let value = sample(source, table, at: begin + Double(index) * step)
                            target[index * channels + channel] = value
                        }
                    }
                }
            }
            filled = count * channels
        }
        position = begin + Double(count) * step
        let done = min(max(Int(position) - half, 0), input[0].count)
        for channel in 0..<channels { input[channel].removeFirst(done) }
        position -= Double(done)
        return made
    }

    private func sample(
        _ source: UnsafeBufferPointer<Float>, _ table: UnsafeBufferPointer<Float>, at position: Double
    ) -> Float {
        let base = Int(position)
        let phase = (position - Double(base)) * Double(Self.phases)
        let row = min(Int(phase), Self.phases - 1)
        let share = Float(phase - Double(row))
        let taps = 2 * half
        let first = base - half + 1
        var near: Float = 0
        var far: Float = 0
        var index = 0
        let low = row * taps
        while index < taps {
            let value = source[first + index]
            near += value * table[low + index]
            far += value * table[low + taps + index]
            index += 1
        }
        return near + (far - near) * share
    }

    private static func makeTable(half: Int, cutoff: Double) -> [Float] {
        let taps = 2 * half
        var table: [Float] = []
        table.reserveCapacity((phases + 1) * taps)
        for phase in 0...phases {
            let fraction = Double(phase) / Double(phases)
            let row = (0..<taps).map { index -> Double in
                let x = Double(index - half + 1) - fraction
                let angle = .pi * cutoff * x
                let sinc = angle.magnitude < 1e-9 ? 1 : sin(angle) / angle
                return sinc * window(x / Double(half))
            }
            // The same loudness at each phase.
            let sum = row.reduce(0, +)
            table += row.map { Float($0 / sum) }
        }
        return table
    }

    /// Kaiser's, −1…1.
    private static func window(_ x: Double) -> Double {
        let beta = 8.0
        let inside = 1 - x * x
        return inside <= 0 ? 0 : bessel(beta * inside.squareRoot()) / bessel(beta)
    }

    /// The modified Bessel function of order 0.
    private static func bessel(_ x: Double) -> Double {
        var sum = 1.0
        var term = 1.0
        for k in 1...40 {
            term *= (x / (2 * Double(k))) * (x / (2 * Double(k)))
            sum += term
        }
        return sum
    }
}
