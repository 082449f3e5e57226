internal import Glibc

/// What befell a capture so far.
struct AudioCaptureCounters: Equatable, Sendable {
    /// Frames that were handed over.
    var frames: UInt64 = 0
    /// Times that samples were lost because they were not fetched in time.
    var overruns: UInt64 = 0
    /// Times that the stream was started again, overruns among them.
    var restarts: UInt64 = 0
}

/// Audio from an ALSA device. Used by one thread at a time, one of its own: a read blocks.
public final class AudioCapture {
    public let configuration: AudioCaptureConfiguration
    /// The device's own, samples per second; `AudioTimeline` makes 48 000 of it.
    public let sampleRate: Int
    /// 1 or 2.
    public let channels: Int
    /// Frames between two moments at which there is something to read.
    var period: Int { stream.shape.period }

    var counters: AudioCaptureCounters {
        var counters = AudioCaptureCounters()
        counters.frames = frames
        counters.overruns = recovery.overruns
        counters.restarts = recovery.restarts
        return counters
    }

    private let stream: any CaptureStream
    private let clock: any CaptureClock
    private var recovery = StreamRecovery()
    private var freeRun: FreeRun?
    private var bytes: [UInt8]
    private var frames: UInt64 = 0
    /// CLOCK_MONOTONIC when the stream was first started, nanoseconds; restarts do not move it.
    private var begin: UInt64
    private var isAfterRestart = false
    private var isResuming = false
    private var isStopped = false

    /// Milliseconds of one wait, and of audio at once.
    private static let longestWait: Int32 = 100

    /// Opens the device and starts it.
    ///
    /// - Throws: a device that is not there, may not be opened, or is in use says so at once; nothing is waited for.
    public convenience init(_ configuration: AudioCaptureConfiguration) throws(AudioCaptureError) {
        try Self.check(configuration)
        try self.init(configuration, stream: try ALSAStream.open(configuration), clock: MonotonicClock())
    }

    init(
        _ configuration: AudioCaptureConfiguration, stream: any CaptureStream, clock: any CaptureClock
    ) throws(AudioCaptureError) {
        self.configuration = configuration
        self.stream = stream
        self.clock = clock
        let shape = stream.shape
        sampleRate = shape.rate
        channels = min(shape.channels, configuration.channels)
        let block = max(shape.rate * Int(Self.longestWait) / 1000, 1)
        bytes = [UInt8](repeating: 0, count: block * shape.bytesPerFrame)
        begin = clock.now
        do throws(AudioCaptureError) {
            try start()
        } catch {
            stream.close()
            throw error
        }
    }

    /// Starts the stream, and looks whether it has a clock: a full buffer right after the start was not sampled.
    private func start() throws(AudioCaptureError) {
        for attempt in 1...3 {
            begin = clock.now
            try check("snd_pcm_start", stream.start())
            let available = UInt64(max(stream.position().available, 0))
            let passed = clock.now - begin
            if FreeRun.isRecognised(shape: stream.shape, frames: available, sinceStart: passed, head: 0.1) {
                freeRun = FreeRun(shape: stream.shape, begin: begin)
                return
            }
            // After a pause in between, a full buffer may be true.
            if passed < 100_000_000 || attempt == 3 { return }
            try check("snd_pcm_drop", stream.drop())
            try check("snd_pcm_prepare", stream.prepare())
        }
    }

    private func check(_ call: String, _ result: Int) throws(AudioCaptureError) {
        guard result < 0 else { return }
        throw .opening(configuration.device, call: call, number: Int32(clamping: -result), detail: "")
    }

    deinit {
        stream.close()
    }

    /// Waits up to 100 ms for audio; nil: nothing yet, or stopped. At most 100 ms of audio at once.
    ///
    /// Lost samples and a sleep of the device are repaired and counted; the first block after that says so.
    ///
    /// - Throws: what only a new `AudioCapture` can fix: `.disconnected`, `.stream`, `.silent`.
    public func read() throws(AudioCaptureError) -> AudioBlock? {
        guard !isStopped else { return nil }
        if isResuming { return try afterResume(stream.resume()) }
        if freeRun != nil { return try readFree() }
        let waited = stream.wait(milliseconds: Self.longestWait)
        if waited < 0 { return try recovered("snd_pcm_wait", waited) }
        if waited == 0 { return try act(on: recovery.waited(milliseconds: Int(Self.longestWait))) }
        let position = stream.position()
        let now = clock.now
        if position.available < 0 { return try recovered("snd_pcm_avail", position.available) }
        let instant = position.instant(shape: stream.shape, now: now)
        let count = take(max(position.available, 1))
        guard count > 0 else { return try recovered("snd_pcm_readi", count) }
        // The last resort against a device that would keep this thread busy for ever.
        if FreeRun.isRecognised(shape: stream.shape, frames: frames, sinceStart: now - begin, head: 2) {
            freeRun = FreeRun(shape: stream.shape, begin: now)
        }
        return block(count, instant)
    }

    /// Closes the device. `read` gives nil from now on.
    public func stop() {
        isStopped = true
        stream.close()
    }

    // MARK: reading

    private func readFree() throws(AudioCaptureError) -> AudioBlock? {
        guard var run = freeRun else { return nil }
        clock.sleep(until: run.due(now: clock.now))
        let count = take(run.blockFrames)
        guard count > 0 else { return try recovered("snd_pcm_readi", count) }
        let instant = run.taken(count)
        freeRun = run
        return block(count, instant)
    }

    /// Frames that are in `bytes` now; not positive on failure.
    private func take(_ requested: Int) -> Int {
        let shape = stream.shape
        return bytes.withUnsafeMutableBytes { buffer in
            let frames = min(requested, buffer.count / shape.bytesPerFrame)
            // The file plugin counts frames behind the end of its file, and does not write them.
            if freeRun != nil { buffer.initializeMemory(as: UInt8.self, repeating: 0) }
            return min(stream.read(into: buffer, frames: frames), frames)
        }
    }

    private func block(_ count: Int, _ instant: UInt64) -> AudioBlock {
        recovery.delivered()
        frames += UInt64(count)
        defer { isAfterRestart = false }
        let shape = stream.shape
        let samples = bytes.withUnsafeBytes {
            shape.format.samples($0, frames: count, channels: shape.channels, kept: channels)
        }
        return AudioBlock(samples: samples, instant: instant, isAfterRestart: isAfterRestart)
    }

    // MARK: repair

    /// `result` is what `call` returned: a negative errno, or 0 for a read without samples.
    private func recovered(_ call: String, _ result: Int) throws(AudioCaptureError) -> AudioBlock? {
        let number: Int32 = result == 0 ? EAGAIN : Int32(clamping: -result)
        return try act(on: recovery.failed(call, number))
    }

    private func act(on action: StreamRecovery.Action) throws(AudioCaptureError) -> AudioBlock? {
        switch action {
        case .pause(let milliseconds):
            if milliseconds > 0 { clock.sleep(until: clock.now + UInt64(milliseconds) * 1_000_000) }
            return nil
        case .restart:
            isResuming = false
            isAfterRestart = true
            let prepared = stream.prepare()
            if prepared < 0 { return try recovered("snd_pcm_prepare", prepared) }
            let started = stream.start()
            return started < 0 ? try recovered("snd_pcm_start", started) : nil
        case .resume:
            isResuming = true
            return try afterResume(stream.resume())
        case .giveUp(let failure):
            throw error(failure)
        }
    }

    private func afterResume(_ result: Int) throws(AudioCaptureError) -> AudioBlock? {
        guard result < 0 else {
            isResuming = false
            isAfterRestart = true
            return nil
        }
        return try recovered("snd_pcm_resume", result)
    }

    private func error(_ failure: StreamRecovery.Failure) -> AudioCaptureError {
        let device = configuration.device
        return switch failure {
        case .disconnected: .disconnected(device: device)
        case .faulty(let call, let number): .stream(device: device, call: call, errno: number)
        case .silent(let seconds): .silent(device: device, seconds: seconds)
        }
    }

    private static func check(_ configuration: AudioCaptureConfiguration) throws(AudioCaptureError) {
        let device = configuration.device
        func invalid(_ reason: String) -> AudioCaptureError { .invalid(device: device, reason: reason) }
        guard !device.isEmpty, device.utf8.count <= 255 else { throw invalid("Its name must have 1 to 255 bytes.") }
        guard device.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw invalid("Its name has characters that cannot be printed.")
        }
        guard (8_000...192_000).contains(configuration.sampleRate) else {
            throw invalid("The sample rate \(configuration.sampleRate) is not within 8000 and 192000.")
        }
        guard (1...2).contains(configuration.channels) else {
            throw invalid("\(configuration.channels) channels were asked for: it is 1 or 2.")
        }
    }
}
