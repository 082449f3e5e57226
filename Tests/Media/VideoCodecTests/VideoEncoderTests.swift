import Media
import TestSupport
import Testing
import VideoCodec

@Suite struct VideoEncoderTests {
    private func encode(
        _ encoder: VideoEncoder, frames: Range<Int>, each: (Int) -> Void = { _ in }
    ) throws -> [MediaEvent] {
        var events: [MediaEvent] = []
        for number in frames {
            each(number)
            events += try encoder.encode(
                try Pattern.frame(number), at: MediaTime(milliseconds: Int64(number) * 40),
                captureInstant: UInt64(number) + 1000)
        }
        return events
    }

    private func units(_ events: [MediaEvent]) -> [AccessUnit] {
        events.compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
    }

    @Test func `each frame comes out at once, with its own time and capture instant`() throws {
        let encoder = try VideoEncoder(Pattern.configuration())
        for number in 0..<30 {
            let time = MediaTime(nanoseconds: Int64(number) * 40_000_003 + 7)
            let events = try encoder.encode(
                try Pattern.frame(number), at: time, captureInstant: UInt64(number))
            let unit = try #require(units(events).first)
            #expect(units(events).count == 1)
            #expect(unit.presentationTime == time)
            #expect(unit.decodeTime == time)
            #expect(unit.captureInstant == UInt64(number))
        }
        #expect(units(try encoder.finish()).isEmpty)
    }

    @Test func `units are NAL units behind their lengths, without delimiters and parameter sets`() throws {
        let encoder = try VideoEncoder(Pattern.configuration())
        for unit in units(try encode(encoder, frames: 0..<30)) {
            var reader = LengthPrefixedUnits(unit.data[...])
            var kinds: [NALUnitKind] = []
            while let nal = try reader.next() { kinds.append(VideoCodec.h264.kind(ofNALUnit: nal)) }
            #expect(kinds.contains(unit.isKeyFrame ? .keyPicture : .picture))
            #expect(!kinds.contains { $0.isParameterSet || $0 == .accessUnitDelimiter })
        }
    }

    @Test func `a requested key frame is the next frame`() throws {
        var configuration = Pattern.configuration()
        configuration.keyFrameInterval = 100
        let encoder = try VideoEncoder(configuration)
        let encoded = units(try encode(encoder, frames: 0..<20) { if $0 == 7 { encoder.requestKeyFrame() } })
        #expect(encoded.indices.filter { encoded[$0].isKeyFrame } == [0, 7])
    }

    @Test func `times that do not grow by a tick are still told apart`() throws {
        let encoder = try VideoEncoder(Pattern.configuration())
        let times = [0, 1, 2, 3].map { MediaTime(nanoseconds: $0) }
        let encoded = try times.enumerated().flatMap { number, time in
            units(try encoder.encode(try Pattern.frame(number), at: time))
        }
        #expect(encoded.map(\.presentationTime) == times)
    }

    @Test func `an encoder that is not there is passed over, and the reason is kept`() throws {
        var configuration = Pattern.configuration()
        configuration.encoders = ["no_such_encoder", "libx264"]
        let choice = try VideoEncoder(configuration).choice
        #expect(choice.encoder == "libx264")
        #expect(choice.reason.contains("no_such_encoder"))
        #expect(choice.reason.contains("not in this libavcodec"))
    }

    @Test func `without a usable encoder each one's reason is reported`() throws {
        var configuration = Pattern.configuration()
        configuration.encoders = ["no_such_encoder", "png"]
        let error = #expect(throws: VideoCodecError.self) { try VideoEncoder(configuration) }
        guard case .noEncoder(let rejections) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(rejections.map(\.encoder) == ["no_such_encoder", "png"])
        #expect(rejections[1].reason.contains("not an encoder of H.264 or H.265"))
    }

    @Test func `a list without encoders is an error, not a crash`() {
        var configuration = Pattern.configuration()
        configuration.encoders = []
        #expect(throws: VideoCodecError.noEncoder([])) { try VideoEncoder(configuration) }
    }

    @Test(arguments: [
        (0, 180, VideoCodecError.invalid(.width, value: 0)), (320, -2, .invalid(.height, value: -2)),
        (321, 180, .invalid(.width, value: 321)), (320, 181, .invalid(.height, value: 181)),
        (20_000, 180, .invalid(.width, value: 20_000)), (14, 180, .invalid(.width, value: 14)),
    ])
    func `a size that no encoder takes is refused`(width: Int, height: Int, error: VideoCodecError) {
        #expect(throws: error) { try VideoEncoder(Pattern.configuration(width: width, height: height)) }
    }

    @Test(arguments: [Double.nan, .infinity, -1, 0, 1e9])
    func `a rate that no encoder takes is refused`(rate: Double) {
        #expect(throws: VideoCodecError.self) { try VideoEncoder(Pattern.configuration(frameRate: rate)) }
    }

    @Test func `a frame of another size is refused`() throws {
        let encoder = try VideoEncoder(Pattern.configuration())
        #expect(throws: VideoCodecError.frameMismatch(expected: "320x180", actual: "160x90 yuv420p")) {
            try encoder.encode(try Pattern.frame(0, width: 160, height: 90), at: .zero)
        }
    }

    @Test func `a rate out of range leaves the old one`() throws {
        let encoder = try VideoEncoder(Pattern.configuration(bitsPerSecond: 500_000))
        #expect(throws: VideoCodecError.invalid(.bitsPerSecond, value: 0)) { try encoder.setBitsPerSecond(0) }
        #expect(encoder.configuration.bitsPerSecond == 500_000)
    }

    @Test func `a lower rate holds from its first half second on`() throws {
        var configuration = Pattern.configuration(bitsPerSecond: 1_200_000)
        configuration.keyFrameInterval = 100
        let encoder = try VideoEncoder(configuration)
        var seed: UInt32 = 1
        func bits(_ frames: Range<Int>) throws -> Int {
            var bytes = 0
            for number in frames {
                let pixels = (0..<(320 * 180 * 3)).map { _ in
                    seed = seed &* 1_664_525 &+ 1_013_904_223
                    return UInt8(80 + (seed >> 24) % 60)
                }
                let frame = try Pictures.rgb(pixels, width: 320, height: 180)
                let events = try encoder.encode(frame, at: MediaTime(milliseconds: Int64(number) * 40))
                bytes += units(events).reduce(0) { $0 + $1.data.count }
            }
            return bytes * 8
        }
        #expect(try bits(0..<50) > 1_500_000)
        try encoder.setBitsPerSecond(200_000)
        // What was saved before would make it nearly twice as much.
        let first = try bits(50..<63)
        #expect(first < 140_000, "\(first) bits")
        let then = try bits(63..<88)
        #expect((120_000...250_000).contains(then), "\(then) bits")
    }

    @Test(.enabled(if: Encoders.hasX265, Encoders.x265Reason))
    func `H.265 is encoded by the same type`() throws {
        var configuration = Pattern.configuration()
        configuration.encoders = ["libx265"]
        configuration.keyFrameInterval = 100
        let encoder = try VideoEncoder(configuration)
        let encoded = units(
            try encode(encoder, frames: 0..<12) { if $0 == 5 { encoder.requestKeyFrame() } }
                + encoder.finish())
        let format = try #require(encoder.format)
        #expect(format.codec == .hevc && format.width == 320 && format.height == 180)
        #expect(encoded.count == 12)
        #expect(encoded.indices.filter { encoded[$0].isKeyFrame } == [0, 5])
        let decoder = try VideoDecoder(format)
        for unit in encoded { try decoder.decode(unit) { _, _ in } }
        try decoder.finish { _, _ in }
        #expect(decoder.verdict.frames == 12 && decoder.verdict.errors == 0)
    }

    @Test(.enabled(if: Encoders.hasX265, Encoders.x265Reason))
    func `an encoder that cannot change its rate is opened again, with a key frame`() throws {
        // libx265's wrapper does not follow a changed rate.
        var configuration = Pattern.configuration()
        configuration.encoders = ["libx265"]
        configuration.keyFrameInterval = 100
        let encoder = try VideoEncoder(configuration)
        var encoded = units(try encode(encoder, frames: 0..<6))
        try encoder.setBitsPerSecond(200_000)
        encoded += units(try encode(encoder, frames: 6..<12) + encoder.finish())
        #expect(encoded.count == 12)
        #expect(encoded.indices.filter { encoded[$0].isKeyFrame } == [0, 6])
        let times = encoded.map(\.presentationTime)
        #expect(times == times.sorted())
    }
}

/// What this machine's libavcodec can do beyond what every one can.
enum Encoders {
    static let x265Reason: Comment = "no ffmpeg here, or one without libx265"

    static var hasX265: Bool { ForeignEncoders.has("libx265") }

    /// Those of the software encoders that are here.
    static var software: [String] { ["libx264", "libx265", "libopenh264"].filter(has) }

    private static func has(_ name: String) -> Bool {
        var configuration = Pattern.configuration()
        configuration.encoders = [name]
        return (try? VideoEncoder(configuration)) != nil
    }
}
