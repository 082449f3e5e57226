import CommonEncryption
import Cryptography
import Foundation
import Media
import TDFCryptography
import TestSupport
import Testing

/// Of all films here.
enum FilmKey {
    static let key = (0..<16).map { UInt8($0 * 17) }
    static let keyID = (0..<16).map { UInt8($0 + 1) }
    static let iv = (0..<16).map { UInt8(200 - $0 * 7) }

    static var text: String { key.map { String(format: "%02x", $0) }.joined() }

    static func cipher() throws -> SampleCipher { try SampleCipher(key: key.span) }

    static func encryptor(_ film: ClearFilm) throws -> CBCSEncryptor {
        try CBCSEncryptor(initSegment: film.initSegment, keyID: keyID, iv: iv, cipher: cipher())
    }

    static func encrypted(_ film: ClearFilm) throws -> ClearFilm {
        var encryptor = try encryptor(film)
        var result = ClearFilm([])
        result.initSegment = encryptor.initSegment
        for fragment in film.fragments { result.fragments.append(try encryptor.encrypt(fragment)) }
        return result
    }
}

@Suite(.ownThread) struct CBCSTests {
    @Test(.enabled(if: ForeignEncoders.has("libx265"), "ffmpeg has no libx265: nothing here is done with H.265"))
    func `the films are of both codecs`() {
        #expect(FilmCase.possible.contains { $0.encoder == "libx265" })
        #expect(FilmCase.possible.contains { $0.encoder == "libx264" })
    }

    /// libavformat and libavcodec know the scheme from elsewhere. Before version 7 they fail on a second encrypted fragment, so each gets its own
    /// file.
    @Test(.enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"), arguments: FilmCase.possible)
    func `ffmpeg decrypts each fragment to the frames of the clear one`(film: FilmCase) throws {
        let ffmpeg = try ForeignFFmpeg()
        let clear = try ClearFilm(film, ffmpeg)
        let encrypted = try FilmKey.encrypted(clear)
        #expect(clear.fragments.count == 3)
        for (number, fragments) in zip(clear.fragments, encrypted.fragments).enumerated() {
            for map in film.hasAudio ? ["0:v", "0:a"] : ["0:v"] {
                let count = try Self.decrypted(
                    encrypted.initSegment + fragments.1, as: clear.initSegment + fragments.0, ffmpeg, map)
                // The last one may have no sound that is a frame of its own.
                #expect(count >= (map == "0:v" ? 9 : number == 2 ? 0 : 3), "fragment \(number), \(map)")
            }
        }
    }

    /// From version 7 on it takes a film with more than one fragment.
    @Test(
        .enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"),
        .enabled(if: ForeignFFmpeg.newer != nil, "WATCHBOX_FFMPEG7 names no ffmpeg (`make test` gets one from PyPI)"),
        arguments: FilmCase.possible)
    func `ffmpeg 7 decrypts the whole film to the frames of the clear one`(film: FilmCase) throws {
        let clear = try ClearFilm(film, try ForeignFFmpeg())
        let encrypted = try FilmKey.encrypted(clear)
        let newer = try ForeignFFmpeg(ForeignFFmpeg.newer)
        for map in film.hasAudio ? ["0:v", "0:a"] : ["0:v"] {
            let count = try Self.decrypted(encrypted.bytes, as: clear.bytes, newer, map)
            // Of sound as much as ffmpeg made until the last picture was coded.
            #expect(count >= (map == "0:v" ? 27 : 3), "\(map)")
        }
    }

    /// - Returns: how many frames were compared.
    private static func decrypted(
        _ encrypted: [UInt8], as clear: [UInt8], _ ffmpeg: ForeignFFmpeg, _ map: String
    ) throws -> Int {
        try ffmpeg.write(clear, "clear.mp4")
        try ffmpeg.write(encrypted, "encrypted.mp4")
        let rest = ["-map", map, "-f", "framemd5", "-"]
        let expected = try ffmpeg.run(["-v", "error", "-i", "clear.mp4"] + rest)
        let found = try ffmpeg.run(["-v", "error", "-decryption_key", FilmKey.text, "-i", "encrypted.mp4"] + rest)
        #expect(found.output == expected.output, "\(map)")
        #expect(Self.complaints(found.errors) == Self.complaints(expected.errors))
        let count = expected.output.split(separator: "\n").count { !$0.hasPrefix("#") }
        guard count > 0 else { return 0 }
        // So it is not the clear film that was compared.
        let other = String(FilmKey.text.reversed())
        let wrong = try ffmpeg.run(["-v", "error", "-decryption_key", other, "-i", "encrypted.mp4"] + rest)
        #expect(wrong.output != expected.output)
        return count
    }

    /// What ffmpeg says, without the addresses of its parts.
    private static func complaints(_ text: String) -> [Substring] {
        text.split(separator: "\n").map { line in line.split(separator: "]").last ?? line }
    }

    @Test(.enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"), arguments: FilmCase.possible)
    func `block by block by the standard, and back to the same file`(film: FilmCase) throws {
        let clear = try ClearFilm(film, try ForeignFFmpeg())
        let encrypted = try FilmKey.encrypted(clear)
        let decryptor = try CBCSDecryptor(initSegment: encrypted.initSegment, cipher: FilmKey.cipher())
        #expect(decryptor.keyIDs == [FilmKey.keyID])
        #expect(decryptor.initSegment == clear.initSegment)
        for (plain, protected) in zip(clear.fragments, encrypted.fragments) {
            let tracks = try StandardDecryption.tracks(of: plain)
            #expect(try StandardDecryption.tracks(of: protected) == tracks)
            for track in 0..<tracks {
                // The order of tracks is that of the file: video first.
                let pattern = track == 0 ? (crypt: 1, skip: 9) : (crypt: 0, skip: 0)
                let found = try StandardDecryption.samples(
                    of: protected, track: track, key: FilmKey.key, iv: FilmKey.iv, pattern: pattern)
                let expected = try StandardDecryption.samples(
                    of: plain, track: track, key: FilmKey.key, iv: FilmKey.iv, pattern: (crypt: 0, skip: 1))
                #expect(expected.encrypted == 0)
                #expect(found.samples == expected.samples)
                let size = expected.samples.reduce(0) { $0 + $1.count }
                // A tenth, without what is header; of audio all but less than a block of each sample.
                let share = track == 0 ? size / 20..<size / 9 : size - 16 * expected.samples.count..<size
                #expect(share.contains(found.encrypted))
            }
            #expect(try decryptor.decrypt(protected) == plain)
        }
        // Several at once are the same.
        #expect(try decryptor.decrypt(Array(encrypted.fragments.joined())) == Array(clear.fragments.joined()))
    }

    /// What a reader without the key may see: all that is no slice, and of slices the header.
    @Test(.enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"), arguments: FilmCase.possible)
    func `what is before the slices, and their headers, stays as it is`(film: FilmCase) throws {
        let clear = try ClearFilm(film, try ForeignFFmpeg())
        let encrypted = try FilmKey.encrypted(clear)
        let none = (crypt: 0, skip: 1)
        let codec: VideoCodec = film.encoder == "libx264" ? .h264 : .hevc
        let stsd = try #require(
            SimpleBox.first("moov", "trak", "mdia", "minf", "stbl", "stsd", in: clear.initSegment[...]))
        // Of VisualSampleEntry.
        let entry = try #require(SimpleBox.list(stsd.content.dropFirst(8)).first)
        let record = try #require(SimpleBox.list(entry.content.dropFirst(78)).first { $0.kind.hasSuffix("vcC") })
        var headers = try SliceHeaders(codec: codec, configurationRecord: record.content)
        var slices = 0
        for (plain, protected) in zip(clear.fragments, encrypted.fragments) {
            let samples = try StandardDecryption.samples(
                of: plain, track: 0, key: FilmKey.key, iv: FilmKey.iv, pattern: none
            ).samples
            let others = try StandardDecryption.samples(
                of: protected, track: 0, key: FilmKey.key, iv: FilmKey.iv, pattern: none
            ).samples
            for (sample, other) in zip(samples, others) {
                var units = LengthPrefixedUnits(sample[...])
                var otherUnits = LengthPrefixedUnits(other[...])
                while let unit = try units.next(), let otherUnit = try otherUnits.next() {
                    try headers.insert(unit)
                    guard codec.kind(ofNALUnit: unit).isPicture else {
                        #expect(unit == otherUnit)
                        continue
                    }
                    slices += 1
                    let length = try headers.length(ofHeaderIn: unit)
                    #expect(unit.prefix(length) == otherUnit.prefix(length))
                    guard unit.count - length >= 16 else {
                        #expect(unit == otherUnit)
                        continue
                    }
                    let body = Array(unit.dropFirst(length))
                    let otherBody = Array(otherUnit.dropFirst(length))
                    #expect(body.prefix(16) != otherBody.prefix(16))
                    #expect(body.dropFirst(16).prefix(144) == otherBody.dropFirst(16).prefix(144))
                }
            }
        }
        #expect(slices >= 36)
    }

    @Test(.enabled(if: ForeignEncoders.has("libx264", "aac"), "ffmpeg has no libx264"))
    func `the boxes are those of the scheme`() throws {
        let film = try ClearFilm(FilmCase.all[0], try ForeignFFmpeg())
        let encrypted = try FilmKey.encrypted(film)
        let traks = SimpleBox.list(try #require(SimpleBox.first("moov", in: encrypted.initSegment[...])).content)
            .filter { $0.kind == "trak" }
        #expect(traks.count == 2)
        for (trak, expected) in zip(traks, [("encv", "avc1", 0x19, 78), ("enca", "mp4a", 0, 28)]) {
            let stsd = try #require(SimpleBox.first("mdia", "minf", "stbl", "stsd", in: trak.content))
            let entry = try #require(SimpleBox.list(stsd.content.dropFirst(8)).first)
            #expect(entry.kind == expected.0)
            let sinf = try #require(SimpleBox.list(entry.content.dropFirst(expected.3)).last)
            #expect(sinf.kind == "sinf")
            #expect(SimpleBox.list(sinf.content).map(\.kind) == ["frma", "schm", "schi"])
            #expect(Array(sinf.content.dropFirst(8).prefix(4)) == Array(expected.1.utf8))
            let schm = try #require(SimpleBox.first("schm", in: sinf.content))
            #expect(Array(schm.content) == [0, 0, 0, 0] + Array("cbcs".utf8) + [0, 1, 0, 0])
            let tenc = try #require(SimpleBox.first("schi", "tenc", in: sinf.content))
            let head: [UInt8] = [1, 0, 0, 0, 0, UInt8(expected.2), 1, 0]
            #expect(Array(tenc.content) == head + FilmKey.keyID + [16] + FilmKey.iv)
        }
        let moof = try #require(SimpleBox.first("moof", in: encrypted.fragments[0][...]))
        let trafs = SimpleBox.list(moof.content).filter { $0.kind == "traf" }
        #expect(SimpleBox.list(trafs[0].content).map(\.kind).suffix(3) == ["saiz", "saio", "senc"])
        // Of whole samples under one IV there is nothing to say.
        #expect(SimpleBox.list(trafs[1].content).allSatisfy { !["saiz", "saio", "senc"].contains($0.kind) })
    }
}
