import Archive
import Cryptography
import Wire

/// What is kept beside a film that is being written, so that another process can go on with it (docs/design/0021-recording.md).
///
/// A head says what the film is to be of. Then comes a block for each source, or for several, with what went into the film of them, the place of
/// that in the film, and its SHA-256. Each has a checksum that goes over those before it: an interruption leaves any part of the last one, and
/// reading ends at the first that is not whole.
enum FilmJournal {
    typealias Reader = FieldReader<FilmJournalFault>

    /// Between two blocks: what the next one's checksum goes on from.
    typealias Chain = [UInt8]

    struct Block: Equatable {
        /// Bytes of the film that it brought; the first one that brought any says where the media begin.
        var media: Range<Int64>
        /// Of them, SHA-256.
        var digest: [UInt8]
        var records: [FilmRecord]

        /// Sources that have been taken with it.
        var sources: [FilmRecord.Source] {
            records.compactMap { if case .source(let source) = $0 { source } else { nil } }
        }
    }

    /// Bytes.
    static let headSize = 4 + 4 + 8 + 8 + hashSize + hashSize
    /// Of the records of a block: three hours of a camera, with sound.
    static let maxRecords = 16 << 20
    static let lengthSize = 4
    private static let hashSize = 32
    /// "WBFP", and the version of this format.
    private static let magic: UInt32 = 0x5742_4650
    private static let version: UInt32 = 1

    // MARK: - Head

    /// What a film is of.
    struct Subject: Equatable {
        /// As the sources count.
        var range: RecordingRange
        /// SHA-256 of where they are: names and numbers of one camera's recordings are those of another's as well.
        var place: [UInt8]

        /// - Parameter path: of the camera's directory, or of the archive.
        init(_ range: RecordingRange, at path: String) {
            self.init(range: range, place: Digest.sha256(Array(path.utf8)))
        }

        fileprivate init(range: RecordingRange, place: [UInt8]) {
            self.range = range
            self.place = place
        }
    }

    static func head(_ subject: Subject) -> (bytes: [UInt8], chain: Chain) {
        let range = subject.range
        var bytes: [UInt8] = []
        bytes.appendUInt32(magic)
        bytes.appendUInt32(version)
        bytes.appendUInt64(UInt64(bitPattern: range.from))
        bytes.appendUInt64(UInt64(bitPattern: range.to))
        bytes += subject.place
        let chain = Digest.sha256(bytes)
        return (bytes + chain, chain)
    }

    /// Whether a file that begins with that is one of ours, though a power cut may have left a part of its head, or nothing.
    static func isBegun(_ bytes: [UInt8]) -> Bool {
        var start: [UInt8] = []
        start.appendUInt32(magic)
        return bytes.starts(with: start.prefix(bytes.count))
    }

    /// - Parameter bytes: that a file begins with.
    /// - Returns: nil: they are no head that is whole.
    static func readHead(_ bytes: [UInt8]) -> (subject: Subject, chain: Chain)? {
        var reader = Reader(bytes)
        guard (try? reader.readUInt32()) == magic, (try? reader.readUInt32()) == version,
            let from = try? reader.readUInt64(), let to = try? reader.readUInt64(),
            let place = try? reader.readBytes(hashSize)
        else { return nil }
        let subject = Subject(
            range: RecordingRange(from: Int64(bitPattern: from), to: Int64(bitPattern: to)), place: Array(place))
        let head = head(subject)
        return bytes.starts(with: head.bytes) ? (subject, head.chain) : nil
    }

    // MARK: - Blocks

    /// What is appended.
    ///
    /// - Parameter records: encoded, at most ``maxRecords`` bytes.
    static func block(
        _ media: Range<Int64>, _ digest: [UInt8], records: [UInt8], after chain: Chain
    ) -> (bytes: [UInt8], chain: Chain) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lengthSize + fixedSize + records.count)
        bytes.appendUInt32(UInt32(fixedSize + records.count))
        bytes.appendUInt64(UInt64(bitPattern: media.lowerBound))
        bytes.appendUInt64(UInt64(bitPattern: media.upperBound))
        bytes += digest
        bytes += records
        let chain = checksum(bytes[...], after: chain)
        return (bytes + chain, chain)
    }

    /// Of a block without its records, behind the length.
    private static let fixedSize = 8 + 8 + hashSize + hashSize

    private static func checksum(_ bytes: ArraySlice<UInt8>, after chain: Chain) -> Chain {
        Digest.sha256(chain + bytes)
    }

    /// How long a block is as a whole that begins with these bytes.
    ///
    /// - Throws: when none is as long as that, or they are fewer than ``lengthSize``.
    static func size(ofBlock bytes: [UInt8]) throws(FilmJournalFault) -> Int {
        var reader = Reader(bytes)
        let length = Int(try reader.readUInt32())
        guard (fixedSize...(fixedSize + maxRecords)).contains(length) else {
            throw .value(offset: 0, "a block of \(length) bytes")
        }
        return lengthSize + length
    }

    /// - Parameters:
    ///   - bytes: all of it, as ``size(ofBlock:)`` says.
    ///   - chain: that the block before it left, or the head.
    /// - Throws: offsets count from its beginning.
    static func readBlock(
        _ bytes: [UInt8], after chain: Chain
    ) throws(FilmJournalFault) -> (block: Block, chain: Chain) {
        let size = try size(ofBlock: bytes)
        guard bytes.count == size else { throw .value(offset: bytes.count, "not all of \(size) bytes") }
        let end = size - hashSize
        let found = checksum(bytes[..<end], after: chain)
        guard Array(bytes[end...]) == found else { throw .value(offset: end, "another checksum") }
        var reader = Reader(bytes[..<end])
        try reader.skip(lengthSize)
        let from = Int64(bitPattern: try reader.readUInt64())
        let to = Int64(bitPattern: try reader.readUInt64())
        guard 0 <= from, from <= to else { throw .value(offset: lengthSize, "no place") }
        let digest = Array(try reader.readBytes(hashSize))
        var records: [FilmRecord] = []
        var media: Int64 = 0
        while !reader.isAtEnd {
            let record = try FilmRecord(&reader)
            if case .unit(let unit) = record { media += Int64(unit.size) }
            guard media <= limit(to - from) else {
                throw .value(offset: reader.offset, "frames that have no room where they are")
            }
            records.append(record)
        }
        return (Block(media: from..<to, digest: digest, records: records), found)
    }

    /// Bytes that the frames of a block can have together which brought so many: those of a track that the film does not have are not in it.
    static func limit(_ media: Int64) -> Int64 { media < .max / 4 ? 2 * media + (64 << 20) : .max }
}

/// Why a journal, or what is behind a place in it, cannot be used.
enum FilmJournalFault: Error, Equatable, WireFailure {
    case wire(WireError)
    case value(offset: Int, String)
}
