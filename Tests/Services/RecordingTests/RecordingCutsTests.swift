import Media
import Testing

@testable import Recording

struct RecordingCutsTests {
    private static let video = VideoFormat(codec: .h264, width: 64, height: 48, frameRate: 5, configurationRecord: [1])
    private static let larger = VideoFormat(
        codec: .h264, width: 128, height: 96, frameRate: 5, configurationRecord: [2])
    private static let audio = AudioFormat(
        codec: .aac, sampleRate: 48000, channels: 2, audioSpecificConfig: [0x11, 0x90])

    private static func frame(_ milliseconds: Int64, key: Bool = false) -> AccessUnit {
        let time = MediaTime(milliseconds: milliseconds)
        return AccessUnit(
            track: .video(.h264), isKeyFrame: key, presentationTime: time, decodeTime: time, data: [0])
    }

    private static func sound(_ milliseconds: Int64) -> AccessUnit {
        let time = MediaTime(milliseconds: milliseconds)
        return AccessUnit(track: .audio(.aac), isKeyFrame: true, presentationTime: time, decodeTime: time, data: [0])
    }

    private var cuts = RecordingCuts(length: MediaTime(milliseconds: 2000))

    @Test mutating func `a recording begins at a key frame, and audio waits for it`() {
        cuts.take(Self.audio)
        #expect(cuts.take(Self.frame(0, key: true)) == .pass, "its format is not known")
        cuts.take(Self.video)
        #expect(cuts.take(Self.sound(10)) == .pass)
        #expect(cuts.take(Self.frame(40)) == .pass)
        #expect(cuts.take(Self.frame(80, key: true)) == .begin)
        #expect(cuts.take(Self.sound(70)) == .go)
        #expect(cuts.take(Self.frame(120)) == .go)
    }

    @Test mutating func `it ends at the first key frame after its length`() {
        cuts.take(Self.video)
        #expect(cuts.take(Self.frame(0, key: true)) == .begin)
        #expect(cuts.take(Self.frame(1999, key: true)) == .go)
        #expect(cuts.take(Self.frame(2500)) == .go)
        #expect(cuts.take(Self.frame(3000, key: true)) == .cut)
        #expect(cuts.take(Self.frame(4999, key: true)) == .go)
        #expect(cuts.take(Self.frame(5000, key: true)) == .cut)
    }

    @Test mutating func `a large one ends at the next key frame`() {
        cuts.take(Self.video)
        #expect(cuts.take(Self.frame(0, key: true)) == .begin)
        #expect(cuts.take(Self.frame(40), isLarge: true) == .go)
        #expect(cuts.take(Self.frame(80, key: true), isLarge: true) == .cut)
    }

    @Test mutating func `another format is in another recording, and what does not belong to it in none`() {
        cuts.take(Self.video)
        #expect(cuts.take(Self.frame(0, key: true)) == .begin)
        cuts.take(Self.video)
        #expect(cuts.take(Self.frame(40)) == .go, "the same again is no other")
        cuts.take(Self.larger)
        #expect(cuts.take(Self.frame(80)) == .pass)
        #expect(cuts.take(Self.frame(120, key: true)) == .cut)
        #expect(cuts.video == Self.larger)
        #expect(cuts.take(Self.frame(160)) == .go)
    }

    @Test mutating func `audio that comes later, or changes, is in the next one`() {
        cuts.take(Self.video)
        #expect(cuts.take(Self.frame(0, key: true)) == .begin)
        cuts.take(Self.audio)
        #expect(cuts.take(Self.sound(20)) == .pass)
        #expect(cuts.take(Self.frame(40)) == .go, "video does not wait for it")
        #expect(cuts.take(Self.frame(80, key: true)) == .cut)
        #expect(cuts.take(Self.sound(90)) == .go)
    }

    @Test(arguments: [-1, 6000]) mutating func `a source that begins again is in another one`(step: Int64) {
        cuts.take(Self.video)
        #expect(cuts.take(Self.frame(1000, key: true)) == .begin)
        #expect(cuts.take(Self.frame(1000 + step)) == .pass, "no frame before it leads to this one")
        #expect(cuts.take(Self.frame(1040 + step)) == .pass, "nor to those that follow it")
        #expect(cuts.take(Self.frame(1080 + step, key: true)) == .cut)
    }

    @Test mutating func `a camera that gives a frame in ten seconds is recorded as any other`() {
        var cuts = RecordingCuts(length: MediaTime(milliseconds: 60_000))
        cuts.take(Self.video)
        #expect(cuts.take(Self.frame(0, key: true)) == .begin)
        // The first pause of all is not known to be its pace.
        #expect(cuts.take(Self.frame(10_000, key: true)) == .cut)
        for second in stride(from: Int64(20_000), through: 60_000, by: 10_000) {
            #expect(cuts.take(Self.frame(second, key: true)) == .go)
        }
        #expect(cuts.silence(least: 10_000_000_000) == 30_000_000_000)
        #expect(cuts.take(Self.frame(70_000, key: true)) == .cut, "it was long enough")
        #expect(cuts.take(Self.frame(110_000)) == .pass, "a pause of four frames")
    }

    @Test mutating func `what has ended begins again with a key frame`() {
        cuts.take(Self.video)
        #expect(cuts.take(Self.frame(0, key: true)) == .begin)
        cuts.end()
        #expect(cuts.take(Self.frame(40)) == .pass)
        #expect(cuts.take(Self.frame(80, key: true)) == .begin)
    }
}
