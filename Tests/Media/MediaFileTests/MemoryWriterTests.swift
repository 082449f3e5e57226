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

    /// - Parameter isAudioLate: what is earlier comes second, as from cameras whose audio takes longer.
    @Test(arguments: [false, true])
    func `units that need not wait make the same film as those that do`(isAudioLate: Bool) throws {
        var events = try Recording.pattern(frames: 100).events
        if isAudioLate {
            func first(_ isVideo: Bool) throws -> Int {
                try #require(
                    events.firstIndex {
                        if case .accessUnit(let unit) = $0 { unit.track.isVideo == isVideo } else { false }
                    })
            }
            let (audio, video) = (try first(false), try first(true))
            #expect(audio < video)
            events.insert(events.remove(at: video), at: audio)
        }
        let films = try [false, true].map { isOrdered in
            let writer = MediaWriter(.fragmentedMP4, to: .memory, tracks: [.video, .audio], isOrdered: isOrdered)
            var film: [[UInt8]] = []
            func take() { writer.drain { if !$0.isEmpty { film.append(Array($0)) } } }
            for event in events {
                if case .accessUnit(let unit) = event, unit.track.isVideo, unit.isKeyFrame { try writer.endFragment() }
                take()
                try writer.write(event)
            }
            try writer.finish()
            take()
            #expect(film.count >= 4, "there are four groups of pictures")
            return film
        }
        // Not the films themselves, which would be a megabyte of message.
        #expect(films[0].count == films[1].count)
        #expect(zip(films[0], films[1]).map { $0 == $1 } == films[0].map { _ in true })
    }

    @Test func `parameter sets that change stand in front of key frames that need not wait`() throws {
        let recording = try Recording.pattern(frames: 75, hasAudio: false)
        let other = try #require(
            try Recording.pattern(frames: 1, width: 160, height: 90, hasAudio: false).events.first {
                if case .videoFormat = $0 { true } else { false }
            })
        let writer = MediaWriter(.fragmentedMP4, to: .memory, isOrdered: true)
        var fragments: [[UInt8]] = []
        for (place, event) in recording.events.enumerated() {
            if case .accessUnit(let unit) = event, unit.isKeyFrame {
                try writer.endFragment()
                writer.drain { fragments.append(Array($0)) }
            }
            try writer.write(event)
            if place == recording.events.count / 2 { try writer.write(other) }
        }
        try writer.finish()
        writer.drain { fragments.append(Array($0)) }
        guard case .videoFormat(let format) = other else { return }
        let record = try AVCConfigurationRecord.parse(format.configurationRecord[...])
        let set = try #require(record.sequenceParameterSets.first)
        #expect(fragments.map { Data($0).range(of: Data(set)) != nil } == [false, false, false, true])
        let path = Scratch.path("changed.mp4")
        try Data(fragments.joined()).write(to: URL(fileURLWithPath: path))
        let read = try Recording.file(path).videoUnits.map(\.data)
        #expect(read.count == 75)
        #expect(zip(read, recording.videoUnits.map(\.data)).allSatisfy { $0.suffix($1.count) == $1[...] })
    }

    @Test func `what was taken from memory is gone, also when its taker failed`() throws {
        struct Refused: Error {}
        let recording = try Recording.pattern(frames: 50, hasAudio: false)
        let writer = MediaWriter(.fragmentedMP4, to: .memory, isOrdered: true)
        for event in recording.events { try writer.write(event) }
        try writer.endFragment()
        #expect(throws: Refused.self) {
            try writer.drain { (bytes) throws(Refused) in
                #expect(!bytes.isEmpty)
                throw Refused()
            }
        }
        var left: [[UInt8]] = []
        writer.drain { left.append(Array($0)) }
        #expect(left == [[]])
        try writer.finish()
        #expect(throws: Refused.self) { try writer.drain { (_) throws(Refused) in throw Refused() } }
        writer.drain { left.append(Array($0)) }
        #expect(left == [[], []])
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
