import Media
import TestSupport
import Testing

@testable import VideoCodec

@Suite struct AudioEncoderTests {
    private func encoder(channels: Int = 2) throws -> AudioEncoder {
        try AudioEncoder(AudioEncoderConfiguration(channels: channels, bitsPerSecond: 96_000))
    }

    private func noise(_ count: Int, seed: UInt64) -> [Float] {
        var generator = SeededGenerator(seed: seed)
        return (0..<count).map { _ in Float.random(in: -0.5...0.5, using: &generator) }
    }

    @Test(arguments: [1, 2])
    func `the format is AAC-LC at 48 kHz`(channels: Int) throws {
        let format = try encoder(channels: channels).format
        let config = try AudioSpecificConfig.parse(format.audioSpecificConfig[...])
        #expect(config.objectType == 2)
        #expect(config.samplingFrequency == 48_000)
        #expect(config.channels == channels)
        #expect(format.sampleRate == 48_000 && format.channels == channels)
    }

    @Test func `samples in pieces of any size give the units that they give at once`() throws {
        let samples = noise(48_000 * 2, seed: 1)
        let whole = try encoder()
        let expected = try whole.encode(samples, at: .zero) + whole.finish()
        let pieces = try encoder()
        var units: [AccessUnit] = []
        var generator = SeededGenerator(seed: 2)
        var position = 0
        while position < samples.count {
            let count = min(Int.random(in: 0...900, using: &generator) * 2, samples.count - position)
            units += try pieces.encode(
                Array(samples[position..<(position + count)]),
                at: MediaTime(ticks: Int64(position / 2), timescale: 48_000))
            position += count
        }
        units += try pieces.finish()
        #expect(units == expected)
        #expect(units.count == 48)
    }

    @Test func `the first unit is earlier than the first sample, by the encoder's delay`() throws {
        let encoder = try encoder()
        let units = try encoder.encode(noise(4096 * 2, seed: 3), at: MediaTime(milliseconds: 5000))
        #expect(units.first?.presentationTime == MediaTime(milliseconds: 5000) - encoder.delay)
        #expect(encoder.delay == MediaTime(ticks: 1024, timescale: 48_000))
    }

    @Test func `jitter does not reach the units' times, a gap does`() throws {
        let encoder = try encoder()
        var units: [AccessUnit] = []
        for block in 0..<20 {
            let jitter = Int64(block % 3) * 1_000_000
            let gap: Int64 = block >= 10 ? 2_000_000_000 : 0
            let time = MediaTime(ticks: Int64(block) * 1024, timescale: 48_000)
            units += try encoder.encode(
                noise(2048, seed: UInt64(block)), at: time + MediaTime(nanoseconds: jitter + gap))
        }
        let steps = zip(units.dropFirst(), units).map { $0.presentationTime - $1.presentationTime }
        let avFrame = MediaTime(ticks: 1024, timescale: 48_000)
        let jumps = steps.filter { $0 > avFrame + avFrame }
        #expect(jumps.count == 1)
        #expect(jumps.allSatisfy { $0 > MediaTime(milliseconds: 1900) && $0 < MediaTime(milliseconds: 2100) })
        let even = steps.filter { $0 <= avFrame + avFrame }
        #expect(even.allSatisfy { abs($0.nanoseconds - avFrame.nanoseconds) <= 1 })
    }

    @Test func `a time that runs backwards does not make units that do`() throws {
        let encoder = try encoder()
        var units = try encoder.encode(noise(20_480, seed: 4), at: MediaTime(milliseconds: 10_000))
        units += try encoder.encode(noise(20_480, seed: 5), at: .zero)
        units += try encoder.encode(noise(20_480, seed: 6), at: MediaTime(nanoseconds: .min))
        let times = units.map(\.decodeTime)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }

    @Test func `the capture instant is that of the newest samples in a unit`() throws {
        let encoder = try encoder()
        var units: [AccessUnit] = []
        for block in 0..<6 {
            units += try encoder.encode(
                noise(2048, seed: 7), at: MediaTime(ticks: Int64(block) * 1024, timescale: 48_000),
                captureInstant: UInt64(block))
        }
        #expect(units.map(\.captureInstant) == (0..<UInt64(units.count)).map { $0 })
    }

    @Test func `an encoder that goes on failing does not gather samples`() throws {
        let encoder = try encoder()
        // What is not a number makes it fail, from the second frame on.
        let samples = [Float](repeating: .nan, count: 3 * 2048 + 20)
        for block in 0..<4 as Range<Int64> {
            let time = MediaTime(ticks: block * 3082, timescale: 48_000)
            #expect(throws: VideoCodecError.self) { try encoder.encode(samples, at: time) }
            #expect(encoder.waiting.count == (Int(block) + 1) * 20)
        }
    }

    @Test func `what no AAC encoder takes is refused`() {
        #expect(throws: VideoCodecError.invalid(.channels, value: 3)) {
            try AudioEncoder(AudioEncoderConfiguration(channels: 3, bitsPerSecond: 96_000))
        }
        #expect(throws: VideoCodecError.invalid(.bitsPerSecond, value: -1)) {
            try AudioEncoder(AudioEncoderConfiguration(channels: 1, bitsPerSecond: -1))
        }
        #expect(throws: VideoCodecError.invalid(.sampleCount, value: 3)) {
            try encoder().encode([0, 0, 0], at: .zero)
        }
    }
}
