internal import Wire

/// Tags out of an FLV file that arrives in pieces (FLV 10.1 §E.2, §E.3).
///
/// Holds at most one tag and what was appended behind it. An error is final: the position of the next tag is lost.
public struct FLVFileReader: Sendable {
    /// "FLV", what a file begins with; its version follows.
    public static let signature: [UInt8] = [0x46, 0x4C, 0x56]

    private let maximumTagSize: Int
    private var buffer: [UInt8] = []
    /// Where the bytes not yet read begin in `buffer`.
    private var start = 0
    /// Offset in the file of `buffer[start]`.
    private var offset = 0
    private var headerIsRead = false

    /// - Parameter maximumTagSize: bytes of a tag's body; at most 2^24−1 by the format.
    public init(maximumTagSize: Int = 16 << 20) {
        self.maximumTagSize = maximumTagSize
    }

    public mutating func append(_ bytes: ArraySlice<UInt8>) {
        // Moves the rest to the front when most of the buffer is behind us: each byte moves at most once on average.
        if start > buffer.count / 2 {
            buffer.removeFirst(start)
            start = 0
        }
        buffer += bytes
    }

    public mutating func append(_ bytes: [UInt8]) {
        append(bytes[...])
    }

    /// The next whole tag, or nil until more bytes are appended.
    public mutating func nextTag() throws(FLVError) -> FLVTag? {
        if !headerIsRead {
            guard try readFileHeader() else { return nil }
        }
        // The size of the tag before (0 for the first) stands first; writers disagree on it, so it is passed over.
        guard available >= 4 + 11 else { return nil }
        var reader = FieldReader<FLVError>(buffer[start...])
        try reader.skip(4)
        let type = try reader.readUInt8()
        guard type == FLVTag.audio || type == FLVTag.video || type == FLVTag.script else {
            throw .unknownTagType(type, offset: offset + 4)
        }
        let size = Int(try reader.readUInt24())
        guard size <= maximumTagSize else { throw .tagTooLong(bytes: size, limit: maximumTagSize) }
        guard available >= 15 + size else { return nil }
        let low = try reader.readUInt24()
        let high = UInt32(try reader.readUInt8())
        try reader.skip(3)
        let tag = FLVTag(type: type, timestamp: high << 24 | low, body: Array(try reader.readBytes(size)))
        consume(15 + size)
        return tag
    }

    /// To be called at the end of the file: throws `.wire(.truncated)` when a tag was left unfinished.
    public func finish() throws(FLVError) {
        guard headerIsRead else { throw .wire(.truncated(offset: offset, needed: 9, available: available)) }
        // What stands after the last tag is its size, or nothing when a recorder was killed.
        guard available <= 4 else {
            throw .wire(.truncated(offset: offset, needed: needed(), available: available))
        }
    }

    private var available: Int { buffer.count - start }

    /// Bytes of the unfinished tag, as far as they are known.
    private func needed() -> Int {
        var reader = FieldReader<FLVError>(buffer[start...])
        guard available >= 15, (try? reader.skip(5)) != nil, let size = try? reader.readUInt24() else { return 15 }
        return 15 + Int(size)
    }

    private mutating func consume(_ count: Int) {
        start += count
        offset += count
    }

    private mutating func readFileHeader() throws(FLVError) -> Bool {
        let beginning = Self.signature + [1]
        for (index, byte) in beginning.enumerated() where index < available {
            guard buffer[start + index] == byte else { throw .notFLV(offset: index) }
        }
        guard available >= 9 else { return false }
        var reader = FieldReader<FLVError>(buffer[start...])
        try reader.skip(5)
        let length = Int(try reader.readUInt32())
        guard length >= 9, length <= 4096 else { throw .notFLV(offset: 5) }
        guard available >= length else { return false }
        consume(length)
        headerIsRead = true
        return true
    }
}
