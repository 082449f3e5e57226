import Glibc
import Media
import TestSupport
import Testing
import VideoCodec

@testable import AudioCapture

/// The real libasound, with the devices that need no sound card.
@Suite(.ownThread) struct ALSADeviceTests {
    init() {
        #expect(ALSAConfiguration.isInstalled)
    }

    private func open(_ device: String, channels: Int = 2, rate: Int = 48_000) throws -> AudioCapture {
        try AudioCapture(AudioCaptureConfiguration(device: device, sampleRate: rate, channels: channels))
    }

    private var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    @Test(arguments: ["null", "plug:null", "test_floats", "test_array", "test_telephone", "test_whole_numbers"])
    func `a device without a clock is never ahead of time`(device: String) throws {
        let begin = now
        let capture = try open(device, channels: 1)
        #expect(capture.sampleRate == 48_000)
        #expect(capture.channels == 1)
        var expected: UInt64?
        for _ in 0..<20 {
            let block = try #require(try capture.read())
            let after = now
            let length = UInt64(block.samples.count) * 1_000_000_000 / 48_000
            #expect(block.instant >= begin)
            #expect(block.instant + length <= after)
            #expect((480...1_024).contains(block.samples.count))
            // Continuous, unless this machine kept the test from running.
            if let expected, after - begin < 1_000_000_000 {
                #expect(max(block.instant, expected) - min(block.instant, expected) <= 2)
            }
            expected = block.instant + length
        }
        #expect(capture.counters.overruns == 0)
        capture.stop()
        #expect(try capture.read() == nil)
    }

    @Test func `what is in a file comes at its time`() throws {
        let capture = try open("test_floats", channels: 1)
        var timeline = AudioTimeline(inputRate: capture.sampleRate, channels: capture.channels)
        var samples: [Float] = []
        var first: UInt64?
        var begin: UInt64?
        while samples.count < 2 * 48_000 + 9_600 {
            guard let block = try capture.read() else { continue }
            first = first ?? block.instant
            let placed = timeline.placed(block)
            begin = begin ?? placed.instant
            samples += placed.samples
        }
        #expect(begin == first)
        let onsets = Beeps.onsets(in: samples, rate: 48_000)
        try #require(onsets.count == 3)
        for (index, onset) in onsets.enumerated() {
            #expect((Double(onset) / 48_000 - Double(index)).magnitude < 0.02)
        }
        #expect(timeline.counters.gaps == 0)
        let loudest = samples.map(\.magnitude).max() ?? 0
        #expect((loudest - 0.5).magnitude < 0.05)
    }

    @Test func `of six channels two are taken, and a rate is as asked`() throws {
        let capture = try open("test_array", rate: 44_100)
        #expect(capture.channels == 2)
        #expect(capture.sampleRate == 44_100)
        let block = try #require(try capture.read())
        #expect(block.samples.count == capture.period * 2)
        #expect(block.samples.allSatisfy { $0 == 0 })
    }

    @Test func `a device that is not there says which, why, and what to do`() throws {
        let error = #expect(throws: AudioCaptureError.self) { try open("hw:CARD=WatchBoxTest") }
        guard case .notThere(let device, let detail) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(device == "hw:CARD=WatchBoxTest")
        #expect(detail.contains("WatchBoxTest"))
    }

    @Test func `a name that no configuration knows is not there`() {
        let error = #expect(throws: AudioCaptureError.self) { try open("test_nobody") }
        #expect(error == .notThere(device: "test_nobody", detail: "Unknown PCM test_nobody"))
    }

    @Test(arguments: ["test_broken", "plug:{", "plug:SLAVE='"])
    func `a name that makes no sense is an error with libasound's reason`(device: String) throws {
        let error = try #require(#expect(throws: AudioCaptureError.self) { try open(device) })
        switch error {
        case .notThere(_, let detail), .refused(_, _, _, let detail): #expect(!detail.isEmpty)
        default: Issue.record("\(error)")
        }
    }

    @Test func `what no device can be asked for is refused before it is opened`() {
        let wrong = [
            AudioCaptureConfiguration(device: ""), AudioCaptureConfiguration(device: "a\u{0}b"),
            AudioCaptureConfiguration(device: String(repeating: "a", count: 256)),
            AudioCaptureConfiguration(device: "null", sampleRate: 0),
            AudioCaptureConfiguration(device: "null", sampleRate: .max),
            AudioCaptureConfiguration(device: "null", channels: 0),
            AudioCaptureConfiguration(device: "null", channels: 3),
        ]
        for configuration in wrong {
            let error = #expect(throws: AudioCaptureError.self) { try AudioCapture(configuration) }
            guard case .invalid = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
    }

    @Test func `the devices of this machine are listed`() throws {
        let devices = try AudioDevices.list()
        #expect(devices.contains { $0.name == "null" && !$0.isCard && !$0.description.isEmpty })
        #expect(devices.allSatisfy { $0.isCard == $0.name.hasPrefix("hw:") })
    }

    @Test func `libasound's failures are not printed`() throws {
        let file = try #require(tmpfile())
        defer { fclose(file) }
        let stderrCopy = dup(2)
        dup2(fileno(file), 2)
        let error = #expect(throws: AudioCaptureError.self) { try open("test_unprinted") }
        dup2(stderrCopy, 2)
        defer { close(stderrCopy) }
        #expect(error?.why.contains("test_unprinted") == true)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = max(pread(fileno(file), &bytes, bytes.count, 0), 0)
        // Others' lines, from tests beside this one.
        write(stderrCopy, bytes, count)
        #expect(!String(decoding: bytes[..<count], as: UTF8.self).contains("test_unprinted"))
    }

    @Test func `null becomes AAC without a gap`() throws {
        let capture = try open("null")
        var timeline = AudioTimeline(inputRate: capture.sampleRate, channels: capture.channels)
        let encoder = try AudioEncoder(
            AudioEncoderConfiguration(channels: capture.channels, bitsPerSecond: 96_000))
        var units: [AccessUnit] = []
        var origin: UInt64?
        while units.count < 40 {
            guard let block = try capture.read() else { continue }
            let placed = timeline.placed(block)
            let begin = origin ?? placed.instant
            origin = begin
            units += try encoder.encode(
                placed.samples, at: MediaTime(nanoseconds: Int64(placed.instant - begin)),
                captureInstant: placed.instant)
        }
        #expect(encoder.format.sampleRate == 48_000)
        #expect(units.allSatisfy { !$0.data.isEmpty })
        let gaps = zip(units, units.dropFirst()).filter { one, two in
            let distance = (two.presentationTime - one.presentationTime).nanoseconds
            return (distance - 1024 * 1_000_000_000 / 48_000).magnitude > 1
        }
        // A machine that keeps the test from running for a second makes a hole.
        #expect(gaps.count <= Int(timeline.counters.jumps))
    }
}
