import Foundation
import Media
import MediaFile
import TestSupport
import Testing
import VideoCodec

/// Films that are read from other places than files.
@Suite(.ownThread) struct MovieReaderTests {
    /// Bytes that are handed out a few at a time.
    private final class Bytes: ByteSource {
        let bytes: [UInt8]
        let step: Int
        /// Where reading fails.
        var hole: Int64?
        private(set) var reads: [Range<Int64>] = []

        init(_ bytes: [UInt8], step: Int = 1000) {
            self.bytes = bytes
            self.step = step
        }

        var size: Int64 { Int64(bytes.count) }

        func read(_ range: Range<Int64>) throws(MediaSourceError) -> ArraySlice<UInt8> {
            #expect(!range.isEmpty && range.lowerBound >= 0 && range.upperBound <= size)
            reads.append(range)
            if let hole, range.contains(hole) {
                throw MediaSourceError(what: "the hole", why: "was reached", hint: "Go round it.")
            }
            return bytes[Int(range.lowerBound)..<min(Int(range.upperBound), Int(range.lowerBound) + step)]
        }
    }

    private static func events(_ bytes: Bytes) throws(MediaSourceError) -> [MediaEvent] {
        let reader = try MovieReader(bytes, named: "the film", damagedHint: "look for another one")
        var events: [MediaEvent] = []
        while let next = try reader.next() { events += next }
        return events
    }

    private static func data(_ events: [MediaEvent], isVideo: Bool) -> [[UInt8]] {
        events.compactMap { event in
            guard case .accessUnit(let unit) = event, unit.track.isVideo == isVideo else { return nil }
            return unit.data
        }
    }

    @Test(arguments: [MediaWriter.Container.mp4, .fragmentedMP4, .mpegTS])
    func `what is read from bytes is what is read from a file`(container: MediaWriter.Container) throws {
        let path = try Recording.pattern().write(container, "film").path
        let file = try Recording.file(path)
        for step in [7, 1000, 1 << 20] {
            let events = try Self.events(Bytes(try Scratch.read(path), step: step))
            #expect(Self.data(events, isVideo: true) == file.videoUnits.map(\.data))
            #expect(Self.data(events, isVideo: false) == file.audioUnits.map(\.data))
        }
    }

    @Test func `what a source says is said, wherever it fails`() throws {
        let path = try Recording.pattern().write(.fragmentedMP4, "film").path
        let bytes = try Scratch.read(path)
        for place in stride(from: 0, to: bytes.count, by: bytes.count / 7) {
            let source = Bytes(bytes)
            source.hole = Int64(place)
            let error = #expect(throws: MediaSourceError.self) { _ = try Self.events(source) }
            #expect(error?.what == "the hole" && error?.hint == "Go round it.")
        }
    }

    @Test func `only films are read, and nothing that names files`() throws {
        let film = try Recording.pattern().write(.mp4, "film.mp4").path
        let texts = [
            "#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:1,\n\(film)\n#EXT-X-ENDLIST\n",
            "ffconcat version 1.0\nfile '\(film)'\n", "",
            "no film", "<?xml version=\"1.0\"?><MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>",
        ]
        for text in texts {
            let error = #expect(throws: MediaSourceError.self) { _ = try Self.events(Bytes(Array(text.utf8))) }
            #expect(error?.hint == "look for another one", "\(text): \(error?.description ?? "")")
        }
    }

    /// Bytes of memory that this process has.
    private static func resident() throws -> Int {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }

    @Test func `a film that claims to have millions of frames takes no memory for them`() throws {
        var bytes = try Scratch.read(try Recording.pattern(hasAudio: false).write(.mp4, "film.mp4").path)
        let count: UInt32 = 60_000_000
        /// Writes over what is behind version and flags of a box.
        func claim(_ box: String, _ numbers: [UInt32]) throws {
            let place = try #require(bytes.firstRange(of: Array(box.utf8))).upperBound + 4
            let written = numbers.flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
            }
            bytes.replaceSubrange(place..<(place + written.count), with: written)
        }
        try claim("stsz", [1, count])
        try claim("stts", [1, count, 512])
        try claim("stsc", [1, 1, count, 1])
        // What the tests beside this one take meanwhile is in it as well, but not each time.
        let grown = try (0..<3).map { _ in
            let before = try Self.resident()
            let reader = try? MovieReader(Bytes(bytes), named: "the film", damagedHint: "look for another one")
            return try withExtendedLifetime(reader) { try Self.resident() - before }
        }
        #expect(try #require(grown.min()) < 400 << 20, "\(grown.map { $0 >> 20 }) MiB")
        // And whoever writes has as much as before.
        #expect(try Recording.pattern(frames: 5).write(.mp4, "after.mp4").1.videoUnits == 5)
    }

    @Test(.enabled(if: Tool.areInstalled, Tool.reason))
    func `no other decoder looks into a film than those of its codecs`() throws {
        let path = Scratch.path("foreign.mp4")
        try Tool.make(["-f", "lavfi", "-i", "testsrc2=size=160x90:rate=25", "-t", "1", "-c:v", "mpeg4"], path)
        Libav.takeLog()
        let error = #expect(throws: MediaSourceError.self) { _ = try Self.events(Bytes(try Scratch.read(path))) }
        #expect(error?.why == "its video is mpeg4")
        #expect(Libav.takeLog().contains("not on whitelist"))
    }

    @Test(.enabled(if: Tool.areInstalled, Tool.reason))
    func `other containers are refused, which a file may have`() throws {
        let matroska = try Sample.path("reordered.mkv")
        #expect(try Recording.file(matroska).videoUnits.count == 50)
        #expect(throws: MediaSourceError.self) { _ = try Self.events(Bytes(try Scratch.read(matroska))) }
    }
}
