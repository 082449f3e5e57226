/// Text of any kind as the value of an HTTP header.
public enum HeaderText {
    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    /// Bytes of UTF-8 in one encoded word, so that it has at most 75 characters (RFC 2047 §2): 45 become 60.
    private static let wordBytes = 45

    /// In one line of ASCII: what is a control character becomes a space, and what holds more than ASCII is encoded
    /// (RFC 2047, Base64), which ntfy reads.
    ///
    /// - Parameter limit: of characters; what is longer is cut.
    public static func value(_ text: String, limit: Int = 250) -> String {
        var scalars: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            let isBlank = scalar.value < 32 || (127..<160).contains(scalar.value) || scalar.properties.isWhitespace
            if isBlank, scalars.last.map({ $0 == " " }) ?? true { continue }
            scalars.append(isBlank ? " " : scalar)
            if scalars.count == limit { break }
        }
        if scalars.last == " " { scalars.removeLast() }
        // What looks like an encoded word would be read as one.
        let line = String(String.UnicodeScalarView(scalars))
        guard !scalars.allSatisfy(\.isASCII) || line.contains("=?") else { return line }
        var words: [String] = []
        var word: [UInt8] = []
        for scalar in scalars {
            let bytes = Array(String(scalar).utf8)
            if word.count + bytes.count > wordBytes {
                words.append(encoded(word))
                word = []
            }
            word += bytes
        }
        words.append(encoded(word))
        return words.joined(separator: " ")
    }

    private static func encoded(_ bytes: [UInt8]) -> String { "=?UTF-8?B?\(base64(bytes))?=" }

    private static func base64(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            var bits: UInt32 = 0
            for byte in group { bits = bits << 8 | UInt32(byte) }
            bits <<= UInt32(8 * (3 - group.count))
            for place in 0..<4 {
                text.append(place <= group.count ? digits[Int(bits >> UInt32(18 - 6 * place) & 63)] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
