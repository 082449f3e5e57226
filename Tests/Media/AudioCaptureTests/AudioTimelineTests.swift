import Glibc
import TestSupport
import Testing

@testable import AudioCapture

struct AudioTimelineTests {
    @Test(arguments: [(-300.0, 48_000), (300, 48_000), (-500, 8_000), (0, 8_000), (500, 8_000)])
    func `a beep stays within 10 ms of its instant whatever the device's clock`(
        partsPerMillion: Double, rate: Int
    ) throws {
        let beeps = Beeps(interval: 3)
        var device = SimulatedDevice(
            rate: rate, partsPerMillion: partsPerMillion, jitter: 3_000_000, seed: 7, audio: beeps.value(at:))
        var timeline = AudioTimeline(inputRate: rate, outputRate: rate, channels: 1)
        var recording = Recording(rate: rate)
        while device.now < 34 { recording.add(timeline.placed(device.block(rate / 50))) }

        #expect(recording.isContinuous)
        let onsets = Beeps.onsets(in: recording.samples, rate: rate)
        try #require(onsets.count == 12)
        for (index, onset) in onsets.enumerated() {
            let error = recording.seconds(onset) - Double(index) * 3
            #expect(error.magnitude < 0.010, "beep \(index)")
        }
        let total = partsPerMillion * 34 / 1000
        #expect((timeline.driftMilliseconds - total).magnitude < 5)
        #expect(timeline.counters == AudioTimeline.Counters())
    }

    @Test func `after a minute the drift is known, and the place is right to a millisecond`() throws {
        var device = SimulatedDevice(rate: 4_000, partsPerMillion: 300, audio: { _ in 0 })
        var timeline = AudioTimeline(inputRate: 4_000, outputRate: 4_000, channels: 1)
        var largest: Int64 = 0
        while device.now < 120 {
            _ = timeline.placed(device.block(80))
            if device.now > 60 { largest = max(largest, abs(timeline.error)) }
        }
        #expect(largest < 1_000_000)
        #expect((timeline.driftPartsPerMillion - 300).magnitude < 10)
    }

    @Test(arguments: [8_000, 16_000, 44_100, 48_000, 96_000, 192_000])
    func `a tone keeps its pitch and its strength`(rate: Int) {
        let tone = { (seconds: Double) in Float(0.5 * _sine(1000, seconds)) }
        var device = SimulatedDevice(rate: rate, audio: tone)
        var timeline = AudioTimeline(inputRate: rate, channels: 1)
        var recording = Recording()
        while device.now < 1.5 { recording.add(timeline.placed(device.block(rate / 50))) }
        let fit = sineFit(Array(recording.samples[12_000..<60_000]), frequency: 1000, rate: 48_000)
        #expect((fit.amplitude - 0.5).magnitude < 0.002)
        // 60 dB below.
        #expect(fit.rest < 0.0005)
    }

    @Test func `each channel keeps its own audio`() {
        var left = SimulatedDevice(rate: 44_100, audio: { Float(0.5 * _sine(1000, $0)) })
        var right = SimulatedDevice(rate: 44_100, audio: { Float(0.25 * _sine(2000, $0)) })
        var timeline = AudioTimeline(inputRate: 44_100, channels: 2)
        var samples: [Float] = []
        while left.now < 1 {
            let (one, two) = (left.block(441), right.block(441))
            let both = zip(one.samples, two.samples).flatMap { [$0, $1] }
            samples += timeline.placed(AudioBlock(samples: both, instant: one.instant)).samples
        }
        let frames = 4_800..<43_200
        let first = sineFit(frames.map { samples[2 * $0] }, frequency: 1000, rate: 48_000)
        let second = sineFit(frames.map { samples[2 * $0 + 1] }, frequency: 2000, rate: 48_000)
        #expect((first.amplitude - 0.5).magnitude < 0.002 && first.rest < 0.001)
        #expect((second.amplitude - 0.25).magnitude < 0.002 && second.rest < 0.001)
    }

    @Test func `lost audio becomes silence, and what follows is in its place`() throws {
        let beeps = Beeps(interval: 1)
        var device = SimulatedDevice(audio: beeps.value(at:))
        var timeline = AudioTimeline(inputRate: 48_000, channels: 1)
        var recording = Recording()
        while device.now < 1.5 { recording.add(timeline.placed(device.block(480))) }
        device.lose(14_400)
        while device.now < 4.5 { recording.add(timeline.placed(device.block(480))) }

        #expect(recording.isContinuous)
        #expect(timeline.counters.gaps == 1)
        #expect((Int64(timeline.counters.silentNanoseconds) - 300_000_000).magnitude < 100_000)
        let onsets = Beeps.onsets(in: recording.samples, rate: 48_000)
        try #require(onsets.count == 5)
        for (index, onset) in onsets.enumerated() {
            #expect((recording.seconds(onset) - Double(index)).magnitude < 0.001)
        }
        let silence = recording.samples[(48_000 * 3 / 2 + 100)..<(48_000 * 9 / 5 - 100)]
        #expect(silence.allSatisfy { $0 == 0 })
    }

    @Test func `the 5 ms that a restart costs are filled at once`() {
        var device = SimulatedDevice(audio: { _ in 0.5 })
        var timeline = AudioTimeline(inputRate: 48_000, channels: 1)
        for _ in 0..<10 { _ = timeline.placed(device.block(480)) }
        device.lose(240)
        var block = device.block(480)
        block.isAfterRestart = true
        let placed = timeline.placed(block)
        #expect(timeline.counters.gaps == 1)
        #expect(placed.samples.count == 720)
        _ = timeline.placed(device.block(480))
        #expect(timeline.error.magnitude < 100_000)
    }

    @Test func `a device that is opened again with another rate and one channel goes on in its place`() throws {
        let beeps = Beeps(interval: 1)
        var device = SimulatedDevice(audio: beeps.value(at:))
        var timeline = AudioTimeline(inputRate: 48_000, channels: 2)
        var left = Recording()
        var isBoth = true
        func place(_ block: AudioBlock) {
            var placed = timeline.placed(block)
            let frames = stride(from: 0, to: placed.samples.count, by: 2)
            isBoth = isBoth && frames.allSatisfy { placed.samples[$0] == placed.samples[$0 + 1] }
            placed.samples = frames.map { placed.samples[$0] }
            left.add(placed)
        }
        while device.now < 1.5 {
            var block = device.block(480)
            block.samples = block.samples.flatMap { [$0, $0] }
            place(block)
        }
        var other = SimulatedDevice(rate: 16_000, audio: beeps.value(at:))
        other.lose(25_000)
        timeline.reopened(inputRate: 16_000, channels: 1)
        while other.now < 3.5 { place(other.block(160)) }
        #expect(left.isContinuous)
        #expect(isBoth)
        #expect(timeline.counters.gaps == 1)
        let onsets = Beeps.onsets(in: left.samples, rate: 48_000)
        try #require(onsets.count == 4)
        for (index, onset) in onsets.enumerated() {
            #expect((left.seconds(onset) - Double(index)).magnitude < 0.002)
        }
    }

    @Test func `a hole too long for silence is jumped over`() {
        var device = SimulatedDevice(audio: { _ in 0.5 })
        var timeline = AudioTimeline(inputRate: 48_000, channels: 1)
        for _ in 0..<10 { _ = timeline.placed(device.block(480)) }
        device.lose(48_000 * 3600)
        let block = device.block(480)
        let placed = timeline.placed(block)
        #expect(placed.instant == block.instant)
        #expect(placed.samples.count <= 480)
        #expect(timeline.counters.jumps == 1)
        #expect(timeline.counters.gaps == 0)
    }

    @Test func `audio for a time that is over is cut, also where it is longer than a block`() throws {
        let beeps = Beeps(interval: 1)
        var device = SimulatedDevice(audio: beeps.value(at:))
        var timeline = AudioTimeline(inputRate: 48_000, channels: 1)
        var recording = Recording()
        while device.now < 1.5 { recording.add(timeline.placed(device.block(480))) }
        // 0.2 s that the timeline already has.
        device.lose(-9_600)
        while device.now < 4.5 { recording.add(timeline.placed(device.block(480))) }
        #expect(recording.isContinuous)
        #expect((Int64(timeline.counters.cutNanoseconds) - 200_000_000).magnitude < 2_000_000)
        let onsets = Beeps.onsets(in: recording.samples, rate: 48_000)
        try #require(onsets.count == 5)
        for (index, onset) in onsets.enumerated() {
            #expect((recording.seconds(onset) - Double(index)).magnitude < 0.003)
        }
    }

    @Test func `one wrong instant is not followed, three in a row are`() {
        var device = SimulatedDevice(audio: { _ in 0.5 })
        var timeline = AudioTimeline(inputRate: 48_000, channels: 1)
        func late() -> AudioTimeline.Counters {
            var block = device.block(480)
            block.instant += 30_000_000
            _ = timeline.placed(block)
            return timeline.counters
        }
        for _ in 0..<10 { _ = timeline.placed(device.block(480)) }
        #expect(late().gaps == 0)
        _ = timeline.placed(device.block(480))
        #expect(late().gaps == 0)
        #expect(late().gaps == 0)
        #expect(late().gaps == 1)
        #expect(late().gaps == 1)
    }

    @Test func `instants that go back by an hour are not followed`() {
        var device = SimulatedDevice(audio: { _ in 0.5 })
        var timeline = AudioTimeline(inputRate: 48_000, channels: 1)
        var recording = Recording()
        for _ in 0..<10 { recording.add(timeline.placed(device.block(480))) }
        for _ in 0..<10 {
            var block = device.block(480)
            block.instant -= 3_600_000_000_000
            recording.add(timeline.placed(block))
        }
        #expect(recording.isContinuous)
        #expect(recording.samples.count > 9_000)
        #expect(timeline.counters.steps == 1)
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `no instant makes it trap or grow`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var timeline = AudioTimeline(inputRate: 48_000, channels: 2)
        for _ in 0..<200 {
            let near = UInt64.random(in: 0...3_000_000_000, using: &generator)
            let instant =
                [0, .max, near, .max - near, UInt64.random(in: 0 ... .max, using: &generator)]
                .randomElement(using: &generator) ?? 0
            let count = Int.random(in: 0...31, using: &generator)
            let block = AudioBlock(
                samples: [Float](repeating: 0.1, count: count), instant: instant,
                isAfterRestart: Bool.random(using: &generator))
            // At most a second of silence and the block.
            #expect(timeline.placed(block).samples.count <= 2 * (48_000 + 64))
        }
    }
}

private func _sine(_ frequency: Double, _ seconds: Double) -> Double { sin(2 * .pi * frequency * seconds) }
