internal import Wire

/// Text of any kind as the value of an HTTP header.
enum HeaderText {
    /// Bytes of UTF-8 in one encoded word, so that it has at most 75 characters (RFC 2047 §2): 45 become 60.
    private static let wordBytes = 45

    /// In one line of ASCII: what is not printable becomes a space, and what holds more than ASCII is encoded
    /// (RFC 2047, Base64), which ntfy reads.
    ///
    /// - Parameter limit: of characters; what is longer is cut.
    static func value(_ text: String, limit: Int = 250) -> String {
        var scalars: [Unicode.Scalar] = []
        for scalar in text.unicodeScalars {
            let isBlank = !ShownText.isPrintable(scalar) || scalar.properties.isWhitespace
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

    private static func encoded(_ bytes: [UInt8]) -> String { "=?UTF-8?B?\(Base64.encode(bytes))?=" }
}
