import FLV
import FLVTestSupport
import Media
import Testing

@Suite struct PacketizerTests {
    private func video(_ decode: Int64, _ present: Int64? = nil, key: Bool = false, codec: VideoCodec = .h264)
        -> AccessUnit
    {
        AccessUnit(
            track: .video(codec), isKeyFrame: key, presentationTime: MediaTime(milliseconds: present ?? decode),
            decodeTime: MediaTime(milliseconds: decode), data: [0, 0, 0, 1, 9])
    }

    private func audio(_ time: Int64) -> AccessUnit {
        AccessUnit(
            track: .audio(.aac), isKeyFrame: true, presentationTime: MediaTime(milliseconds: time),
            decodeTime: MediaTime(milliseconds: time), data: [1])
    }

    @Test func `audio and video share one zero`() throws {
        var packetizer = Packetizer()
        var prefix: [UInt8] = [9, 9, 9]
        #expect(try packetizer.place(video(5000, 5080, key: true), prefix: &prefix) == .init(type: 9, timestamp: 0))
        #expect(prefix == [0x17, 1, 0, 0, 80])
        #expect(try packetizer.place(audio(5021), prefix: &prefix) == .init(type: 8, timestamp: 21))
        #expect(prefix == [0xAF, 1])
        #expect(try packetizer.place(video(5040, 5020), prefix: &prefix) == .init(type: 9, timestamp: 40))
        #expect(prefix == [0x27, 1, 0xFF, 0xFF, 0xEC])
        #expect(packetizer.videoTimestamp == 40)
        #expect(packetizer.audioTimestamp == 21)
        #expect(packetizer.timestamp(video: MediaTime(milliseconds: 5080)) == 80)
    }

    @Test func `HEVC is enhanced, or legacy on request`() throws {
        var prefix: [UInt8] = []
        var enhanced = Packetizer()
        _ = try enhanced.place(video(0, 40, key: true, codec: .hevc), prefix: &prefix)
        #expect(prefix == [0x91, 0x68, 0x76, 0x63, 0x31, 0, 0, 40])
        var legacy = Packetizer(hevcFormat: .legacy)
        _ = try legacy.place(video(0, 40, codec: .hevc), prefix: &prefix)
        #expect(prefix == [0x2C, 1, 0, 0, 40])
        let format = VideoFormat(codec: .hevc, width: 1, height: 1, frameRate: nil, configurationRecord: [7, 8])
        #expect(enhanced.sequenceHeader(format) == [0x90, 0x68, 0x76, 0x63, 0x31, 7, 8])
        #expect(legacy.sequenceHeader(format) == [0x1C, 0, 0, 0, 0, 7, 8])
    }

    @Test func `sequence headers`() {
        let video = VideoFormat(codec: .h264, width: 1, height: 1, frameRate: nil, configurationRecord: [1, 100])
        #expect(Packetizer().sequenceHeader(video) == [0x17, 0, 0, 0, 0, 1, 100])
        let audio = AudioFormat(codec: .aac, sampleRate: 48000, channels: 2, audioSpecificConfig: [0x11, 0x90])
        #expect(Packetizer().sequenceHeader(audio) == [0xAF, 0, 0x11, 0x90])
    }

    @Test func `time never goes back within a track, nor below zero`() throws {
        var packetizer = Packetizer(zero: MediaTime(milliseconds: 100))
        var prefix: [UInt8] = []
        #expect(try packetizer.place(audio(60), prefix: &prefix).timestamp == 0)
        #expect(try packetizer.place(video(140), prefix: &prefix).timestamp == 40)
        #expect(try packetizer.place(video(120, 160), prefix: &prefix).timestamp == 40)
        // Presentation stays where it was: 160 − 100 − 40.
        #expect(prefix == [0x27, 1, 0, 0, 20])
        #expect(try packetizer.place(audio(110), prefix: &prefix).timestamp == 10)
        #expect(packetizer.timestamp(video: MediaTime(milliseconds: 100)) == 40)
    }

    @Test func `time stamps wrap at 2^32`() throws {
        var packetizer = Packetizer(zero: .zero)
        var prefix: [UInt8] = []
        #expect(try packetizer.place(video(16_777_215), prefix: &prefix).timestamp == 0xFF_FFFF)
        #expect(try packetizer.place(video(4_294_967_295), prefix: &prefix).timestamp == .max)
        #expect(try packetizer.place(audio(4_294_967_299), prefix: &prefix).timestamp == 3)
        #expect(try packetizer.place(video(4_294_967_335), prefix: &prefix).timestamp == 39)
        #expect(packetizer.timestamp(video: MediaTime(milliseconds: 4_294_967_375)) == 79)
    }

    @Test func `a composition time out of range is refused, and leaves no trace`() throws {
        var packetizer = Packetizer()
        var prefix: [UInt8] = [7]
        #expect(throws: FLVError.compositionTimeOutOfRange(milliseconds: 8_388_608)) {
            try packetizer.place(video(50, 50 + 8_388_608), prefix: &prefix)
        }
        #expect(throws: FLVError.compositionTimeOutOfRange(milliseconds: -8_388_609)) {
            try packetizer.place(video(50, 50 - 8_388_609), prefix: &prefix)
        }
        #expect(prefix == [7])
        #expect(try packetizer.place(video(60, 60 + 8_388_607), prefix: &prefix).timestamp == 0)
        #expect(prefix == [0x27, 1, 0x7F, 0xFF, 0xFF])
        #expect(try packetizer.place(video(60, 60 - 8_388_608), prefix: &prefix).timestamp == 0)
        #expect(prefix == [0x27, 1, 0x80, 0, 0])
    }

    @Test func `extreme times throw or are placed`() {
        for decode in [Int64.min, -1, 0, 1, .max] {
            for present in [Int64.min, -1, 0, 1, .max] {
                var packetizer = Packetizer(zero: MediaTime(nanoseconds: 0))
                var prefix: [UInt8] = []
                let unit = AccessUnit(
                    track: .video(.h264), isKeyFrame: true, presentationTime: MediaTime(nanoseconds: present),
                    decodeTime: MediaTime(nanoseconds: decode), data: [])
                _ = try? packetizer.place(unit, prefix: &prefix)
            }
        }
    }

    /// 29.97 frames per second: the stamps follow the exact time, so that an hour has no drift.
    @Test func `rounding does not add up`() throws {
        var packetizer = Packetizer()
        var prefix: [UInt8] = []
        for frame in Int64(0)..<10_000 {
            let time = MediaTime(ticks: frame * 1001, timescale: 30000)
            let unit = AccessUnit(
                track: .video(.h264), isKeyFrame: false, presentationTime: time, decodeTime: time, data: [])
            let stamp = Int64(try packetizer.place(unit, prefix: &prefix).timestamp)
            #expect(abs(stamp * 30 - frame * 1001) <= 15)
        }
    }
}
