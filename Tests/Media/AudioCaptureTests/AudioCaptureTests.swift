import Glibc
import Testing

@testable import AudioCapture

struct AudioCaptureTests {
    private let clock = VirtualClock()

    private func capture(_ stream: ScriptedStream) throws -> AudioCapture {
        try AudioCapture(AudioCaptureConfiguration(device: "hw:CARD=C920"), stream: stream, clock: clock)
    }

    @Test func `a block has the driver's instant of its first sample`() throws {
        let capture = try capture(ScriptedStream(clock, [.audio(960), .audio(480)]))
        let begin = clock.now
        let first = try #require(try capture.read())
        #expect(first.instant == begin)
        #expect(first.samples == [Float](repeating: 0.5, count: 960))
        let second = try #require(try capture.read())
        #expect(second.instant == begin + 20_000_000)
        #expect(second.samples.count == 480)
        #expect(!second.isAfterRestart)
        #expect(capture.channels == 1)
        #expect(capture.counters.frames == 1_440)
    }

    @Test func `what piled up comes in pieces of 100 ms, each with its own instant`() throws {
        let capture = try capture(ScriptedStream(clock, [.audio(12_000)]))
        let begin = clock.now
        var blocks: [AudioBlock] = []
        while let block = try capture.read() { blocks.append(block) }
        #expect(blocks.map(\.samples.count) == [4_800, 4_800, 2_400])
        #expect(blocks.map { ($0.instant - begin) / 1_000_000 } == [0, 100, 200])
    }

    @Test func `an overrun is recovered from, counted, and reported with the next block`() throws {
        let stream = ScriptedStream(
            clock, [.audio(960), .waitFails(EPIPE), .audio(960), .readFails(EPIPE), .audio(960)])
        let capture = try capture(stream)
        #expect(try capture.read()?.isAfterRestart == false)
        #expect(try capture.read() == nil)
        #expect(try capture.read()?.isAfterRestart == true)
        #expect(try capture.read() == nil)
        #expect(try capture.read()?.isAfterRestart == true)
        #expect(stream.calls == ["start", "prepare", "start", "prepare", "start"])
        #expect(capture.counters.overruns == 2)
        #expect(capture.counters.restarts == 2)
    }

    @Test(arguments: [true, false])
    func `a device that is pulled out says so`(isWaiting: Bool) throws {
        let last: ScriptedStream.Step = isWaiting ? .waitFails(ENODEV) : .readFails(ENODEV)
        let capture = try capture(ScriptedStream(clock, [.audio(960), last]))
        #expect(try capture.read() != nil)
        #expect(throws: AudioCaptureError.disconnected(device: "hw:CARD=C920")) { try capture.read() }
    }

    @Test(arguments: [true, false])
    func `a device that is unplugged during recovery says so`(isPrepared: Bool) throws {
        let stream = ScriptedStream(clock, [.waitFails(EPIPE)])
        let capture = try capture(stream)
        if isPrepared { stream.starts = [ENODEV] } else { stream.prepares = [ENODEV] }
        #expect(throws: AudioCaptureError.disconnected(device: "hw:CARD=C920")) { try capture.read() }
    }

    @Test func `a device that sleeps is asked until it is awake`() throws {
        let stream = ScriptedStream(clock, [.audio(960), .readFails(ESTRPIPE), .audio(960)])
        stream.resumes = [EAGAIN, EAGAIN]
        let capture = try capture(stream)
        #expect(try capture.read() != nil)
        for _ in 0..<3 { #expect(try capture.read() == nil) }
        #expect(try capture.read()?.isAfterRestart == true)
        #expect(stream.calls == ["start", "resume", "resume", "resume"])
    }

    @Test func `a device that cannot wake its stream gets a new one`() throws {
        let stream = ScriptedStream(clock, [.readFails(ESTRPIPE), .audio(960)])
        stream.resumes = [ENOSYS]
        let capture = try capture(stream)
        #expect(try capture.read() == nil)
        #expect(try capture.read()?.isAfterRestart == true)
        #expect(stream.calls == ["start", "resume", "prepare", "start"])
    }

    @Test func `a device that only fails is given up`() throws {
        let capture = try capture(ScriptedStream(clock, Array(repeating: .waitFails(EIO), count: 20)))
        for _ in 0..<5 { #expect(try capture.read() == nil) }
        #expect(throws: AudioCaptureError.stream(device: "hw:CARD=C920", call: "snd_pcm_wait", errno: EIO)) {
            try capture.read()
        }
    }

    @Test func `a device that says nothing is given up after 3 s`() throws {
        let capture = try capture(ScriptedStream(clock))
        let begin = clock.now
        #expect(throws: AudioCaptureError.silent(device: "hw:CARD=C920", seconds: 3)) {
            for _ in 0..<100 { _ = try capture.read() }
        }
        #expect(clock.now - begin == 3_000_000_000)
    }

    @Test func `false alarms do not spin`() throws {
        let capture = try capture(ScriptedStream(clock, [.falseAlarm, .falseAlarm, .audio(960)]))
        let begin = clock.now
        #expect(try capture.read() == nil)
        #expect(try capture.read() == nil)
        #expect(clock.now - begin == 20_000_000)
        #expect(try capture.read()?.isAfterRestart == false)
    }

    @Test func `a device without a clock is paced from its start`() throws {
        let stream = ScriptedStream(clock)
        stream.available = 24_000
        let capture = try capture(stream)
        let begin = clock.now
        for index in 1...10 {
            let block = try #require(try capture.read())
            #expect(block.instant == begin + UInt64(index - 1) * 20_000_000)
            #expect(clock.now == begin + UInt64(index) * 20_000_000)
        }
    }

    @Test func `a device that turns out to be too fast is paced`() throws {
        let stream = ScriptedStream(clock, Array(repeating: .nonsense(4_800), count: 1_000))
        let capture = try capture(stream)
        let begin = clock.now
        var frames = 0
        for _ in 0..<300 { frames += try capture.read()?.samples.count ?? 0 }
        let seconds = Double(clock.now - begin) / 1e9
        #expect(Double(frames) / 48_000 < seconds + 2.3)
        #expect(seconds > 5)
    }

    @Test func `a device that does not start is closed`() {
        let stream = ScriptedStream(clock)
        stream.starts = [EBUSY]
        #expect(throws: AudioCaptureError.busy(device: "hw:CARD=C920")) { try capture(stream) }
        #expect(stream.isClosed)
    }

    @Test func `after its stop there is nothing`() throws {
        let stream = ScriptedStream(clock, [.audio(960)])
        let capture = try capture(stream)
        capture.stop()
        capture.stop()
        #expect(try capture.read() == nil)
        #expect(stream.isClosed)
    }
}
