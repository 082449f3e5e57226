/// Names that an operator wrote, as they may be shown again.
enum KeyText {
    /// At most 40 characters, none of them for a terminal to obey; nothing at all of what looks like a URL or an
    /// assignment, which can hold a secret.
    static func shown(_ name: String) -> String {
        guard !name.unicodeScalars.contains(where: { "@?=&:".unicodeScalars.contains($0) }) else { return "…" }
        let scalars = name.unicodeScalars.prefix(41).map { isPrintable($0) && $0 != "`" ? $0 : "?" }
        let text = String(String.UnicodeScalarView(scalars.prefix(40)))
        return scalars.count > 40 ? text + "…" : text
    }

    /// A file's name, for a terminal.
    static func shownFile(_ name: String) -> String {
        String(String.UnicodeScalarView(name.unicodeScalars.prefix(255).map { isPrintable($0) ? $0 : "?" }))
    }

    /// No control character, and none that changes the direction of a line or breaks it.
    static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        case .format: scalar == "\u{200D}" || scalar == "\u{200C}"
        default: true
        }
    }

    /// `[a-z0-9](-?[a-z0-9])*`, at most 24 characters: it becomes part of file names and unit names.
    static func isIdentifier(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard (1...24).contains(bytes.count), bytes.first != hyphen, bytes.last != hyphen else { return false }
        return isNameOfHyphens(bytes) && !text.contains("--")
    }

    /// `[a-z0-9-]{1,32}`: a name in the store of secrets.
    static func isSecretName(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        // As the store has it: no hyphen at an end, none behind another.
        guard (1...32).contains(bytes.count), bytes.first != hyphen, bytes.last != hyphen, !text.contains("--") else {
            return false
        }
        return isNameOfHyphens(bytes)
    }

    private static let hyphen = UInt8(ascii: "-")

    private static func isNameOfHyphens(_ bytes: [UInt8]) -> Bool {
        bytes.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), hyphen: true
            default: false
            }
        }
    }

    static func isStreamName(_ text: String) -> Bool {
        (1...128).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), hyphen:
                    true
                default: false
                }
            }
    }
}
