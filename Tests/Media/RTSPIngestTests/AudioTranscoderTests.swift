import Glibc
import Media
import Testing

@testable import RTSPIngest

@Suite struct AudioTranscoderTests {
    // ITU-T G.711, tables 1a to 2b: the ends and the middle of each law.
    @Test(
        arguments: [
            (0x00, -32124), (0x80, 32124), (0xFF, 0), (0x7F, 0), (0x0F, -16764), (0x8F, 16764), (0xFE, 8),
            (0x7E, -8),
        ] as [(UInt8, Int)])
    func `mu-law`(code: UInt8, value: Int) {
        #expect(G711.muLaw[Int(code)] == Float(value) / 32_768)
    }

    @Test(
        arguments: [
            (0x2A, -32256), (0xAA, 32256), (0xD5, 8), (0x55, -8), (0xD4, 24), (0x54, -24), (0x80, 5504),
            (0x00, -5504),
        ] as [(UInt8, Int)])
    func `A-law`(code: UInt8, value: Int) {
        #expect(G711.aLaw[Int(code)] == Float(value) / 32_768)
    }

    @Test(arguments: [300.0, 1000, 2000, 3000])
    func `doubling keeps a tone and adds nothing above it`(frequency: Double) {
        var doubler = RateDoubler()
        var result: [Float] = []
        for packet in 0..<50 {
            result += doubler.doubled(
                (0..<160).map { index in
                    Float(0.5 * sin(2 * .pi * frequency * Double(packet * 160 + index) / 8000))
                })
        }
        #expect(result.count == 16_000)
        let body = result[800..<15_800]
        func power(_ frequency: Double) -> Double {
            var real = 0.0
            var imaginary = 0.0
            for (index, sample) in body.enumerated() {
                real += Double(sample) * cos(2 * .pi * frequency * Double(index) / 16_000)
                imaginary += Double(sample) * sin(2 * .pi * frequency * Double(index) / 16_000)
            }
            return (real * real + imaginary * imaginary) / Double(body.count * body.count) * 4
        }
        #expect(abs(power(frequency).squareRoot() - 0.5) < 0.05)
        // Its mirror image above the camera's own band.
        #expect(power(8000 - frequency).squareRoot() < 0.05)
    }

    private func packet(_ count: Int = 160) -> [UInt8] { (0..<count).map { $0 / 10 % 2 == 0 ? 0x80 : 0x00 } }

    @Test(arguments: [0.5, 0.84, 1.25])
    func `a camera that delivers another number of samples than it announces is heard without a hole`(
        rate: Double
    ) throws {
        let encoder = try AudioTranscoder()
        var last: MediaTime?
        var newest = MediaTime.zero
        for index in 0..<1500 {
            newest = MediaTime(nanoseconds: Int64(Double(index) * 20e6 / rate))
            for unit in try encoder.encode(packet(), isALaw: false, at: newest, captureInstant: 1) {
                if let last { #expect((unit.presentationTime - last).nanoseconds == 64_000_000) }
                last = unit.presentationTime
            }
        }
        #expect(abs((newest - (try #require(last))).nanoseconds) < 300_000_000)
    }

    @Test func `a clock that is 300 ppm off is followed without a jump for five minutes`() throws {
        for drift in [300e-6, -300e-6] {
            let encoder = try AudioTranscoder()
            var last: MediaTime?
            var newest = MediaTime.zero
            for index in 0..<(50 * 300) {
                newest = MediaTime(nanoseconds: Int64(Double(index) * 20e6 * (1 + drift)))
                for unit in try encoder.encode(packet(), isALaw: false, at: newest, captureInstant: 1) {
                    if let last {
                        let gap = (unit.decodeTime - last).nanoseconds
                        #expect(gap == 64_000_000, "\(drift)")
                    }
                    last = unit.decodeTime
                }
            }
            // The encoder holds two frames at most.
            let behind = try #require(last.map { newest - $0 })
            #expect(behind.milliseconds < 250)
            #expect(behind.milliseconds > 0)
        }
    }

    @Test func `a hole is a hole, and audio that comes twice is left out`() throws {
        let encoder = try AudioTranscoder()
        var times: [Int64] = []
        func feed(_ milliseconds: Int64) throws {
            let units = try encoder.encode(
                packet(), isALaw: true, at: MediaTime(milliseconds: milliseconds), captureInstant: 1)
            times += units.map(\.decodeTime.milliseconds)
        }
        for index in 0..<50 { try feed(Int64(index) * 20) }
        for index in 0..<10 { try feed(500 + Int64(index) * 20) }
        for index in 0..<50 { try feed(5000 + Int64(index) * 20) }
        for (earlier, later) in zip(times, times.dropFirst()) { #expect(later > earlier) }
        #expect(times.contains { $0 >= 5000 })
        #expect(!times.contains { $0 > 1100 && $0 < 4800 })
    }

    @Test(arguments: [(8_000, 2, 16_000), (16_000, 1, 16_000), (11_025, 1, 11_025), (48_000, 2, 48_000)])
    func `other rates and two channels become AAC of theirs`(rate: Int, channels: Int, output: Int) throws {
        let encoder = try AudioTranscoder(inputRate: rate, channels: channels)
        #expect(encoder.format.sampleRate == output)
        #expect(encoder.format.channels == channels)
        var units: [AccessUnit] = []
        for index in 0..<100 {
            units += try encoder.encode(
                packet(rate / 50 * channels), isALaw: true, at: MediaTime(milliseconds: Int64(index) * 20),
                captureInstant: 1)
        }
        // Two seconds of it, less what the encoder holds.
        let frames = 2.0 * Double(output) / 1024
        #expect(Double(units.count) > frames - 5 && Double(units.count) < frames + 2, "\(units.count)")
        for (earlier, later) in zip(units, units.dropFirst()) { #expect(later.decodeTime > earlier.decodeTime) }
    }

    @Test func `half an instant is left out`() throws {
        let encoder = try AudioTranscoder(inputRate: 8_000, channels: 2)
        for count in [1, 3, 321] {
            _ = try encoder.encode(packet(count), isALaw: false, at: .zero, captureInstant: 1)
        }
    }

    @Test func `packets of any length do not trap`() throws {
        let encoder = try AudioTranscoder()
        for count in [0, 1, 2, 3, 7, 160, 16_000, 16_001, 70_000] {
            _ = try encoder.encode(
                packet(count), isALaw: false, at: MediaTime(nanoseconds: .max / 2), captureInstant: .max)
        }
    }
}
