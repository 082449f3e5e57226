import CommonEncryption
import Media
import TestSupport
import Testing

/// Films whose parameter sets stand in front of key frames, as a camera sends them, and change on the way.
@Suite(.ownThread) struct CBCSParameterSetTests {
    struct Pair: CustomTestStringConvertible, Sendable {
        var encoder: String
        var first: [String]
        var second: [String]
        var testDescription: String { encoder }
    }

    private static let pairs = [
        Pair(
            encoder: "libx264", first: ["-bf", "2", "-refs", "3"],
            second: ["-x264-params", "cabac=0:slices=4:bframes=0:weightp=0"]),
        Pair(
            encoder: "libx265", first: ["-x265-params", "log-level=none:keyint=12:bframes=2"],
            second: ["-x265-params", "log-level=none:keyint=12:bframes=0:slices=3:ctu=16:no-sao=1:weightp=0"]),
    ].filter { ForeignEncoders.has($0.encoder) }

    private static func film(_ pair: Pair, _ options: [String], _ ffmpeg: ForeignFFmpeg) throws -> ClearFilm {
        ClearFilm(
            try ffmpeg.make(
                "film.mp4",
                [
                    "-f", "lavfi", "-i", "testsrc2=s=320x240:r=25,format=yuv420p", "-frames:v", "36", "-c:v",
                    pair.encoder, "-preset", "veryfast", "-b:v", "1500k", "-g", "12",
                ] + options + [
                    "-bsf:v", "dump_extra=freq=keyframe", "-movflags", "frag_keyframe+empty_moov+default_base_moof",
                ]))
    }

    @Test(arguments: pairs) func `slices are read by the sets that came last`(pair: Pair) throws {
        let ffmpeg = try ForeignFFmpeg()
        let first = try Self.film(pair, pair.first, ffmpeg)
        let second = try Self.film(pair, pair.second, ffmpeg)
        let codec: VideoCodec = pair.encoder == "libx264" ? .h264 : .hevc
        try #require(second.fragments.count == 3)
        for fragment in second.fragments {
            let samples = try StandardDecryption.samples(
                of: fragment, track: 0, key: FilmKey.key, iv: FilmKey.iv, pattern: (crypt: 0, skip: 1)
            ).samples
            var units = LengthPrefixedUnits(try #require(samples.first)[...])
            var kinds: [NALUnitKind] = []
            while let unit = try units.next() { kinds.append(codec.kind(ofNALUnit: unit)) }
            try #require(kinds.contains(.pictureParameterSet))
        }
        // The second film on its own is what it has to be behind the first one as well.
        let expected = try FilmKey.encrypted(second)
        var both = first
        both.fragments += second.fragments
        let encrypted = try FilmKey.encrypted(both)
        #expect(Array(encrypted.fragments.dropFirst(first.fragments.count)) == expected.fragments)
        let decryptor = try CBCSDecryptor(initSegment: encrypted.initSegment, cipher: FilmKey.cipher())
        for (clear, protected) in zip(both.fragments, encrypted.fragments) {
            #expect(try decryptor.decrypt(protected) == clear)
        }
        // And ffmpeg, which knows the scheme from elsewhere, finds the same pictures in it.
        try ffmpeg.write(second.initSegment + second.fragments[0], "clear.mp4")
        try ffmpeg.write(encrypted.initSegment + encrypted.fragments[first.fragments.count], "encrypted.mp4")
        let rest = ["-map", "0:v", "-f", "framemd5", "-"]
        let clear = try ffmpeg.run(["-v", "error", "-i", "clear.mp4"] + rest)
        let found = try ffmpeg.run(["-v", "error", "-decryption_key", FilmKey.text, "-i", "encrypted.mp4"] + rest)
        #expect(clear.output.split(separator: "\n").count { !$0.hasPrefix("#") } == 12)
        #expect(found.output == clear.output)
    }
}
