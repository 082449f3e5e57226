import Media
import Testing

@testable import VideoCodec

@Suite struct VideoEncoderChangeTests {
    private func units(_ events: [MediaEvent]) -> [AccessUnit] {
        events.compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
    }

    private func formats(_ events: [MediaEvent]) -> [VideoFormat] {
        events.compactMap { if case .videoFormat(let format) = $0 { format } else { nil } }
    }

    private func encode(_ encoder: VideoEncoder, _ frames: Range<Int>) throws -> [MediaEvent] {
        let configuration = encoder.configuration
        let scene = MovingScene(width: configuration.width, height: configuration.height)
        return try frames.flatMap {
            try encoder.encode(scene.frame($0), at: MediaTime(milliseconds: Int64($0) * 40))
        }
    }

    private func configuration(_ encoder: String = "libx264") -> VideoEncoderConfiguration {
        var configuration = Pattern.configuration()
        configuration.keyFrameInterval = 100
        configuration.encoders = [encoder]
        return configuration
    }

    /// Decodes without an error, from the first unit on.
    private func check(_ events: [MediaEvent], frames: Int) throws {
        var decoder: VideoDecoder?
        var count = 0
        for event in events {
            switch event {
            case .videoFormat(let format):
                try decoder?.finish { _, _ in }
                #expect(decoder.map(\.verdict.errors) ?? 0 == 0)
                count += decoder?.verdict.frames ?? 0
                decoder = try VideoDecoder(format)
            case .accessUnit(let unit): try decoder?.decode(unit) { _, _ in }
            default: break
            }
        }
        try decoder?.finish { _, _ in }
        #expect(decoder.map(\.verdict.errors) == 0)
        #expect(count + (decoder?.verdict.frames ?? 0) == frames)
    }

    @Test(arguments: Encoders.software)
    func `key frames come by time and not by count`(name: String) throws {
        var configuration = configuration(name)
        configuration.keyFrameInterval = 1
        let encoder = try VideoEncoder(configuration)
        // Configured for 25 frames a second, it gets 10, and then 50.
        let times = (0..<30).map { Int64($0) * 100 } + (0..<150).map { 3000 + Int64($0) * 20 }
        var encoded: [AccessUnit] = []
        for (number, time) in times.enumerated() {
            encoded += units(try encoder.encode(Pattern.frame(number), at: MediaTime(milliseconds: time)))
        }
        encoded += units(try encoder.finish())
        #expect(encoded.count == times.count)
        #expect(encoded.filter(\.isKeyFrame).map(\.presentationTime.milliseconds) == [0, 1000, 2000, 3000, 4000, 5000])
        #expect(encoder.counters.forcedKeyFrames == 5)
    }

    @Test func `libx264 changes its rate while it runs`() throws {
        var configuration = configuration()
        configuration.bitsPerSecond = 2_000_000
        let encoder = try VideoEncoder(configuration)
        let before = try encode(encoder, 0..<50)
        configuration.bitsPerSecond = 100_000
        try encoder.reconfigure(configuration)
        let after = try encode(encoder, 50..<100)
        #expect(encoder.counters.openings == 1)
        #expect(units(before + after).filter(\.isKeyFrame).count == 1)
        let sizes = [before, after].map { units($0).suffix(25).reduce(0) { $0 + $1.data.count } }
        #expect(sizes[1] * 2 < sizes[0])
        #expect(encoder.configuration == configuration)
    }

    @Test(arguments: Encoders.software)
    func `the distance of key frames changes while it runs`(name: String) throws {
        var configuration = configuration(name)
        let encoder = try VideoEncoder(configuration)
        var events = try encode(encoder, 0..<10)
        configuration.keyFrameInterval = 0.5
        try encoder.reconfigure(configuration)
        events += try encode(encoder, 10..<40)
        events += try encoder.finish()
        #expect(encoder.counters.openings == 1)
        #expect(units(events).filter(\.isKeyFrame).map(\.presentationTime.milliseconds) == [0, 480, 960, 1440])
    }

    @Test(arguments: Encoders.software)
    func `another frame rate costs a key frame and no other frame`(name: String) throws {
        var configuration = configuration(name)
        let encoder = try VideoEncoder(configuration)
        var events = try encode(encoder, 0..<10)
        configuration.frameRate = 10
        try encoder.reconfigure(configuration)
        #expect(encoder.counters.openings == 1)
        events += try encode(encoder, 10..<20)
        events += try encoder.finish()
        let encoded = units(events)
        #expect(encoded.map(\.presentationTime.milliseconds) == (0..<20).map { $0 * 40 })
        #expect(encoded.indices.filter { encoded[$0].isKeyFrame } == [0, 10])
        #expect(encoder.counters.openings == 2 && encoder.counters.drops == 0 && encoder.counters.errors == 0)
        #expect(encoder.format?.frameRate == 10)
        try check(events, frames: 20)
    }

    @Test(arguments: Encoders.software)
    func `another size is a new format in front of a key frame`(name: String) throws {
        var configuration = configuration(name)
        let encoder = try VideoEncoder(configuration)
        var events = try encode(encoder, 0..<10)
        configuration.width = 192
        configuration.height = 108
        try encoder.reconfigure(configuration)
        events += try encode(encoder, 10..<20)
        events += try encoder.finish()
        #expect(formats(events).map(\.width) == [320, 192])
        let encoded = units(events)
        #expect(encoded.count == 20)
        #expect(encoded.indices.filter { encoded[$0].isKeyFrame } == [0, 10])
        try check(events, frames: 20)
        // The old size is no longer accepted.
        #expect(throws: VideoCodecError.frameMismatch(expected: "192x108", actual: "320x180 yuv420p")) {
            try encoder.encode(Pattern.frame(0), at: MediaTime(milliseconds: 5000))
        }
    }

    @Test func `a change out of range changes nothing`() throws {
        let encoder = try VideoEncoder(configuration())
        var changed = configuration()
        changed.width = 192
        changed.captureBuffers = 1
        #expect(throws: VideoCodecError.invalid(.bufferCount, value: 1)) { try encoder.reconfigure(changed) }
        #expect(encoder.configuration == configuration())
        #expect(units(try encode(encoder, 0..<3)).count == 3)
        #expect(encoder.counters.openings == 1)
    }

    @Test func `other encoders take over at a key frame`() throws {
        var configuration = configuration()
        let encoder = try VideoEncoder(configuration)
        var events = try encode(encoder, 0..<5)
        configuration.encoders = ["no_such_encoder", "libx264"]
        try encoder.reconfigure(configuration)
        events += try encode(encoder, 5..<10)
        #expect(encoder.choice.reason.contains("no_such_encoder"))
        let encoded = units(events)
        #expect(encoded.indices.filter { encoded[$0].isKeyFrame } == [0, 5])
        try check(events, frames: 10)
    }

    @Test func `an encoder that cannot be opened again loses nothing, and the old one can come back`() throws {
        var configuration = configuration()
        let encoder = try VideoEncoder(configuration)
        var events = try encode(encoder, 0..<5)
        configuration.encoders = ["no_such_encoder"]
        try encoder.reconfigure(configuration)
        #expect(throws: VideoCodecError.self) { try encode(encoder, 5..<6) }
        configuration.encoders = ["libx264"]
        try encoder.reconfigure(configuration)
        events += try encode(encoder, 6..<10)
        #expect(units(events).count == 9)
        try check(events, frames: 9)
    }

    @Test func `after the end a further frame opens it again`() throws {
        let encoder = try VideoEncoder(configuration())
        var events = try encode(encoder, 0..<3)
        events += try encoder.finish()
        #expect(try encoder.finish().isEmpty)
        events += try encode(encoder, 3..<6)
        let encoded = units(events)
        #expect(encoded.indices.filter { encoded[$0].isKeyFrame } == [0, 3])
        #expect(formats(events).count == 1)
        try check(events, frames: 6)
    }

    @Test func `libx264 takes two planes as they are`() throws {
        let encoder = try VideoEncoder(configuration())
        #expect(encoder.acceptedPixelFormats == [.yuv420p, .nv12])
        #expect(encoder.lineAlignment == 32)
        let scaler = try FrameScaler()
        let scene = MovingScene(width: 320, height: 180)
        var events: [MediaEvent] = []
        for number in 0..<6 {
            let frame = try scaler.scale(scene.frame(number), width: 320, height: 180, pixelFormat: .nv12)
            events += try encoder.encode(frame, at: MediaTime(milliseconds: Int64(number) * 40))
        }
        #expect(encoder.configuration.pixelFormat == .nv12)
        #expect(encoder.acceptedPixelFormats == [.nv12, .yuv420p])
        #expect(encoder.counters.openings == 2 && encoder.counters.realigned == 0)
        try check(events, frames: 6)
        // A change that says nothing of planes does not bring back the others.
        var changed = configuration()
        changed.bitsPerSecond = 300_000
        try encoder.reconfigure(changed)
        let frame = try scaler.scale(scene.frame(6), width: 320, height: 180, pixelFormat: .nv12)
        _ = try encoder.encode(frame, at: MediaTime(milliseconds: 240))
        #expect(encoder.counters.openings == 2 && encoder.configuration.bitsPerSecond == 300_000)
        let packed = try VideoFrame(width: 320, height: 180, pixelFormat: .yuyv422)
        #expect(throws: VideoCodecError.self) { try encoder.encode(packed, at: MediaTime(milliseconds: 1000)) }
    }

    @Test func `the stream says what range and matrix its frames have`() throws {
        let encoder = try VideoEncoder(configuration())
        let frame = try MovingScene(width: 320, height: 180).frame(0)
        frame.isFullRange = true
        frame.matrix = .bt709
        let events = try encoder.encode(frame, at: .zero)
        let decoder = try VideoDecoder(try #require(formats(events).first))
        var seen: [String] = []
        for unit in units(events) {
            try decoder.decode(unit) { frame, _ in seen.append("\(frame.isFullRange) \(frame.matrix)") }
        }
        try decoder.finish { frame, _ in seen.append("\(frame.isFullRange) \(frame.matrix)") }
        #expect(seen == ["true bt709"])
    }

    @Test func `time inside the encoder is reported`() throws {
        let encoder = try VideoEncoder(configuration())
        _ = try encode(encoder, 0..<3)
        let time = encoder.encodeNanoseconds
        #expect(time.last > 0 && time.total > time.last)
    }

    @Test func `a hardware encoder that is not there is passed over`() throws {
        var configuration = configuration()
        configuration.encoders = VideoEncoderConfiguration.automaticEncoders
        configuration.isFullRange = true
        let encoder = try VideoEncoder(configuration)
        // Whether or not there is a device: it takes limited range only.
        #expect(encoder.choice.reason.contains("h264_v4l2m2m"))
        #expect(encoder.choice.encoder != "h264_v4l2m2m")
    }
}
