/// Bounds the nesting of JSON text before a decoder that recurses gets to see it.
public enum JSONShape {
    public enum Fault: Error, Equatable, Sendable {
        /// The bracket at `offset` opens level `limit` + 1.
        case tooDeep(offset: Int, limit: Int)
        /// More commas, colons and brackets than `limit`.
        case tooManyElements(offset: Int, limit: Int)
    }

    /// Whether the text is JSON at all is left to the decoder; brackets in strings do not count.
    public static func check(_ text: [UInt8], depth limit: Int = 32, elements: Int = 16_384) throws(Fault) {
        var depth = 0
        var count = 0
        var inString = false
        var escaped = false
        for (offset, byte) in text.enumerated() {
            if inString {
                if escaped {
                    escaped = false
                } else if byte == UInt8(ascii: "\\") {
                    escaped = true
                } else if byte == UInt8(ascii: "\"") {
                    inString = false
                }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): inString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                count += 1
                if depth > limit { throw .tooDeep(offset: offset, limit: limit) }
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: ","), UInt8(ascii: ":"): count += 1
            default: break
            }
            if count > elements { throw .tooManyElements(offset: offset, limit: elements) }
        }
    }
}
