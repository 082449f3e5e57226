import Media
import TestSupport
import Testing
import VideoCodec

@Suite struct VideoDecoderTests {
    private func verdict(_ format: VideoFormat, _ units: [AccessUnit]) throws -> VideoDecoder.Verdict {
        let decoder = try VideoDecoder(format)
        for unit in units { try decoder.decode(unit) { _, _ in } }
        try decoder.finish { _, _ in }
        return decoder.verdict
    }

    private func stream() throws -> (format: VideoFormat, units: [AccessUnit]) {
        let recording = try Pattern.record(frames: 30, audio: nil)
        return (try #require(recording.videoFormats.first), recording.videoUnits)
    }

    @Test func `what we encode decodes whole, each frame with its time`() throws {
        let (format, units) = try stream()
        let decoder = try VideoDecoder(format)
        var times: [MediaTime] = []
        for unit in units {
            try decoder.decode(unit) { frame, time throws(VideoCodecError) in
                times.append(time)
                #expect(frame.width == 320 && frame.height == 180)
            }
        }
        try decoder.finish { _, time throws(VideoCodecError) in times.append(time) }
        #expect(times == units.map(\.presentationTime))
        #expect(decoder.verdict == expected(units: 30, frames: 30))
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `a stream of noise gives errors and no intact frame`(seed: UInt64) throws {
        let (format, stream) = try stream()
        var units = stream
        var generator = SeededGenerator(seed: seed)
        for index in units.indices {
            units[index].data = (0..<units[index].data.count).map { _ in UInt8.random(in: 0...255, using: &generator) }
        }
        let verdict = try verdict(format, units)
        #expect(verdict.units == 30)
        #expect(verdict.errors > 0)
        #expect(verdict.frames == verdict.damagedFrames)
    }

    @Test(arguments: 0..<32 as Range<UInt64>)
    func `flipped bits never do more than cost frames`(seed: UInt64) throws {
        let (format, stream) = try stream()
        var units = stream
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<8 {
            let unit = Int.random(in: units.indices, using: &generator)
            let byte = Int.random(in: units[unit].data.indices, using: &generator)
            units[unit].data[byte] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        }
        let verdict = try verdict(format, units)
        #expect(verdict.units == 30)
        #expect(verdict.frames <= 30)
    }

    @Test func `empty and cut units are counted, not thrown`() throws {
        let (format, stream) = try stream()
        var units = stream
        units[3].data = []
        units[4].data = [0, 0, 0]
        units[5].data = Array(units[5].data.prefix(units[5].data.count / 2))
        let verdict = try verdict(format, units)
        #expect(verdict.units == 30)
        #expect(verdict.frames >= 27)
    }

    @Test(arguments: [[], [1], [1, 100, 0, 30, 255, 225], [UInt8](repeating: 255, count: 100)])
    func `an invalid configuration gives an error or a decoder without frames`(record: [UInt8]) throws {
        let units = try stream().units
        let format = VideoFormat(codec: .h264, width: 320, height: 180, frameRate: nil, configurationRecord: record)
        if let verdict = try? verdict(format, units) { #expect(verdict.frames == 0) }
    }

    private func expected(units: Int, frames: Int) -> VideoDecoder.Verdict {
        var verdict = VideoDecoder.Verdict()
        verdict.units = units
        verdict.frames = frames
        return verdict
    }
}
