import Foundation
import Media
import MediaFile
import TestSupport
import Testing

/// When fragments of an MP4 begin, by what they say themselves.
@Suite(.ownThread) struct MovieFragmentsTests {
    /// The offsets of `moof` in a file.
    private static func fragments(_ bytes: [UInt8]) -> [Int] {
        var offsets: [Int] = []
        var offset = 0
        while offset + 8 <= bytes.count {
            let size = bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | Int($1) }
            if bytes[(offset + 4)..<(offset + 8)].elementsEqual("moof".utf8) { offsets.append(offset) }
            offset += size
        }
        return offsets
    }

    @Test(arguments: [true, false])
    func `each fragment begins with its key frame`(hasAudio: Bool) throws {
        let recording = try Recording.pattern(frames: 100, hasAudio: hasAudio)
        let bytes = try Scratch.read(try recording.write(.fragmentedMP4, "film.mp4").path)
        let places = Self.fragments(bytes)
        #expect(places.count >= 4)
        let fragments = try #require(MovieFragments(bytes[..<(places[0] + 8)]))
        #expect(fragments.headerSize == places[0])
        // Of the track: that it begins after the audio stands elsewhere.
        let zero = try #require(recording.videoUnits.first).decodeTime
        let keyFrames = recording.videoUnits.filter(\.isKeyFrame).map { $0.decodeTime - zero }
        let times = places.map { place in fragments.time(ofFragment: bytes[place...]) }
        for time in times {
            let time = try #require(time)
            #expect(keyFrames.contains { abs($0.nanoseconds - time.nanoseconds) < 1_000_000 }, "\(time)")
        }
        #expect(fragments.time(ofFragment: bytes[(places[1] + 8)...]) == nil)
        #expect(fragments.time(ofFragment: bytes[0...]) == nil)
    }

    @Test func `a film without fragments has none, and neither has anything else`() throws {
        let whole = try Scratch.read(try Recording.pattern().write(.mp4, "film.mp4").path)
        #expect(MovieFragments(whole[...]) == nil)
        #expect(MovieFragments([]) == nil)
        #expect(MovieFragments([UInt8](repeating: 0, count: 100_000)[...]) == nil)
        #expect(MovieFragments([UInt8](repeating: 0xFF, count: 100_000)[...]) == nil)
    }

    @Test(arguments: [UInt64(1), 2]) func `whatever the bytes are, nothing traps`(seed: UInt64) throws {
        let bytes = try Scratch.read(try Recording.pattern().write(.fragmentedMP4, "film.mp4").path)
        let places = Self.fragments(bytes)
        let header = bytes[..<(places[0] + 8)]
        let fragment = bytes[places[0]..<min(places[0] + 2000, bytes.count)]
        for count in 0..<header.count { _ = MovieFragments(header.prefix(count)) }
        let known = try #require(MovieFragments(header))
        for count in 0..<fragment.count { _ = known.time(ofFragment: fragment.prefix(count)) }
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<3000 {
            var changed = Array(header)
            var part = Array(fragment)
            for _ in 0..<4 {
                changed[Int.random(in: 0..<changed.count, using: &generator)] = [0, 1, 0x7F, 0xFF].randomElement(
                    using: &generator)!
                part[Int.random(in: 0..<min(200, part.count), using: &generator)] = UInt8.random(
                    in: 0...255, using: &generator)
            }
            _ = MovieFragments(changed[...])?.time(ofFragment: part[...])
            _ = known.time(ofFragment: part[...])
        }
    }
}
