internal import Wire

/// Cuts a fragmented MP4 that comes piece by piece, cut anywhere, into its beginning and its fragments.
public struct MovieSplitter: Sendable {
    public enum Piece: Equatable, Sendable {
        /// Up to `moov`, the first piece.
        case start([UInt8])
        /// Up to an `mdat`.
        case fragment([UInt8])
    }

    /// Bytes that a piece may have: they are held in memory.
    public static let maxPieceSize = 64 << 20

    private var pending: [UInt8] = []
    /// Bytes of whole boxes at the beginning of `pending`.
    private var whole = 0
    private var hasStart = false
    /// Among the whole boxes there is a `moof`.
    private var hasHead = false
    /// Bytes before `pending`, for errors.
    private var passed = 0

    public init() {}

    public mutating func append(_ bytes: ArraySlice<UInt8>) { pending += bytes }

    /// The next piece; nil: more bytes are needed.
    public mutating func next() throws(CommonEncryptionError) -> Piece? {
        while let (kind, size) = try nextBox() {
            guard whole + size <= Self.maxPieceSize else {
                throw .movie(.size(UInt64(size)), box: "\(kind)", offset: passed + whole)
            }
            guard pending.count - whole >= size else { return nil }
            whole += size
            if kind == "moof" { hasHead = true }
            if kind == "moov" {
                guard !hasStart else { throw .movie(.twice, box: "moov", offset: passed + whole - size) }
                hasStart = true
                return .start(take())
            }
            guard kind == "mdat" else { continue }
            // A file that is no fragmented one may have its media first.
            guard hasStart else { throw .movie(.misplaced, box: "mdat", offset: passed + whole - size) }
            return .fragment(take())
        }
        return nil
    }

    /// The end of the film: what is left may be an index, and neither a part of a box nor a `moof` alone.
    public func finish() throws(CommonEncryptionError) {
        guard hasStart else { throw .movie(.missing, box: "moov", offset: passed) }
        guard whole == pending.count else {
            throw .wire(
                .truncated(offset: passed + whole, needed: 8, available: pending.count - whole))
        }
        // Cut between both, the film ends earlier than it says.
        guard !hasHead else { throw .movie(.missing, box: "mdat", offset: passed + whole) }
    }

    private mutating func take() -> [UInt8] {
        let piece = Array(pending.prefix(whole))
        pending.removeFirst(whole)
        passed += whole
        whole = 0
        hasHead = false
        return piece
    }

    /// Kind and size of the box behind those that are whole; nil when its header is not all there.
    private func nextBox() throws(CommonEncryptionError) -> (kind: FourCC, size: Int)? {
        var reader = FieldReader<CommonEncryptionError>(pending.dropFirst(whole))
        guard reader.remaining >= 8 else { return nil }
        var size = UInt64(try reader.readUInt32())
        let kind = FourCC(value: try reader.readUInt32())
        if size == 1 {
            guard reader.remaining >= 8 else { return nil }
            size = try reader.readUInt64()
        }
        guard size >= UInt64(reader.offset), size <= UInt64(Self.maxPieceSize) else {
            throw .movie(.size(size), box: "\(kind)", offset: passed + whole)
        }
        return (kind, Int(size))
    }
}
