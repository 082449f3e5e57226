/// A value as TOML writes it: always in the same form, so that equal values are equal texts.
public struct TOMLText: Equatable, Sendable, CustomStringConvertible {
    public let description: String

    private init(_ description: String) { self.description = description }

    /// In double quotes on one line. The escapes that are used are also those of JSON.
    public static func string(_ text: String) -> TOMLText {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}":
                let digits = String(scalar.value, radix: 16, uppercase: true)
                quoted += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return TOMLText(quoted + "\"")
    }

    public static func integer(_ number: Int64) -> TOMLText { TOMLText(String(number)) }

    /// The shortest form that reads back to the same number, with a fraction or an exponent.
    public static func float(_ number: Double) -> TOMLText { TOMLText(number.isNaN ? "nan" : String(number)) }

    public static func boolean(_ flag: Bool) -> TOMLText { TOMLText(flag ? "true" : "false") }

    public static func array(_ elements: [TOMLText]) -> TOMLText {
        TOMLText("[\(elements.map(\.description).joined(separator: ", "))]")
    }

    /// On one line, in the order given. No key may be there twice.
    public static func table(_ entries: [(key: String, value: TOMLText)]) -> TOMLText {
        guard !entries.isEmpty else { return TOMLText("{}") }
        return TOMLText("{ \(entries.map { "\(key([$0.key])) = \($0.value)" }.joined(separator: ", ")) }")
    }

    /// A key with a dot between its parts, each in quotes where needed.
    public static func key(_ path: [String]) -> String {
        path.map { part in
            !part.isEmpty && part.utf8.allSatisfy(\.isBareKey) ? part : TOMLText.string(part).description
        }.joined(separator: ".")
    }
}

/// Writes a document line by line. It keeps the form; that no key is written twice is up to the caller.
public struct TOMLWriter: Sendable {
    public private(set) var text = ""

    public init() {}

    /// `[a.b]`, below an empty line.
    public mutating func table(_ path: [String]) { text += "\(text.isEmpty ? "" : "\n")[\(TOMLText.key(path))]\n" }

    public mutating func line(_ key: String, _ value: TOMLText) { text += "\(TOMLText.key([key])) = \(value)\n" }
}
