import AMF0
import FLV
import FLVTestSupport
import Media
import Testing
import Wire

@Suite struct StreamMetadataTests {
    private let whole = StreamMetadata(
        width: 1920, height: 1080, frameRate: 29.97, videoCodec: .h264, audioCodec: .aac, videoDataRate: 4000,
        audioDataRate: 128, audioSampleRate: 48000, audioChannels: 2, encoder: "WatchBox",
        ntdfHeader: [0x4C, 0x31, 0x4C, 0xFF])

    @Test func `the message of the profile`() throws {
        let body = whole.encodedSetDataFrame()
        #expect(
            try AMF0.decode(body) == [
                .string("@setDataFrame"), .string("onMetaData"),
                .ecmaArray([
                    "width": .number(1920), "height": .number(1080), "framerate": .number(29.97),
                    "videocodecid": .number(7), "videodatarate": .number(4000), "audiocodecid": .number(10),
                    "audiodatarate": .number(128), "audiosamplerate": .number(48000), "audiosamplesize": .number(16),
                    "stereo": .boolean(true), "encoder": .string("WatchBox"), "ntdf_header": .string("TDFM/w=="),
                ]),
            ])
        #expect(try StreamMetadata.parse(body[...]) == whole)
        #expect(try StreamMetadata.parse(whole.encodedScriptTag()[...]) == whole)
    }

    @Test func `HEVC is named by its FourCC`() throws {
        let metadata = StreamMetadata(videoCodec: .hevc)
        #expect(
            try AMF0.decode(metadata.encodedScriptTag()) == [
                .string("onMetaData"), .ecmaArray(["videocodecid": .number(1_752_589_105)]),
            ])
        #expect(try StreamMetadata.parse(metadata.encodedScriptTag()[...]) == metadata)
    }

    @Test func `formats fill it`() {
        let video = VideoFormat(codec: .hevc, width: 64, height: 48, frameRate: nil, configurationRecord: [])
        let audio = AudioFormat(codec: .aac, sampleRate: 44100, channels: 6, audioSpecificConfig: [])
        #expect(
            StreamMetadata(video: video, audio: audio)
                == StreamMetadata(
                    width: 64, height: 48, videoCodec: .hevc, audioCodec: .aac, audioSampleRate: 44100,
                    audioChannels: 6))
    }

    @Test func `a header of 49 152 bytes still fits, as a long string`() throws {
        for length in [49_149, 49_150, 65_535] {
            let metadata = StreamMetadata(ntdfHeader: [UInt8](repeating: 3, count: length))
            #expect(try StreamMetadata.parse(metadata.encodedSetDataFrame()[...]) == metadata)
        }
    }

    /// Recorded from ffmpeg 5.1.9 and nginx-rtmp 1.2.2.
    @Test func `what ffmpeg and nginx-rtmp send`() throws {
        let file = try fixture("ffmpeg-5.1-x264-aac.flv")
        var reader = FLVFileReader()
        reader.append(file)
        let tag = try #require(try reader.nextTag())
        #expect(tag.type == FLVTag.script)
        let ffmpeg = try #require(try StreamMetadata.parse(tag.body[...]))
        #expect(
            ffmpeg
                == StreamMetadata(
                    width: 128, height: 96, frameRate: 25, videoCodec: .h264, audioCodec: .aac,
                    videoDataRate: 58.59375, audioDataRate: 31.25, audioSampleRate: 48000, audioChannels: 1,
                    encoder: "Lavf59.27.100"))
        let nginx = AMF0.encode([
            .string("onMetaData"),
            .object([
                "Server": .string("NGINX RTMP (github.com/arut/nginx-rtmp-module)"), "width": .number(128),
                "height": .number(96), "displayWidth": .number(128), "fps": .number(25), "videocodecid": .number(7),
                "audiocodecid": .number(10), "profile": .string(String(repeating: "\0", count: 32)),
            ]),
        ])
        #expect(
            try StreamMetadata.parse(nginx[...])
                == StreamMetadata(width: 128, height: 96, frameRate: 25, videoCodec: .h264, audioCodec: .aac))
    }

    @Test(
        arguments: [
            (AMF0Value.string("avc1"), VideoCodec.h264), (.string("hvc1"), .hevc), (.string("av01"), nil),
            (.number(7), .h264),
            (.number(12), .hevc), (.number(1_635_148_593), .h264), (.number(1_752_589_105), .hevc), (.number(2), nil),
            (.number(-1), nil), (.number(.nan), nil), (.number(1e300), nil), (.number(7.5), nil), (.null, nil),
        ] as [(AMF0Value, VideoCodec?)])
    func `codecs by number or name`(value: AMF0Value, codec: VideoCodec?) throws {
        let body = AMF0.encode([.string("onMetaData"), .object(["videocodecid": value])])
        #expect(try StreamMetadata.parse(body[...]) == StreamMetadata(videoCodec: codec))
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, -1, 0, 0.5, 65536, 1e300, .leastNonzeroMagnitude])
    func `numbers that are not sizes are left out`(number: Double) throws {
        let body = AMF0.encode([
            .string("onMetaData"),
            .ecmaArray([
                "width": .number(number), "height": .number(number), "audiochannels": .number(number),
                "audiosamplerate": .number(number == 65536 ? 1e9 : number),
            ]),
        ])
        #expect(try StreamMetadata.parse(body[...]) == StreamMetadata())
    }

    @Test(arguments: ["mp4a", "aac"])
    func `the Arkavo app names its codecs`(name: String) throws {
        let body = AMF0.encode([
            .string("@setDataFrame"), .string("onMetaData"),
            .object([
                "audiocodecid": .string(name), "stereo": .boolean(true), "ntdf_header": .longString("TDFM"),
                "unknown": .strictArray([.null]),
            ]),
        ])
        #expect(
            try StreamMetadata.parse(body[...])
                == StreamMetadata(audioCodec: .aac, audioChannels: 2, ntdfHeader: [0x4C, 0x31, 0x4C]))
    }

    @Test func `other data messages are not metadata`() throws {
        #expect(try StreamMetadata.parse([]) == nil)
        for values in [
            [.string("|RtmpSampleAccess"), .boolean(true), .boolean(true)], [.string("@setDataFrame")],
            [.string("onMetaData")], [.string("onMetaData"), .number(1)], [.number(1), .string("onMetaData")],
            [.string("onTextData"), .object([:])],
        ] as [[AMF0Value]] {
            #expect(try StreamMetadata.parse(AMF0.encode(values)[...]) == nil)
        }
    }

    @Test func `bad AMF0 and a bad header are refused`() {
        #expect(throws: FLVError.amf0(.unknownMarker(0x11, offset: 0))) { try StreamMetadata.parse([0x11]) }
        let body = AMF0.encode([.string("onMetaData"), .object(["ntdf_header": .string("TDF*")])])
        #expect(throws: FLVError.invalidMetadata(.ntdfHeader)) { try StreamMetadata.parse(body[...]) }
        let long = AMF0.encode([.string("onMetaData"), .longString(String(repeating: "x", count: 262_144))])
        #expect(throws: FLVError.amf0(.tooLong(bytes: long.count, limit: 262_144))) {
            try StreamMetadata.parse(long[...])
        }
        #expect(throws: Never.self) { try StreamMetadata.parse(long[...], limits: .file) }
    }
}
