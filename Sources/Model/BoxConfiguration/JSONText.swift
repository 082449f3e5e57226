internal import Settings
internal import TOML

/// A JSON text in the order in which it was written down, which the library's encoder cannot keep.
indirect enum JSONText {
    case object([(String, JSONText)])
    case array([JSONText])
    case string(String)
    /// A number, `true` or `false`.
    case plain(String)

    /// Two blanks for each level.
    func text(indent: String = "") -> String {
        let inner = indent + "  "
        switch self {
        case .object(let fields) where fields.isEmpty: return "{}"
        case .object(let fields):
            let lines = fields.map { "\(inner)\(Self.quoted($0.0)): \($0.1.text(indent: inner))" }
            return "{\n\(lines.joined(separator: ",\n"))\n\(indent)}"
        case .array(let elements): return "[\(elements.map { $0.text(indent: inner) }.joined(separator: ", "))]"
        case .string(let text): return Self.quoted(text)
        case .plain(let text): return text
        }
    }

    private static func quoted(_ text: String) -> String {
        // JSON knows the escapes that TOML's writer uses.
        TOMLText.string(text).description
    }
}

extension JSONText {
    init(_ value: SettingValue) {
        switch value {
        case .string(let text): self = .string(text)
        case .integer(let number): self = .plain(String(number))
        case .real(let number): self = .plain(number.plain)
        case .boolean(let flag): self = .plain(flag ? "true" : "false")
        case .strings(let list): self = .array(list.map(JSONText.string))
        }
    }
}
