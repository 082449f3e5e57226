import FLV
import FLVTestSupport
import Foundation
import Media
import MediaFile
import TestSupport
import Testing

@Suite(.ownThread) struct HostileFileTests {
    @Test func `a missing file, a directory, a pipe and an empty file are named as such`() throws {
        let missing = "/no/such/file.mp4"
        #expect(
            throws: MediaSourceError(
                what: "cannot open \(missing)", why: "No such file or directory", hint: "Check the path.")
        ) { try Recording.file(missing) }
        let hint = "Name a file with video or audio in it."
        #expect(throws: MediaSourceError(what: "cannot open /tmp", why: "it is a directory", hint: hint)) {
            try Recording.file("/tmp")
        }
        let pipe = Scratch.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        #expect(throws: MediaSourceError(what: "cannot open \(pipe)", why: "it is not a regular file", hint: hint)) {
            try Recording.file(pipe)
        }
        let empty = try Scratch.write([], "empty.mp4")
        #expect(throws: MediaSourceError(what: "cannot open \(empty)", why: "the file is empty", hint: hint)) {
            try Recording.file(empty)
        }
    }

    @Test(arguments: ["http://127.0.0.1:1/a.mp4", "concat:/etc/passwd|/etc/passwd", "pipe:0", ""])
    func `no name is taken for an address`(path: String) {
        let error = #expect(throws: MediaSourceError.self) { try Recording.file(path) }
        #expect(error?.why == "No such file or directory")
    }

    @Test func `a playlist does not make us fetch from elsewhere`() throws {
        let list = try Scratch.write(
            Array("#EXTM3U\n#EXT-X-TARGETDURATION:2\n#EXTINF:2,\nhttp://127.0.0.1:1/a.ts\n#EXT-X-ENDLIST\n".utf8),
            "list.m3u8")
        #expect(throws: MediaSourceError.self) { try Recording.file(list) }
    }

    @Test func `a file without video and audio says so`() throws {
        let path = try Scratch.write(Array("1\n00:00:00,000 --> 00:00:01,000\nhello\n\n".utf8), "words.srt")
        let error = #expect(throws: MediaSourceError.self) { try Recording.file(path) }
        #expect(error?.why == "it holds neither video nor audio")
    }

    @Test(arguments: 0..<12 as Range<UInt64>)
    func `random bytes are refused or played, and never crash`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var bytes = (0..<Int.random(in: 1...200_000, using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
        }
        let heads: [[UInt8]] = [
            [], Array("FLV\u{1}\u{5}\0\0\0\u{9}\0\0\0\0".utf8), [0x47], [0, 0, 0, 1, 0x67], [0xFF, 0xF1, 0x4C],
            [0, 0, 0, 24] + Array("ftypisom".utf8), [0x1A, 0x45, 0xDF, 0xA3],
        ]
        bytes = heads[Int(seed) % heads.count] + bytes
        let path = try Scratch.write(bytes, "random")
        for transcoding in [nil, MediaFileConfiguration.Transcoding(preset: "ultrafast")] {
            do throws(MediaSourceError) {
                _ = try Recording.file(path, durationLimit: 60, transcoding: transcoding)
            } catch {
                #expect(!error.what.isEmpty && !error.why.isEmpty && !error.hint.isEmpty)
            }
        }
    }

    @Test func `an MP4 that lost its end is refused, and says why`() throws {
        let bytes = try Scratch.read(try Recording.pattern(frames: 25).write(.mp4, "whole.mp4").path)
        // The index stands at the end, so none of these can be played.
        for share in [1, 4, 10, 50, 90] {
            let path = try Scratch.write(Array(bytes.prefix(bytes.count * share / 100)), "cut.mp4")
            let error = #expect(throws: MediaSourceError.self) { try Recording.file(path) }
            #expect(error?.what == "cannot open \(path)")
        }
    }

    @Test(.enabled(if: Tool.areInstalled, Tool.reason), arguments: [30, 55, 80])
    func `an MP4 with its index in front gives every whole frame, and then the error`(share: Int) throws {
        let whole = Scratch.path("front.mp4")
        try Tool.make(["-i", try Sample.path("plain.mp4"), "-c", "copy", "-movflags", "faststart"], whole)
        let expected = try Recording.file(whole)
        let bytes = try Scratch.read(whole)
        let path = try Scratch.write(Array(bytes.prefix(bytes.count * share / 100)), "cut.mp4")
        let recording = Recording()
        let error = #expect(throws: MediaSourceError.self) {
            try MediaFileSource(MediaFileConfiguration(path: path, pace: .unthrottled)).run { recording.append($0) }
        }
        #expect(error?.what == "cannot read \(path)")
        #expect(recording.videoUnits.count > 5 && recording.videoUnits.count < 50)
        #expect(recording.videoUnits.map(\.data) == expected.videoUnits.prefix(recording.videoUnits.count).map(\.data))
    }

    @Test func `a transport stream that was cut is played as far as it goes`() throws {
        let bytes = try Scratch.read(try Recording.pattern(frames: 50).write(.mpegTS, "whole.ts").path)
        let path = try Scratch.write(Array(bytes.prefix(bytes.count / 2)), "cut.ts")
        let recording = try Recording.file(path)
        #expect((10..<50).contains(recording.videoUnits.count))
    }

    @Test func `an FLV file that lost its end gives every whole frame, and then the error`() throws {
        let (bytes, boundaries) = try FLVBytes.make(try Recording.pattern(frames: 10))
        let whole = try Recording.file(try Scratch.write(bytes, "whole.flv"))
        #expect(whole.videoUnits.count == 10)
        var generator = SeededGenerator(seed: 9)
        for _ in 0..<40 {
            let length = Int.random(in: 3..<bytes.count, using: &generator)
            let path = try Scratch.write(Array(bytes.prefix(length)), "cut.flv")
            let recording = Recording()
            let source = MediaFileSource(MediaFileConfiguration(path: path, pace: .unthrottled))
            // A cut between two tags cannot be noticed; the size of the last one may be missing.
            let isNoticed = !boundaries.contains { (0...4).contains(length - $0) }
            do throws(MediaSourceError) {
                try source.run { recording.append($0) }
                #expect(!isNoticed)
            } catch {
                #expect(error.what == "cannot read \(path)" || recording.units.isEmpty)
            }
            let wholeTags = boundaries.filter { $0 <= length }.count
            #expect(recording.units.count == max(0, wholeTags - 3))
        }
    }

    @Test(
        .enabled(if: Tool.areInstalled, Tool.reason),
        arguments: [
            "plain.mp4", "reordered.ts", "reordered.flv", "reordered.mkv", "hevc.mp4", "sound.aac", "fragmented.mp4",
        ])
    func `flipped bits are refused or played, and never crash`(name: String) throws {
        let original = try Scratch.read(try Sample.path(name))
        for seed in 0..<12 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            var bytes = original
            for _ in 0..<(seed % 3 == 0 ? 200 : 8) {
                bytes[Int.random(in: bytes.indices, using: &generator)] ^=
                    1 << UInt8.random(in: 0...7, using: &generator)
            }
            let path = try Scratch.write(bytes, "flipped")
            let recording = Recording()
            let source = MediaFileSource(
                MediaFileConfiguration(path: path, pace: .unthrottled, durationLimit: 120))
            do throws(MediaSourceError) {
                try source.run { recording.append($0) }
            } catch {
                #expect(!error.why.isEmpty, "seed \(seed)")
            }
            for track in [recording.videoUnits, recording.audioUnits] {
                #expect(
                    zip(track, track.dropFirst()).allSatisfy { $0.decodeTime < $1.decodeTime }, "seed \(seed)")
                #expect(track.allSatisfy { $0.presentationTime >= $0.decodeTime }, "seed \(seed)")
            }
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}

/// FLV files by our own writer.
enum FLVBytes {
    /// The bytes, and the offset behind each tag: two sequence headers and metadata first.
    static func make(_ recording: Recording) throws -> (bytes: [UInt8], boundaries: [Int]) {
        let video = try #require(recording.videoFormats.first)
        let audio = try #require(recording.audioFormats.first)
        var packetizer = Packetizer()
        var tags = [
            FLVTag(
                type: FLVTag.script, timestamp: 0,
                body: StreamMetadata(video: video, audio: audio).encodedScriptTag()),
            FLVTag(type: FLVTag.video, timestamp: 0, body: packetizer.sequenceHeader(video)),
            FLVTag(type: FLVTag.audio, timestamp: 0, body: packetizer.sequenceHeader(audio)),
        ]
        var prefix: [UInt8] = []
        for unit in recording.units {
            let placement = try packetizer.place(unit, prefix: &prefix)
            tags.append(
                FLVTag(type: placement.type, timestamp: placement.timestamp, body: prefix + unit.data))
        }
        var bytes: [UInt8] = Array("FLV".utf8) + [1, 5, 0, 0, 0, 9, 0, 0, 0, 0]
        var boundaries: [Int] = []
        for tag in tags {
            bytes.append(tag.type)
            bytes += [UInt8(tag.body.count >> 16 & 255), UInt8(tag.body.count >> 8 & 255), UInt8(tag.body.count & 255)]
            let time = tag.timestamp
            bytes += [UInt8(time >> 16 & 255), UInt8(time >> 8 & 255), UInt8(time & 255), UInt8(time >> 24)]
            bytes += [0, 0, 0] + tag.body
            boundaries.append(bytes.count)
            let size = tag.body.count + 11
            bytes += [UInt8(size >> 24 & 255), UInt8(size >> 16 & 255), UInt8(size >> 8 & 255), UInt8(size & 255)]
        }
        return (bytes, boundaries)
    }
}
