import Cryptography
import Media
import TestSupport
import Testing

@testable import Archive
@testable import BoxCommands

/// What is read beside a film that was interrupted, whoever wrote it.
struct FilmJournalTests {
    private static let subject = FilmJournal.Subject(RecordingRange(from: -1, to: .max), at: "/recordings/front")
    private static let records: [FilmRecord] = [
        .source(.init(identity: .init(name: "a.tdf", size: 1, modified: -2), stream: nil, lead: nil)),
        .source(
            .init(
                identity: .init(name: "00000001-20261128T090000000Z-3000.tdf", size: .max, modified: .min),
                stream: "fr\u{f6}nt", lead: MediaTime(nanoseconds: -40_000_000))),
        .video(
            VideoFormat(codec: .hevc, width: 1920, height: 1080, frameRate: 25.5, configurationRecord: [1, 2, 3]),
            isOfTwo: true),
        .video(
            VideoFormat(codec: .h264, width: 16, height: 9, frameRate: nil, configurationRecord: []), isOfTwo: false),
        .audio(
            AudioFormat(codec: .aac, sampleRate: 48_000, channels: 2, audioSpecificConfig: [0x11, 0x90]), isOfTwo: true),
        .unit(
            .init(
                track: .video(.hevc), isKeyFrame: true, decodeTime: MediaTime(nanoseconds: FilmTimeline.latest),
                presentationTime: MediaTime(nanoseconds: -10_000_000_000), size: 9000)),
        .unit(
            .init(
                track: .video(.h264), isKeyFrame: false, decodeTime: .zero, presentationTime: .zero, size: 0)),
        .unit(.init(track: .audio(.aac), isKeyFrame: true, decodeTime: .zero, presentationTime: .zero, size: 3)),
    ]

    private static func encoded(_ records: [FilmRecord]) -> [UInt8] {
        var bytes: [UInt8] = []
        for record in records { #expect(record.append(to: &bytes)) }
        return bytes
    }

    /// A head and blocks, one behind the other, each with more frames than the one before.
    private static func journal(_ count: Int) -> [UInt8] {
        var (bytes, chain) = FilmJournal.head(subject)
        var place: Int64 = 40
        for index in 0..<count {
            let unit = FilmRecord.unit(
                .init(track: .video(.h264), isKeyFrame: true, decodeTime: .zero, presentationTime: .zero, size: 100))
            let next = place + Int64(index + 1) * 100
            let block = FilmJournal.block(
                place..<next, Digest.sha256([UInt8(index)]),
                records: encoded(records + [FilmRecord](repeating: unit, count: index + 1)), after: chain)
            bytes += block.bytes
            chain = block.chain
            place = next
        }
        return bytes
    }

    /// As ``PartialFilm`` reads: up to the first block that is not whole.
    private static func read(_ bytes: [UInt8]) -> (blocks: [FilmJournal.Block], end: Int)? {
        guard let head = FilmJournal.readHead(bytes) else { return nil }
        var (chain, end, blocks) = (head.chain, FilmJournal.headSize, [FilmJournal.Block]())
        while let size = try? FilmJournal.size(ofBlock: Array(bytes[end...].prefix(FilmJournal.lengthSize))),
            let found = try? FilmJournal.readBlock(Array(bytes[end...].prefix(size)), after: chain)
        {
            blocks.append(found.block)
            chain = found.chain
            end += size
        }
        return (blocks, end)
    }

    @Test func `what was written is read`() throws {
        #expect(FilmJournal.readHead(Self.journal(0))?.subject == Self.subject)
        let (blocks, end) = try #require(Self.read(Self.journal(3)))
        #expect(end == Self.journal(3).count && blocks.count == 3)
        #expect(Array(blocks[1].records.prefix(Self.records.count)) == Self.records)
        #expect(blocks.map(\.media) == [40..<140, 140..<340, 340..<640])
        #expect(blocks[2].digest == Digest.sha256([2]))
        #expect(blocks[0].sources.map(\.stream) == [nil, "fr\u{f6}nt"])
    }

    @Test func `a record of a frame is small`() {
        #expect(Self.encoded([Self.records[5]]).count <= 32)
    }

    @Test func `cut anywhere, it ends with the last block that is whole`() throws {
        let bytes = Self.journal(8)
        let ends = (0...8).map { Self.journal($0).count }
        for count in 0..<bytes.count {
            let cut = Array(bytes.prefix(count))
            #expect(FilmJournal.isBegun(cut))
            guard count >= FilmJournal.headSize else {
                #expect(Self.read(cut) == nil)
                continue
            }
            let (blocks, end) = try #require(Self.read(cut))
            let expected = ends.lastIndex { $0 <= count }
            #expect(blocks.count == expected && end == ends[blocks.count])
        }
    }

    @Test func `a bit that is another ends it there`() throws {
        let bytes = Self.journal(4)
        let ends = (0...4).map { Self.journal($0).count }
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1 << UInt8(index % 8)
            guard index >= FilmJournal.headSize else {
                #expect(FilmJournal.readHead(changed) == nil)
                continue
            }
            #expect(try #require(Self.read(changed)).blocks.count == ends.lastIndex { $0 <= index })
        }
    }

    @Test func `a block belongs behind the one that it was written behind`() throws {
        let (one, two) = (Self.journal(1), Self.journal(2))
        let second = Array(two[one.count...])
        #expect(try #require(Self.read(FilmJournal.head(Self.subject).bytes + second)).blocks.isEmpty)
        #expect(try #require(Self.read(one + one[FilmJournal.headSize...])).blocks.count == 1)
        let other = FilmJournal.head(.init(Self.subject.range, at: "/elsewhere")).bytes
        #expect(try #require(Self.read(other + one[FilmJournal.headSize...])).blocks.isEmpty)
    }

    /// With checksums that are right: whoever can write a file can calculate them.
    @Test func `values that no export writes are refused with their place`() throws {
        let chain = FilmJournal.head(Self.subject).chain
        func fault(_ media: Range<Int64>, _ records: [UInt8]) -> FilmJournalFault? {
            let block = FilmJournal.block(media, Digest.sha256([]), records: records, after: chain)
            do throws(FilmJournalFault) {
                _ = try FilmJournal.readBlock(block.bytes, after: chain)
                return nil
            } catch { return error }
        }
        #expect(fault(0..<0, []) == nil)
        let records = 4 + 8 + 8 + 32
        #expect(fault(0..<0, [5]) == .value(offset: records, "no kind of record"))
        #expect(fault(-1..<0, []) == .value(offset: 4, "no place"))
        let unit = Self.encoded([Self.records[5]])
        for count in 1..<unit.count { #expect(fault(0..<9000, Array(unit.prefix(count))) != nil) }
        for (offset, value) in [(1, UInt8(8)), (2, 0x7F), (10, 0x7F), (10, 0x80), (18, 0xFF)] {
            var wrong = unit
            wrong[offset] = value
            #expect(fault(0..<9000, wrong) == .value(offset: records, "no frame"), "\(offset)")
        }
        var long = Self.encoded([Self.records[0]])
        (long[1], long[2]) = (0x10, 0x01)
        #expect(fault(0..<0, long) == .value(offset: records + 1, "a text of 4097 bytes"))
        var video = Self.encoded([Self.records[2]])
        video[26] = 0x7F
        #expect(fault(0..<0, video) == .value(offset: records + 26, "a configuration of 2130706435 bytes"))
        let large = FilmRecord.unit(
            .init(
                track: .audio(.aac), isKeyFrame: true, decodeTime: .zero, presentationTime: .zero, size: 60 << 20))
        #expect(fault(0..<0, Self.encoded([large])) == nil)
        #expect(
            fault(0..<0, Self.encoded([large, large])) != nil, "memory is not taken for what has no room in the film")
        #expect(fault(0..<(60 << 20), Self.encoded([large, large])) == nil)
        for size in [0, 79, 80 + FilmJournal.maxRecords + 1, Int(UInt32.max)] {
            var bytes: [UInt8] = []
            bytes.append(contentsOf: withUnsafeBytes(of: UInt32(size).bigEndian) { Array($0) })
            #expect(throws: FilmJournalFault.value(offset: 0, "a block of \(size) bytes")) {
                try FilmJournal.size(ofBlock: bytes)
            }
        }
    }

    @Test func `what is larger than what is read is not written`() {
        var bytes: [UInt8] = []
        let name = String(repeating: "n", count: 4097)
        #expect(
            !FilmRecord.source(.init(identity: .init(name: name, size: 0, modified: 0), stream: nil, lead: nil))
                .append(to: &bytes))
        #expect(
            !FilmRecord.unit(
                .init(
                    track: .audio(.aac), isKeyFrame: true, decodeTime: .zero, presentationTime: .zero,
                    size: 256 << 20 + 1)
            ).append(to: &bytes))
        #expect(bytes.isEmpty)
    }

    @Test func `bytes at random do not trap`() {
        var generator = SeededGenerator(seed: 7)
        let chain = FilmJournal.head(Self.subject).chain
        for _ in 0..<20_000 {
            let records = (0..<Int.random(in: 0..<120, using: &generator)).map { _ in
                UInt8.random(in: 0...5, using: &generator) &* UInt8.random(in: 0...1, using: &generator)
                    | UInt8.random(in: 0...7, using: &generator)
            }
            let block = FilmJournal.block(0..<1000, Digest.sha256([]), records: records, after: chain)
            if let read = try? FilmJournal.readBlock(block.bytes, after: chain).block {
                #expect(Self.encoded(read.records).count == records.count)
            }
        }
    }
}
