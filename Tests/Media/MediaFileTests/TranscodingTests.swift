import Media
import MediaFile
import TestSupport
import Testing

@Suite(.ownThread, .enabled(if: Tool.areInstalled, Tool.reason))
struct TranscodingTests {
    @Test(arguments: [("old.avi", "its video is mpeg4"), ("pcm.mkv", "its audio is pcm_s16le")])
    func `another codec is named, with what to do`(name: String, why: String) throws {
        let path = try Sample.path(name)
        let error = #expect(throws: MediaSourceError.self) { try Recording.file(path) }
        #expect(error?.what == "cannot play \(path)")
        #expect(error?.why == why)
        #expect(error?.hint.contains("allow transcoding") == true)
    }

    @Test func `an FLV file of another codec is named, too`() throws {
        let path = try Sample.path("old.flv")
        let error = #expect(throws: MediaSourceError.self) { try Recording.file(path) }
        #expect(error?.what == "cannot read \(path)")
        #expect(error?.hint.contains("allow transcoding") == true)
    }

    @Test(arguments: ["old.avi", "old.flv", "pcm.mkv"])
    func `with transcoding it is played, and decodes to the last frame`(name: String) throws {
        let recording = try Recording.file(try Sample.path(name), transcoding: .init(preset: "ultrafast"))
        #expect((49...51).contains(recording.videoUnits.count))
        #expect((92...98).contains(recording.audioUnits.count))
        #expect(recording.videoFormats.map(\.codec) == [.h264])
        #expect(recording.audioFormats.map(\.sampleRate) == [48_000])
        #expect(recording.units.first?.decodeTime == .zero)
        let path = try recording.write(.mp4, "transcoded.mp4").path
        #expect(try Tool.complaints(path) == "")
        #expect(try Tool.frameCount(path, "v") == recording.videoUnits.count)
    }

    @Test func `only the track that needs it is encoded again`() throws {
        let path = try Sample.path("pcm.mkv")
        let recording = try Recording.file(path, transcoding: .init())
        let packets = try Tool.packets(path, "v")
        #expect(recording.videoUnits.map { MD5.hexadecimal($0.data) } == packets.map(\.hash))
        #expect(recording.audioFormats.map(\.channels) == [1])
    }

    @Test func `a key frame is made when it is asked for`() throws {
        var transcoding = MediaFileConfiguration.Transcoding(preset: "ultrafast")
        transcoding.keyFrameInterval = 1000
        let source = MediaFileSource(
            MediaFileConfiguration(
                path: try Sample.path("old.avi"), pace: .unthrottled, transcoding: transcoding))
        let recording = Recording()
        try source.run { event in
            recording.append(event)
            if recording.videoUnits.count == 10 { source.requestKeyFrame() }
        }
        let keys = recording.videoUnits.indices.filter { recording.videoUnits[$0].isKeyFrame }
        #expect(keys.count == 2 && keys[0] == 0 && keys[1] >= 10)
    }
}
