import FLV
import FLVTestSupport
import Media
import TestSupport
import Testing
import Wire

@Suite struct DepacketizerTests {
    private func events(_ bytes: [UInt8]) throws -> [MediaEvent] {
        var reader = FLVFileReader()
        reader.append(bytes)
        var depacketizer = Depacketizer()
        var events: [MediaEvent] = []
        while let tag = try reader.nextTag() {
            if let event = try depacketizer.message(type: tag.type, timestamp: tag.timestamp, body: tag.body[...]) {
                events.append(event)
            }
        }
        return events
    }

    /// ffmpeg wrote the same frames to FLV and to annex B.
    @Test func `a recording of ffmpeg holds the frames that its elementary stream holds`() throws {
        let events = try events(try fixture("ffmpeg-5.1-x264-aac.flv"))
        let units = events.compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
        let video = units.filter(\.track.isVideo)
        #expect(video.count == 50)
        #expect(units.count - video.count == 95)
        #expect(video.filter(\.isKeyFrame).count == 2)
        for unit in video { #expect(try VideoCodec.h264.isKeyFrame(unit.data[...]) == unit.isKeyFrame) }

        let stream = try fixture("ffmpeg-5.1-x264.h264")
        let expected = AnnexB.units(in: stream[...]).filter { !VideoCodec.h264.kind(ofNALUnit: $0).isParameterSet }
        var found: [[UInt8]] = []
        for unit in video {
            let converted = try AnnexB.bytes(fromLengthPrefixed: unit.data[...])
            found += AnnexB.units(in: converted[...])
                .filter { !VideoCodec.h264.kind(ofNALUnit: $0).isParameterSet }.map(Array.init)
        }
        #expect(found == expected.map(Array.init))
    }

    /// By `ffprobe -show_entries packet=pts,dts`.
    @Test func `times are those that ffprobe shows`() throws {
        let events = try events(try fixture("ffmpeg-5.1-x264-aac.flv"))
        let units = events.compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
        let video = units.filter(\.track.isVideo).prefix(4)
        #expect(video.map(\.decodeTime.milliseconds) == [0, 40, 80, 120])
        #expect(video.map(\.presentationTime.milliseconds) == [80, 200, 120, 160])
        let audio = units.filter { !$0.track.isVideo }.prefix(4)
        #expect(audio.map(\.decodeTime.milliseconds) == [59, 80, 101, 123])
        guard case .videoFormat(let format) = events[0], case .audioFormat(let audio) = events[1] else {
            Issue.record("formats come first")
            return
        }
        #expect((format.width, format.height, format.frameRate) == (128, 96, 25))
        #expect((audio.sampleRate, audio.channels) == (48000, 1))
    }

    @Test func `a packetized recording is byte for byte the same`() throws {
        let original = try fixture("ffmpeg-5.1-x264-aac.flv")
        var reader = FLVFileReader()
        reader.append(original)
        var depacketizer = Depacketizer()
        var packetizer = Packetizer(zero: .zero)
        var prefix: [UInt8] = []
        while let tag = try reader.nextTag() {
            guard
                let event = try depacketizer.message(type: tag.type, timestamp: tag.timestamp, body: tag.body[...])
            else { continue }
            switch event {
            case .videoFormat(let format): #expect(packetizer.sequenceHeader(format) == tag.body)
            case .audioFormat(let format): #expect(packetizer.sequenceHeader(format) == tag.body)
            case .accessUnit(let unit):
                let placement = try packetizer.place(unit, prefix: &prefix)
                #expect(FLVTag(type: placement.type, timestamp: placement.timestamp, body: prefix + unit.data) == tag)
            }
        }
    }

    @Test(arguments: [VideoCodec.h264, .hevc], UInt64(1)...32)
    func `what is packetized is depacketized`(codec: VideoCodec, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let record = codec == .h264 ? avcRecord : hevcRecord
        let format = try VideoFormat(codec: codec, configurationRecord: try Hexadecimal.decode(record)[...])
        var packetizer = Packetizer(zero: .zero, hevcFormat: seed % 2 == 0 ? .legacy : .enhanced)
        var depacketizer = Depacketizer()
        #expect(
            try depacketizer.message(type: 9, timestamp: 0, body: packetizer.sequenceHeader(format)[...])
                == .videoFormat(format))
        var time: Int64 = 0
        var prefix: [UInt8] = []
        for _ in 0..<20 {
            // Steps of up to 20 days: the stamps wrap several times.
            time += Int64.random(in: 0...1_728_000_000, using: &random)
            let unit = AccessUnit(
                track: .video(codec), isKeyFrame: Bool.random(using: &random),
                presentationTime: MediaTime(
                    milliseconds: time + Int64.random(in: -0x80_0000...0x7F_FFFF, using: &random)),
                decodeTime: MediaTime(milliseconds: time),
                data: [0, 0, 0, 10] + random.bytes(10))
            let placement = try packetizer.place(unit, prefix: &prefix)
            let event = try depacketizer.message(
                type: placement.type, timestamp: placement.timestamp, body: (prefix + unit.data)[...])
            #expect(event == .accessUnit(unit))
        }
    }

    @Test func `time goes on through the wrap, on both tracks and both ways`() throws {
        var depacketizer = Depacketizer()
        _ = try depacketizer.message(type: 8, timestamp: 0, body: [0xAF, 0, 0x11, 0x90])
        let raw: [UInt8] = [0xAF, 1, 7]
        var times: [Int64] = []
        for timestamp: UInt32 in [4_294_967_290, 4, 4_294_967_295, 20] {
            guard case .accessUnit(let unit) = try depacketizer.message(type: 8, timestamp: timestamp, body: raw[...])
            else { continue }
            times.append(unit.decodeTime.milliseconds)
        }
        #expect(times == [4_294_967_290, 4_294_967_300, 4_294_967_295, 4_294_967_316])
    }

    @Test func `frames before their header are refused`() {
        var depacketizer = Depacketizer()
        #expect(throws: FLVError.missingSequenceHeader) {
            try depacketizer.message(type: 9, timestamp: 0, body: [0x17, 1, 0, 0, 0, 9])
        }
        #expect(throws: FLVError.missingSequenceHeader) {
            try depacketizer.message(type: 8, timestamp: 0, body: [0xAF, 1, 9])
        }
    }

    @Test func `a frame of another codec is refused`() throws {
        var depacketizer = Depacketizer()
        let header = [0x17, 0, 0, 0, 0] + (try Hexadecimal.decode(avcRecord))
        _ = try depacketizer.message(type: 9, timestamp: 0, body: header[...])
        #expect(throws: FLVError.codecMismatch) {
            try depacketizer.message(type: 9, timestamp: 0, body: [0x1C, 1, 0, 0, 0, 9])
        }
    }

    @Test func `short lengths are widened`() throws {
        var depacketizer = Depacketizer()
        var record = try Hexadecimal.decode(avcRecord)
        record[4] = 0xFD
        let format = try depacketizer.message(type: 9, timestamp: 0, body: ([0x17, 0, 0, 0, 0] + record)[...])
        record[4] = 0xFF
        guard case .videoFormat(let video) = format else {
            Issue.record("no format")
            return
        }
        #expect(video.configurationRecord == record)
        let event = try depacketizer.message(type: 9, timestamp: 0, body: [0x17, 1, 0, 0, 0, 0, 2, 0x65, 1])
        guard case .accessUnit(let unit) = event else {
            Issue.record("no access unit")
            return
        }
        #expect(unit.data == [0, 0, 0, 2, 0x65, 1])
        #expect(throws: FLVError.media(.wire(.truncated(offset: 2, needed: 3, available: 2)))) {
            try depacketizer.message(type: 9, timestamp: 0, body: [0x17, 1, 0, 0, 0, 0, 3, 0x65, 1])
        }
    }

    @Test func `what carries no media gives nothing`() throws {
        var depacketizer = Depacketizer()
        let header = [0x17, 0, 0, 0, 0] + (try Hexadecimal.decode(avcRecord))
        _ = try depacketizer.message(type: 9, timestamp: 0, body: header[...])
        _ = try depacketizer.message(type: 8, timestamp: 0, body: [0xAF, 0, 0x11, 0x90])
        for body in [[0x17, 1, 0, 0, 0], [0x17, 2, 0, 0, 0], [0x57, 0], try NTDFHeaderFrame.encode([1])] as [[UInt8]] {
            #expect(try depacketizer.message(type: 9, timestamp: 0, body: body[...]) == nil)
        }
        #expect(try depacketizer.message(type: 8, timestamp: 0, body: [0xAF, 1]) == nil)
        #expect(try depacketizer.message(type: 18, timestamp: 0, body: [1, 2, 3]) == nil)
    }

    @Test(arguments: UInt64(1)...64)
    func `damaged recordings throw or return`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var bytes = Array(try fixture("ffmpeg-5.1-x264-aac.flv").prefix(6000))
        for round in 0..<8 {
            // Headers stand close together at the front; later rounds meet whole tags.
            let range = round % 2 == 0 ? 0..<420 : 0..<bytes.count
            bytes[Int.random(in: range, using: &random)] ^= 1 << UInt8.random(in: 0...7, using: &random)
            var reader = FLVFileReader(maximumTagSize: 1 << 16)
            reader.append(bytes)
            var depacketizer = Depacketizer()
            while let tag = try? reader.nextTag() {
                _ = try? depacketizer.message(type: tag.type, timestamp: tag.timestamp, body: tag.body[...])
                _ = try? StreamMetadata.parse(tag.body[...])
                _ = try? NTDFHeaderFrame.parse(tag.body[...])
            }
            _ = try? reader.finish()
        }
    }

    private let avcRecord =
        "01640009ffe1001867640009acd9420db011000003000100000300320f12259601000568ebecb22cfdf8f800"
    private let hevcRecord =
        "0101600000009000000000001ef000fcfdf8f800000f03a00001001840010c01ffff01600000030090000003000003001e959809a1"
        + "0001002942010101600000030090000003000003001ea010206165959a4932bc05a02000000300200000030321a2000100074401c1"
        + "72b46240"
}
