import Media
import Synchronization
import Testing
import VideoCodec

@Suite struct TestPatternSourceTests {
    @Test func `a second of pattern holds the frames and the audio of a second, in decoding order`() throws {
        let recording = try Pattern.record(frames: 25)
        #expect(recording.videoUnits.count == 25)
        // 48 000 samples in frames of 1024, and the one that the encoder puts in front.
        #expect((47...49).contains(recording.audioUnits.count))
        let times = recording.units.map(\.decodeTime)
        #expect(times == times.sorted())
        #expect(times.first == .zero)
        #expect(recording.units.allSatisfy { $0.captureInstant != nil })
    }

    @Test func `both formats come before the first unit, and once`() throws {
        let recording = try Pattern.record(frames: 30)
        #expect(recording.videoFormats.count == 1)
        #expect(recording.audioFormats.count == 1)
        guard case .videoFormat(let video) = recording.events[0], case .audioFormat(let audio) = recording.events[1]
        else {
            Issue.record("the stream begins with \(recording.events.prefix(2))")
            return
        }
        #expect(video.width == 320 && video.height == 180 && video.frameRate == 25 && video.codec == .h264)
        #expect(audio.sampleRate == 48_000 && audio.channels == 2)
        #expect(try AudioSpecificConfig.parse(audio.audioSpecificConfig[...]).objectType == 2)
        #expect(try AVCConfigurationRecord.parse(video.configurationRecord[...]).nalUnitLengthSize == 4)
    }

    @Test func `frames are evenly spaced and never reordered, audio is gapless`() throws {
        let recording = try Pattern.record(Pattern.configuration(frameRate: 30_000.0 / 1001), frames: 61)
        let start = recording.videoUnits[0].presentationTime
        for (number, unit) in recording.videoUnits.enumerated() {
            #expect(unit.presentationTime == unit.decodeTime)
            #expect(
                unit.presentationTime - start == MediaTime(ticks: Int64(number) * 1001, timescale: 30_000))
        }
        for (number, unit) in recording.audioUnits.enumerated() {
            #expect(unit.presentationTime == MediaTime(ticks: Int64(number) * 1024, timescale: 48_000))
        }
    }

    @Test func `a key frame begins each group of the configured length, and no other`() throws {
        let recording = try Pattern.record(frames: 76, audio: nil)
        let keys = recording.videoUnits.indices.filter { recording.videoUnits[$0].isKeyFrame }
        #expect(keys == [0, 25, 50, 75])
        for unit in recording.videoUnits {
            #expect(try VideoCodec.h264.isKeyFrame(unit.data[...]) == unit.isKeyFrame)
        }
    }

    @Test func `without audio the first frame is at zero`() throws {
        let recording = try Pattern.record(frames: 3, audio: nil)
        #expect(recording.audioFormats.isEmpty && recording.audioUnits.isEmpty)
        #expect(recording.videoUnits.first?.decodeTime == .zero)
    }

    @Test func `a duration limit ends the stream, counted from the first frame`() throws {
        var configuration = TestPatternConfiguration(
            video: Pattern.configuration(), audio: AudioEncoderConfiguration(channels: 1, bitsPerSecond: 64_000))
        configuration.durationLimit = 0.5
        configuration.isRealTime = false
        let recording = Recording()
        try TestPatternSource(configuration).run { recording.append($0) }
        #expect(recording.videoUnits.count == 13)
        #expect(recording.audioFormats.first?.channels == 1)
    }

    @Test(.timeLimit(.minutes(15)))
    func `in real time a unit comes when it is due, and its capture instant says so`() throws {
        var configuration = TestPatternConfiguration(video: Pattern.configuration())
        configuration.frameLimit = 15
        let recording = Recording()
        let begin = SourceClock.now
        try TestPatternSource(configuration).run { recording.append($0) }
        #expect(!recording.videoUnits.isEmpty && !recording.audioUnits.isEmpty)
        for unit in recording.units {
            let instant = try #require(unit.captureInstant)
            // Never early; how late depends on the machine.
            #expect(Int64(instant - begin) >= unit.decodeTime.nanoseconds)
        }
    }

    @Test(.timeLimit(.minutes(15)))
    func `a machine that does not keep up leaves frames out, and stays in time`() throws {
        var configuration = TestPatternConfiguration(video: Pattern.configuration(), audio: nil)
        configuration.frameLimit = 25
        let source = TestPatternSource(configuration)
        let recording = Recording()
        try source.run { event in
            recording.append(event)
            // As an encoder would that is too slow for the fifth frame.
            if recording.videoUnits.count == 5 { occupy(for: .milliseconds(500)) }
        }
        let skipped = source.skippedFrames
        #expect(skipped >= 11)
        #expect(recording.videoUnits.count + skipped == 25 || skipped > 20)
        let times = recording.videoUnits.map(\.presentationTime)
        #expect(times.allSatisfy { $0.nanoseconds % 40_000_000 == 0 })
        #expect(zip(times, times.dropFirst()).contains { $1 - $0 >= MediaTime(milliseconds: 440) })
    }

    @Test(.timeLimit(.minutes(15)))
    func `where audio takes longer than it lasts, there is a frame a second all the same`() throws {
        var configuration = TestPatternConfiguration(video: Pattern.configuration())
        configuration.frameLimit = 75
        let source = TestPatternSource(configuration)
        let recording = Recording()
        try source.run { event in
            recording.append(event)
            // Twice what an audio frame lasts: soon no frame is on time.
            if case .accessUnit(let unit) = event, !unit.track.isVideo { occupy(for: .milliseconds(43)) }
        }
        #expect(source.skippedFrames > 0)
        let times = recording.videoUnits.map(\.presentationTime)
        let second = MediaTime(milliseconds: 1080)
        #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 <= second })
        #expect(try #require(times.last) >= MediaTime(milliseconds: 3000) - second)
        let units = recording.units.map(\.decodeTime)
        #expect(units == units.sorted())
    }

    @Test(.timeLimit(.minutes(15)))
    func `a wait for a distant instant ends when the clock is stopped`() async {
        let clock = SourceClock()
        let hour: UInt64 = 3_600_000_000_000
        let waiting = AsyncStream<Void>.makeStream()
        async let wasDue: Bool = onThread {
            waiting.continuation.yield()
            return clock.wait(until: SourceClock.now + hour)
        }
        for await _ in waiting.stream { break }
        clock.stop()
        let reached = await wasDue
        #expect(!reached)
    }

    /// 200 ms are what a source may take; its clock looks every 50 ms. What this machine made of it is printed.
    @Test(.timeLimit(.minutes(15)))
    func `stop ends the run also while it waits for a distant frame`() async throws {
        // One frame in ten seconds: the source is asleep when it is stopped.
        var video = Pattern.configuration(frameRate: 0.1)
        video.keyFrameInterval = 100
        let source = TestPatternSource(TestPatternConfiguration(video: video, audio: nil))
        let started = AsyncStream<Void>.makeStream()
        async let elapsed: Duration = onThread {
            var end = ContinuousClock.now
            try? source.run { _ in started.continuation.yield() }
            end = ContinuousClock.now
            return end - Stopped.instant.withLock { $0 ?? end }
        }
        for await _ in started.stream { break }
        Stopped.instant.withLock { $0 = ContinuousClock.now }
        source.stop()
        let time = await elapsed
        print("stop of the test pattern: \(time)")
        #expect(time < .seconds(30))
    }

    @Test func `a source that was stopped before ends at once`() throws {
        let source = TestPatternSource()
        source.stop()
        let recording = Recording()
        try source.run { recording.append($0) }
        #expect(recording.units.isEmpty)
    }

    @Test func `a key frame is made when it is asked for`() throws {
        var video = Pattern.configuration()
        video.keyFrameInterval = 100
        var configuration = TestPatternConfiguration(video: video, audio: nil)
        configuration.isRealTime = false
        configuration.frameLimit = 20
        let source = TestPatternSource(configuration)
        let recording = Recording()
        try source.run { event in
            recording.append(event)
            if recording.videoUnits.count == 8 { source.requestKeyFrame() }
        }
        // Asked for while the eighth was delivered; the ninth is it.
        #expect(recording.videoUnits.indices.filter { recording.videoUnits[$0].isKeyFrame } == [0, 8])
    }

    @Test func `the rate changes while the source runs`() throws {
        var configuration = TestPatternConfiguration(
            video: Pattern.configuration(width: 640, height: 360, bitsPerSecond: 1_500_000), audio: nil)
        configuration.isRealTime = false
        configuration.frameLimit = 150
        let source = TestPatternSource(configuration)
        let recording = Recording()
        try source.run { event in
            recording.append(event)
            if recording.videoUnits.count == 75 { source.setBitsPerSecond(100_000) }
        }
        let sizes = recording.videoUnits.map(\.data.count)
        let before: Int = sizes[25..<75].reduce(0, +)
        let after: Int = sizes[100...].reduce(0, +)
        #expect(after * 2 < before)
    }

    @Test func `the encoder in use is named`() throws {
        var configuration = TestPatternConfiguration(video: Pattern.configuration(), audio: nil)
        configuration.frameLimit = 1
        configuration.isRealTime = false
        let source = TestPatternSource(configuration)
        #expect(source.encoderChoice == nil)
        try source.run { _ in }
        #expect(source.encoderChoice?.codec == .h264)
    }

    @Test func `an impossible configuration is refused with a message`() {
        var configuration = TestPatternConfiguration()
        configuration.video.width = 321
        #expect(
            throws: MediaSourceError(
                what: "cannot make the test pattern", why: "width 321 is out of range", hint: "Choose another value.")
        ) {
            try TestPatternSource(configuration).run { _ in }
        }
    }
}

/// When the source of the stop test was asked to stop.
private enum Stopped {
    static let instant = Mutex<ContinuousClock.Instant?>(nil)
}
