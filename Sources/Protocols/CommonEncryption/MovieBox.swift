internal import Wire

/// A box of an MP4 (ISO/IEC 14496-12 §4.2), by where it is.
struct MovieBox: Equatable, Sendable {
    let kind: FourCC
    /// From its header on.
    let range: Range<Int>
    /// Behind its header.
    let content: Range<Int>

    /// Boxes that are read of one that holds them.
    static let limit = 1024

    /// The boxes of a part of `bytes`, one behind the other up to its end.
    static func list(_ bytes: [UInt8], in range: Range<Int>) throws(CommonEncryptionError) -> [MovieBox] {
        var boxes: [MovieBox] = []
        var begin = range.lowerBound
        while begin < range.upperBound {
            var reader = FieldReader<CommonEncryptionError>(bytes[begin..<range.upperBound])
            guard reader.remaining >= 8 else {
                throw .wire(.truncated(offset: begin, needed: 8, available: reader.remaining))
            }
            var size = UInt64(try reader.readUInt32())
            let kind = FourCC(value: try reader.readUInt32())
            if size == 1 {
                guard reader.remaining >= 8 else {
                    throw .wire(.truncated(offset: begin + 8, needed: 8, available: reader.remaining))
                }
                size = try reader.readUInt64()
            }
            // 0, up to the end of the file, is for boxes of a file that is not written piece by piece.
            guard size >= UInt64(reader.offset), size <= UInt64(range.upperBound - begin) else {
                throw .movie(.size(size), box: "\(kind)", offset: begin)
            }
            guard boxes.count < limit else {
                throw .movie(.count(boxes.count + 1, limit: limit), box: "\(kind)", offset: begin)
            }
            let end = begin + Int(size)
            boxes.append(MovieBox(kind: kind, range: begin..<end, content: (begin + reader.offset)..<end))
            begin = end
        }
        return boxes
    }

    func children(_ bytes: [UInt8]) throws(CommonEncryptionError) -> [MovieBox] {
        try Self.list(bytes, in: content)
    }

    /// Its fields, to be read in order; offsets of errors count from the beginning of `bytes`.
    func fields<R>(
        _ bytes: [UInt8], _ body: (inout FieldReader<CommonEncryptionError>) throws(CommonEncryptionError) -> R
    ) throws(CommonEncryptionError) -> R {
        var reader = FieldReader<CommonEncryptionError>(bytes[content])
        do throws(CommonEncryptionError) {
            return try body(&reader)
        } catch {
            guard case .wire(.truncated(let offset, let needed, let available)) = error else { throw error }
            throw .wire(.truncated(offset: content.lowerBound + offset, needed: needed, available: available))
        }
    }

    func fault(_ fault: CommonEncryptionError.Fault) -> CommonEncryptionError {
        .movie(fault, box: "\(kind)", offset: range.lowerBound)
    }

    /// A box around its content.
    static func box(_ kind: FourCC, _ content: [UInt8]) throws(CommonEncryptionError) -> [UInt8] {
        guard let size = UInt32(exactly: content.count + 8) else {
            throw .movie(.size(UInt64(content.count)), box: "\(kind)", offset: 0)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(content.count + 8)
        bytes.appendUInt32(size)
        bytes.appendUInt32(kind.value)
        return bytes + content
    }

    /// A box with version and flags before its content.
    static func fullBox(
        _ kind: FourCC, version: UInt8 = 0, flags: UInt32 = 0, _ content: [UInt8]
    ) throws(CommonEncryptionError) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendUInt32(UInt32(version) << 24 | flags)
        return try box(kind, bytes + content)
    }
}

extension [MovieBox] {
    /// The only one of its kind; nil when there is none.
    func only(_ kind: FourCC) throws(CommonEncryptionError) -> MovieBox? {
        let found = filter { $0.kind == kind }
        guard found.count <= 1 else { throw found[1].fault(.twice) }
        return found.first
    }

    /// The only one of its kind.
    ///
    /// - Parameter offset: of what it should be in.
    func required(_ kind: FourCC, in offset: Int) throws(CommonEncryptionError) -> MovieBox {
        guard let box = try only(kind) else { throw .movie(.missing, box: "\(kind)", offset: offset) }
        return box
    }
}
