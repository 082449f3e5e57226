import Foundation
import TestSupport
import Testing

@testable import Media

@Suite struct StreamNoteTests {
    private static let notes: [StreamNote] = [
        StreamNote(), StreamNote(time: .system(1_800_000_000_123)), StreamNote(time: .keyAccess(0)),
        StreamNote(
            time: .keyAccess(1_800_000_000_000),
            predecessor: .init(headerHash: [UInt8](repeating: 0, count: 32), lastCounter: 0xFF_FFFF)),
        StreamNote(time: .system(3), predecessor: .init(headerHash: Array(0..<32), lastCounter: 0)),
    ]

    /// One or more units with a slice among them, as cameras send them.
    private static let pictures: [(VideoCodec, [UInt8])] = [
        (.h264, [0, 0, 0, 3, 0x65, 1, 2]),
        (.h264, [0, 0, 0, 2, 0x09, 0x10, 0, 0, 0, 2, 0x67, 1, 0, 0, 0, 2, 0x68, 2, 0, 0, 0, 3, 0x65, 1, 2]),
        (.h264, [0, 0, 0, 3, 0x06, 1, 0, 0, 0, 0, 2, 0x41, 9, 0, 0, 0, 2, 0x41, 8]),
        (.hevc, [0, 0, 0, 3, 0x26, 1, 2]),
        (.hevc, [0, 0, 0, 3, 0x40, 1, 7, 0, 0, 0, 3, 0x02, 3, 2, 0, 0, 0, 3, 0x02, 3, 1]),
    ]

    @Test func `a note that is put into a picture comes out, and the picture is as it was`() throws {
        for (codec, picture) in Self.pictures {
            for note in Self.notes {
                var carrier = try #require(note.inserted(intoVideo: picture, codec: codec))
                #expect(carrier.count <= picture.count + StreamNote.maxBytes)
                #expect(StreamNote.isPresent(inVideo: carrier, codec: codec))
                #expect(try codec.isKeyFrame(carrier[...]) == codec.isKeyFrame(picture[...]))
                #expect(StreamNote.removed(fromVideo: &carrier, codec: codec) == note)
                #expect(carrier == picture)
                #expect(StreamNote.removed(fromVideo: &carrier, codec: codec) == nil)
                #expect(carrier == picture)
            }
        }
    }

    @Test func `it stands directly before the first slice, as user data, without a start code in it`() throws {
        for (codec, picture) in Self.pictures {
            let note = Self.notes[3]
            let carrier = try #require(note.inserted(intoVideo: picture, codec: codec))
            var units = LengthPrefixedUnits(carrier[...])
            var kinds: [NALUnitKind] = []
            while let unit = try units.next() {
                kinds.append(codec.kind(ofNALUnit: unit))
                for index in unit.indices.dropLast(2) {
                    #expect(!(unit[index] == 0 && unit[index + 1] == 0 && unit[index + 2] < 3), "\(codec)")
                }
            }
            let slice = try #require(kinds.firstIndex { $0.isPicture })
            #expect(slice > 0 && kinds[slice - 1] == .supplementalInformation)
        }
        let carrier = try #require(Self.notes[0].inserted(intoVideo: Self.pictures[0].1, codec: .h264))
        #expect(carrier[4...6].elementsEqual([6, 5, 26]))
        #expect(carrier[7..<23].elementsEqual(StreamNote.identifier))
        let hevc = try #require(Self.notes[0].inserted(intoVideo: Self.pictures[4].1, codec: .hevc))
        // Type 39, and the temporal layer of the picture behind it.
        #expect(hevc[11...14].elementsEqual([0x4E, 3, 5, 26]))
    }

    @Test func `a note in a frame that has one already takes nothing of the camera's with it`() throws {
        for (codec, picture) in Self.pictures {
            let sources = try #require(Self.notes[1].inserted(intoVideo: picture, codec: codec))
            var carrier = try #require(Self.notes[2].inserted(intoVideo: sources, codec: codec))
            #expect(StreamNote.removed(fromVideo: &carrier, codec: codec) == Self.notes[2])
            #expect(carrier == sources)
        }
    }

    @Test func `what is not a picture is given no note`() {
        for bytes: [UInt8] in [[], [1], [0, 0, 0, 9, 0x65], [0, 0, 0, 2, 0x67, 1], [0, 0, 0, 0, 0x65, 1]] {
            #expect(Self.notes[0].inserted(intoVideo: bytes, codec: .h264) == nil)
            var copy = bytes
            #expect(StreamNote.removed(fromVideo: &copy, codec: .h264) == nil)
        }
    }

    @Test func `a note in front of an audio comes off, and the audio is as it was`() {
        for audio: [UInt8] in [[0x21, 1, 2, 3], [], [0x9F, 26], [UInt8](repeating: 0x9F, count: 300)] {
            for note in Self.notes {
                var carrier = note.inserted(intoAudio: audio)
                #expect(StreamNote.isPresent(inAudio: carrier))
                #expect(StreamNote.removed(fromAudio: &carrier) == note)
                #expect(carrier == audio)
            }
            var plain = audio
            #expect(StreamNote.removed(fromAudio: &plain) == nil && plain == audio)
        }
    }

    @Test func `audio of error resilient objects is given none`() {
        func format(_ config: [UInt8]) -> AudioFormat {
            AudioFormat(codec: .aac, sampleRate: 48000, channels: 2, audioSpecificConfig: config)
        }
        #expect(StreamNote.fits(format([0x11, 0x90])))
        #expect(StreamNote.fits(format([0x2B, 0x11])))
        for type in [17, 19, 20, 23, 31, 39] as [UInt8] { #expect(!StreamNote.fits(format([type << 3, 0]))) }
        #expect(!StreamNote.fits(format([])))
    }

    @Test func `later versions may say more`() {
        let body = Self.notes[3].encoded()
        #expect(StreamNote(body: (body + [1, 2, 3])[...]) == Self.notes[3])
        var later = body
        later[16] = 9
        later[17] |= 0xF0
        #expect(StreamNote(body: later[...]) == Self.notes[3])
    }

    @Test func `a time that no clock shows becomes unset`() {
        for bits in [UInt64.max, 1 << 63, 1 << 62] {
            var body = StreamNote(time: .system(1)).encoded()
            for index in 0..<8 { body[18 + index] = UInt8(truncatingIfNeeded: bits >> UInt64(56 - 8 * index)) }
            #expect(StreamNote(body: body[...])?.time == .unset)
        }
    }

    @Test(arguments: 0..<64 as Range<UInt64>)
    func `damaged notes never trap, and what is not taken out stays whole`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for (codec, picture) in Self.pictures {
            for note in Self.notes {
                var bytes = try #require(note.inserted(intoVideo: picture, codec: codec))
                for _ in 0..<3 {
                    bytes[Int.random(in: bytes.indices, using: &generator)] ^= UInt8.random(
                        in: 1...255, using: &generator)
                }
                if Bool.random(using: &generator) {
                    bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
                }
                for bytes in [bytes, note.inserted(intoAudio: bytes)] {
                    var video = bytes
                    if StreamNote.removed(fromVideo: &video, codec: codec) == nil { #expect(video == bytes) }
                    var audio = bytes
                    if StreamNote.removed(fromAudio: &audio) == nil { #expect(audio == bytes) }
                }
            }
        }
    }
}

/// Notes that are never taken out: what a viewer that knows nothing of them gives to its decoder.
@Suite(
    .enabled(if: FileManager.default.isExecutableFile(atPath: FFmpeg.path), "needs Debian's ffmpeg"),
    .timeLimit(.minutes(15)))
struct NotesAndDecodersTests {
    private let note = StreamNote(
        time: .system(1_800_000_000_000),
        predecessor: .init(headerHash: [UInt8](repeating: 0, count: 32), lastCounter: 7))

    @Test(arguments: [
        (VideoCodec.h264, ["-c:v", "libx264", "-x264-params", "aud=1:log-level=-1"], "h264"),
        (.h264, ["-c:v", "libx264", "-profile:v", "baseline", "-x264-params", "aud=1:slices=3"], "h264"),
        (.hevc, ["-c:v", "libx265", "-x265-params", "aud=1:log-level=none"], "hevc"),
    ])
    func `pictures with notes decode to the same frames`(codec: VideoCodec, encoder: [String], form: String) throws {
        let plain = try FFmpeg.run(
            ["-f", "lavfi", "-i", "testsrc2=size=128x96:rate=25:duration=1.6", "-g", "10"] + encoder
                + ["-f", form, "-"])
        // A delimiter in front of each access unit.
        var pictures: [[ArraySlice<UInt8>]] = []
        for unit in AnnexB.units(in: plain[...]) {
            if codec.kind(ofNALUnit: unit) == .accessUnitDelimiter { pictures.append([]) }
            pictures[pictures.count - 1].append(unit)
        }
        #expect(pictures.count == 40)
        let noted = try pictures.flatMap { units in
            let carrier = try #require(note.inserted(intoVideo: AnnexB.lengthPrefixed(units), codec: codec))
            return try AnnexB.bytes(fromLengthPrefixed: carrier[...])
        }
        #expect(noted.count > plain.count + 40 * 60)
        let expected = try FFmpeg.frames(of: plain, form: form)
        #expect(expected.count > 40)
        #expect(try FFmpeg.frames(of: noted, form: form) == expected)
    }

    @Test(arguments: ["1", "2"])
    func `audio with notes decodes to the same audio`(channels: String) throws {
        let plain = try FFmpeg.run([
            "-f", "lavfi", "-i", "sine=frequency=440:sample_rate=48000:duration=1.5", "-ac", channels, "-c:a", "aac",
            "-f", "adts", "-",
        ])
        var noted: [UInt8] = []
        var position = 0
        var frames = 0
        while position + 7 <= plain.count {
            var header = Array(plain[position..<(position + 7)])
            let length = Int(header[3] & 3) << 11 | Int(header[4]) << 3 | Int(header[5] >> 5)
            let frame = note.inserted(intoAudio: Array(plain[(position + 7)..<(position + length)]))
            let total = frame.count + 7
            header[3] = header[3] & 0xFC | UInt8(total >> 11)
            header[4] = UInt8(truncatingIfNeeded: total >> 3)
            header[5] = header[5] & 0x1F | UInt8(truncatingIfNeeded: total << 5)
            noted += header + frame
            position += length
            frames += 1
        }
        #expect(frames > 60)
        let expected = try FFmpeg.frames(of: plain, form: "aac")
        #expect(expected.count > frames)
        #expect(try FFmpeg.frames(of: noted, form: "aac") == expected)
    }
}

private enum FFmpeg {
    static let path = "/usr/bin/ffmpeg"

    struct Failed: Error, CustomStringConvertible {
        var description: String
    }

    /// Its standard output.
    static func run(_ arguments: [String]) throws -> [UInt8] {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = ["-nostdin", "-v", "warning"] + arguments
        let output = FileManager.default.temporaryDirectory.appending(path: "note-\(UUID().uuidString)")
        let words = output.appendingPathExtension("log")
        defer {
            try? FileManager.default.removeItem(at: output)
            try? FileManager.default.removeItem(at: words)
        }
        for file in [output, words] { _ = FileManager.default.createFile(atPath: file.path, contents: nil) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: words)
        try process.run()
        process.waitUntilExit()
        let said = try String(contentsOf: words, encoding: .utf8)
        guard process.terminationStatus == 0 else { throw Failed(description: said) }
        return [UInt8](try Data(contentsOf: output))
    }

    /// One line with a digest for each decoded frame.
    static func frames(of stream: [UInt8], form: String) throws -> [Substring] {
        let file = FileManager.default.temporaryDirectory.appending(path: "note-\(UUID().uuidString).\(form)")
        defer { try? FileManager.default.removeItem(at: file) }
        try Data(stream).write(to: file)
        let text = try run(["-f", form, "-xerror", "-err_detect", "explode", "-i", file.path, "-f", "framemd5", "-"])
        return String(decoding: text, as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#software") }
    }
}
