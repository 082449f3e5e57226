import Foundation
import Media
import MediaFile
import TestSupport
import Testing

@Suite(.ownThread) struct MemoryWriterTests {
    @Test func `what is written to memory comes as a fragment for each group of pictures, and is a film`() throws {
        let recording = try Recording.pattern(frames: 100)
        let writer = MediaWriter(.fragmentedMP4, to: .memory)
        var fragments: [[UInt8]] = []
        for event in recording.events {
            try writer.write(event)
            let bytes = writer.take()
            if !bytes.isEmpty { fragments.append(bytes) }
        }
        #expect(fragments.count == 3, "the fourth group of pictures may go on")
        try writer.finish()
        fragments.append(writer.take())
        #expect(writer.take() == [])
        for (number, fragment) in fragments.enumerated() {
            let kinds = Self.boxes(fragment)
            let expected = number == 0 ? ["ftyp", "moov", "moof", "mdat"] : ["moof", "mdat"]
            #expect(Array(kinds.prefix(expected.count)) == expected)
            #expect(kinds.filter { $0 == "moof" }.count == 1)
        }
        let path = Scratch.path("memory.mp4")
        try Data(fragments.joined()).write(to: URL(fileURLWithPath: path))
        #expect(try Recording.file(path).videoUnits.map(\.data) == recording.videoUnits.map(\.data))
        #expect(writer.summary.bytes == fragments.joined().count)
    }

    @Test func `a fragment ends where it is told to`() throws {
        let recording = try Recording.pattern(frames: 25, hasAudio: false)
        let writer = MediaWriter(.fragmentedMP4, to: .memory)
        try writer.endFragment()
        for event in recording.events { try writer.write(event) }
        #expect(writer.take() == [])
        try writer.endFragment()
        #expect(Self.boxes(writer.take()) == ["ftyp", "moov", "moof", "mdat"])
        try writer.finish()
    }

    @Test func `a film that is completed at its beginning is not for memory`() throws {
        let writer = MediaWriter(.mp4, to: .memory)
        #expect(throws: MediaWriterError.needsSeeking) {
            for event in try Recording.pattern().events { try writer.write(event) }
        }
    }

    /// Kinds of the boxes, one after the other.
    private static func boxes(_ bytes: [UInt8]) -> [String] {
        var kinds: [String] = []
        var rest = bytes[...]
        while rest.count >= 8 {
            let size = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            kinds.append(String(decoding: rest.dropFirst(4).prefix(4), as: UTF8.self))
            guard size >= 8 else { break }
            rest = rest.dropFirst(size)
        }
        return kinds
    }
}
