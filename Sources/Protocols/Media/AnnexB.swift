internal import Wire

/// The byte stream format: NAL units behind start codes `00 00 01` (ITU-T H.264 and H.265, annex B).
public enum AnnexB {
    /// The units, without start codes and without the zero bytes that may follow a unit. What stands before the first
    /// start code, and empty units, are passed over. Nothing is copied.
    public static func units(in bytes: ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
        // Safe: the pointer stays within the closure.
        let ranges = unsafe bytes.withUnsafeBytes { unsafe unitRanges(in: $0) }
        return ranges.map { bytes[(bytes.startIndex + $0.lowerBound)..<(bytes.startIndex + $0.upperBound)] }
    }

    /// The units of memory that belongs to somebody else, behind 4-byte lengths: the one copy that takes them out of it.
    ///
    /// - Parameter keep: decides by the unit's first byte, which says its type.
    public static func lengthPrefixed(copying bytes: RawSpan, where keep: (_ header: UInt8) -> Bool) -> [UInt8] {
        unsafe bytes.withUnsafeBytes { buffer in
            let ranges = unsafe unitRanges(in: buffer).filter { unsafe keep(buffer[$0.lowerBound]) }
            var output: [UInt8] = []
            output.reserveCapacity(ranges.reduce(0) { $0 + 4 + $1.count })
            for range in ranges {
                output.appendUInt32(UInt32(truncatingIfNeeded: range.count))
                unsafe output.append(contentsOf: UnsafeRawBufferPointer(rebasing: buffer[range]))
            }
            return output
        }
    }

    /// Never empty ones; offsets from the start of `buffer`.
    private static func unitRanges(in buffer: UnsafeRawBufferPointer) -> [Range<Int>] {
        var ranges: [Range<Int>] = []
        guard var code = unsafe startCode(in: buffer, from: 0) else { return ranges }
        while true {
            let begin = code + 3
            let next = unsafe startCode(in: buffer, from: begin)
            var end = next ?? buffer.count
            while end > begin, unsafe buffer[end - 1] == 0 { end -= 1 }
            if end > begin { ranges.append(begin..<end) }
            guard let next else { return ranges }
            code = next
        }
    }

    /// The same units behind 4-byte lengths.
    ///
    /// - Parameter keep: decides by the unit; used to leave out delimiters, filler or parameter sets.
    public static func lengthPrefixed(
        _ bytes: ArraySlice<UInt8>, where keep: (ArraySlice<UInt8>) -> Bool = { _ in true }
    ) -> [UInt8] {
        lengthPrefixed(units(in: bytes).filter(keep))
    }

    /// Puts units, however they were found, behind 4-byte lengths.
    public static func lengthPrefixed(_ units: [ArraySlice<UInt8>]) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(units.reduce(0) { $0 + 4 + $1.count })
        for unit in units {
            output.appendUInt32(UInt32(truncatingIfNeeded: unit.count))
            output += unit
        }
        return output
    }

    /// Start codes of four bytes instead of 4-byte lengths: the same size, so one copy and a few stores.
    public static func bytes(fromLengthPrefixed bytes: ArraySlice<UInt8>) throws(MediaError) -> [UInt8] {
        var output = Array(bytes)
        var position = 0
        while position < output.count {
            guard output.count - position >= 4 else {
                throw .wire(.truncated(offset: position, needed: 4, available: output.count - position))
            }
            let length =
                Int(output[position]) << 24 | Int(output[position + 1]) << 16 | Int(output[position + 2]) << 8
                | Int(output[position + 3])
            guard output.count - position - 4 >= length else {
                throw .wire(
                    .truncated(offset: position + 4, needed: length, available: output.count - position - 4))
            }
            output[position] = 0
            output[position + 1] = 0
            output[position + 2] = 0
            output[position + 3] = 1
            position += 4 + length
        }
        return output
    }

    /// Offset of the first `00 00 01` at or behind `from`.
    ///
    /// Looks at eight bytes at a time: coded pictures hold few zeros, and words without one cannot begin a start code.
    private static func startCode(in buffer: UnsafeRawBufferPointer, from: Int) -> Int? {
        let last = buffer.count - 3
        var index = from
        while index + 8 <= last {
            let word = unsafe buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
            if zeros != 0 {
                for candidate in index..<(index + 8) {
                    if unsafe buffer[candidate] == 0 && buffer[candidate + 1] == 0 && buffer[candidate + 2] == 1 {
                        return candidate
                    }
                }
            }
            index += 8
        }
        while index <= last {
            if unsafe buffer[index] == 0 && buffer[index + 1] == 0 && buffer[index + 2] == 1 { return index }
            index += 1
        }
        return nil
    }
}
