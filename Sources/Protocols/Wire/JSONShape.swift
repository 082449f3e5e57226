/// Bounds the nesting of JSON text before a decoder that recurses gets to see it, and holds it to UTF-8: decoders guess other encodings, in
/// which these bounds would be counted wrongly, and one text would be two to two readers.
public enum JSONShape {
    public enum Fault: Error, Equatable, Sendable {
        /// The bracket at `offset` opens level `limit` + 1.
        case tooDeep(offset: Int, limit: Int)
        /// More commas, colons and brackets than `limit`.
        case tooManyElements(offset: Int, limit: Int)
        /// Not UTF-8 (RFC 8259 §8.1), or with a byte order mark.
        case notUTF8
    }

    /// Whether the text is JSON at all is left to the decoder; brackets in strings do not count.
    public static func check(_ text: [UInt8], depth limit: Int = 32, elements: Int = 16_384) throws(Fault) {
        // A NUL is in every text of UTF-16 and UTF-32, and in none of JSON.
        guard !text.starts(with: [0xEF, 0xBB, 0xBF]), !text.contains(0), String(validating: text, as: UTF8.self) != nil
        else { throw .notUTF8 }
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
