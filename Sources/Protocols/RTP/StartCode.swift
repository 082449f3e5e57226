/// `00 00 01`, which cannot stand inside of a NAL unit (ITU-T H.264 §7.4.1, H.265 §7.4.2).
enum StartCode {
    /// Where the first one stands at or behind `from`. Looks at eight bytes at a time: coded pictures hold few zeros.
    static func first(in bytes: [UInt8], from: Int) -> Int? {
        // Safe: the pointer stays within the closure, and every index is below the count.
        unsafe bytes.withUnsafeBytes { unsafe first(in: $0, from: from) }
    }

    private static func first(in buffer: UnsafeRawBufferPointer, from: Int) -> Int? {
        let last = buffer.count - 3
        var index = from
        while index + 8 <= last {
            let word = unsafe buffer.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let zeros = (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080
            if zeros != 0, let found = unsafe first(in: buffer, range: index..<(index + 8)) { return found }
            index += 8
        }
        return index <= last ? unsafe first(in: buffer, range: index..<(last + 1)) : nil
    }

    private static func first(in buffer: UnsafeRawBufferPointer, range: Range<Int>) -> Int? {
        for index in range {
            if unsafe buffer[index] == 0 && buffer[index + 1] == 0 && buffer[index + 2] == 1 { return index }
        }
        return nil
    }
}
