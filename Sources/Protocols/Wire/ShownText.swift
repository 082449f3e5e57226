/// Text from outside, as it may stand in a log, in a table on a terminal, or in a configuration.
public enum ShownText {
    /// Nothing that a terminal obeys, breaks a line, or turns its direction (UAX #9 §2): no control character, no
    /// separator of lines or paragraphs, and of the format characters the two joiners alone, which scripts and emoji
    /// need.
    public static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return (0x20..<0x7F).contains(scalar.value) }
        return switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        default: true
        }
    }

    /// - Returns: whether every scalar is printable.
    public static func isPrintable(_ text: some StringProtocol) -> Bool {
        text.unicodeScalars.allSatisfy { isPrintable($0) }
    }

    /// The first `limit` scalars.
    ///
    /// - Parameter substitute: for each that is not printable; nil leaves them out, and they do not count.
    public static func cleaned(
        _ text: some StringProtocol, limit: Int = .max, replacing substitute: Unicode.Scalar? = " "
    ) -> String {
        let scalars = text.unicodeScalars.lazy.compactMap { isPrintable($0) ? $0 : substitute }
        return String(String.UnicodeScalarView(scalars.prefix(limit)))
    }

    /// The same, with letters, digits and signs of ASCII as the only printable ones: not even a space.
    public static func ascii(
        _ text: some StringProtocol, limit: Int, replacing substitute: Unicode.Scalar? = "?"
    ) -> String {
        let scalars = text.unicodeScalars.lazy.compactMap { (0x21...0x7E).contains($0.value) ? $0 : substitute }
        return String(String.UnicodeScalarView(scalars.prefix(limit)))
    }

    /// One line of at most `limit` bytes of UTF-8: what is not printable becomes a space, and no scalar is cut in half.
    ///
    /// - Parameter mark: stands behind a line that was cut, and does not count.
    public static func line(_ text: some StringProtocol, bytes limit: Int, mark: String = "") -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            let written: Unicode.Scalar = isPrintable(scalar) ? scalar : " "
            count += UTF8.width(written)
            if count > limit { return result + mark }
            result.unicodeScalars.append(written)
        }
        return result
    }
}
