internal import Wire

/// What is kept beside an archive that grows, so that it can be ended without its key: after a power cut nobody has that any
/// more (docs/ref/archive-format.md).
///
/// The file begins with a head, whose JSON has the ``TDFEnvelope``, and goes on with an entry of fixed length for each segment.
/// Each of them has a checksum of its own: a power cut leaves any part of what was not flushed, and reading ends at the first
/// that does not verify.
public enum ArchiveJournal {
    /// One segment, as the payload has it.
    public struct Entry: Equatable, Sendable {
        public var segment: TDFSealedSegment
        /// CRC-32 of the payload up to the end of this segment.
        public var payloadCRC32: UInt32
        /// Milliseconds of media in all segments up to the end of this one.
        public var duration: UInt32

        public init(segment: TDFSealedSegment, payloadCRC32: UInt32, duration: UInt32) {
            self.segment = segment
            self.payloadCRC32 = payloadCRC32
            self.duration = duration
        }
    }

    /// Bytes of a head's JSON.
    public static let maxHeadSize = 256 << 10
    /// Bytes of a journal with as many entries as an archive can have; what lies behind them is not read.
    public static let maxSize = 16 + maxHeadSize + entrySize * TDFManifest.maxWrittenSegments
    /// Bytes of an entry: two sizes, GMAC, signature, CRC-32 of the payload, duration, checksum.
    static let entrySize = 4 + 4 + TDFSegmentEntry.gmacByteCount + signatureSize + 4 + 4 + 4
    private static let signatureSize = 32
    /// "WBAJ", and the version of this format.
    private static let magic: UInt32 = 0x5742_414A
    private static let version: UInt32 = 1

    /// What stands at the beginning.
    ///
    /// - Parameter checksum: CRC-32 of bytes.
    /// - Throws: when it is longer than what is read.
    public static func head(_ json: [UInt8], checksum: ([UInt8]) -> UInt32) throws(TDFError) -> [UInt8] {
        guard json.count <= maxHeadSize else {
            throw .container(.manifestTooLarge(Int64(json.count), limit: maxHeadSize), offset: 0)
        }
        var bytes: [UInt8] = []
        bytes.appendUInt32(magic)
        bytes.appendUInt32(version)
        bytes.appendUInt32(UInt32(json.count))
        bytes += json
        bytes.appendUInt32(checksum(bytes))
        return bytes
    }

    /// What is appended for a segment.
    ///
    /// - Parameter checksum: CRC-32 of bytes.
    public static func encode(_ entry: Entry, checksum: ([UInt8]) -> UInt32) -> [UInt8] {
        let segment = entry.segment
        precondition(
            segment.rootSignature.count == signatureSize && segment.entry.gmac.count == TDFSegmentEntry.gmacByteCount,
            "the caller's fault")
        var bytes: [UInt8] = []
        bytes.reserveCapacity(entrySize)
        bytes.appendUInt32(UInt32(segment.entry.clearSize))
        bytes.appendUInt32(UInt32(segment.entry.encryptedSize))
        bytes += segment.entry.gmac
        bytes += segment.rootSignature
        bytes.appendUInt32(entry.payloadCRC32)
        bytes.appendUInt32(entry.duration)
        bytes.appendUInt32(checksum(bytes))
        return bytes
    }

    /// The head's JSON, and all entries up to the first that is not whole.
    ///
    /// - Parameter checksum: CRC-32 of bytes.
    /// - Returns: nil when the head itself is not whole: it is flushed before anything is sealed, so nothing was.
    public static func read(
        _ bytes: [UInt8], checksum: ([UInt8]) -> UInt32
    ) -> (head: [UInt8], entries: [Entry])? {
        var reader = ByteReader(bytes)
        guard (try? reader.readUInt32()) == magic, (try? reader.readUInt32()) == version,
            let length = try? reader.readUInt32(), length <= maxHeadSize,
            let json = try? reader.readBytes(Int(length))
        else { return nil }
        let end = reader.offset
        guard let found = try? reader.readUInt32(), found == checksum(Array(bytes[..<end])) else { return nil }
        var entries: [Entry] = []
        while entries.count < TDFManifest.maxWrittenSegments, let entry = entry(&reader, checksum) {
            entries.append(entry)
        }
        return (Array(json), entries)
    }

    private static func entry(_ reader: inout ByteReader, _ checksum: ([UInt8]) -> UInt32) -> Entry? {
        guard let bytes = try? reader.readBytes(entrySize) else { return nil }
        var fields = ByteReader(bytes)
        guard let clear = try? fields.readUInt32(), let encrypted = try? fields.readUInt32(),
            let gmac = try? fields.readBytes(TDFSegmentEntry.gmacByteCount),
            let signature = try? fields.readBytes(signatureSize),
            let crc32 = try? fields.readUInt32(), let duration = try? fields.readUInt32(),
            let found = try? fields.readUInt32(), found == checksum(Array(bytes.dropLast(4))),
            clear <= TDFSegmentEntry.maxClearSize, Int(encrypted) == Int(clear) + TDFSegmentEntry.overhead
        else { return nil }
        return Entry(
            segment: TDFSealedSegment(
                entry: TDFSegmentEntry(clearSize: Int(clear), encryptedSize: Int(encrypted), gmac: Array(gmac)),
                rootSignature: Array(signature)),
            payloadCRC32: crc32, duration: duration)
    }
}
