/// JSON that is made here, printed the same way on every machine: two spaces, sorted keys, a line per member.
enum OpenAPIValue: Equatable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int64)
    case real(Double)
    case string(String)
    case array([OpenAPIValue])
    case object([String: OpenAPIValue])

    func text(indentation: Int = 0) -> String {
        let inner = String(repeating: "  ", count: indentation + 1)
        let outer = String(repeating: "  ", count: indentation)
        switch self {
        case .null: return "null"
        case .boolean(let value): return value ? "true" : "false"
        case .integer(let value): return "\(value)"
        case .real(let value): return value.isFinite ? "\(value)" : "null"
        case .string(let value): return Self.quoted(value)
        case .array(let values):
            if values.isEmpty { return "[]" }
            return "[\n" + values.map { inner + $0.text(indentation: indentation + 1) }.joined(separator: ",\n")
                + "\n\(outer)]"
        case .object(let members):
            if members.isEmpty { return "{}" }
            let lines = members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { name, value in
                inner + Self.quoted(name) + ": " + value.text(indentation: indentation + 1)
            }
            return "{\n" + lines.joined(separator: ",\n") + "\n\(outer)}"
        }
    }

    /// RFC 8259 §7.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case _ where scalar.value < 0x20:
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

extension OpenAPIValue: ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral
{
    init(stringLiteral value: String) { self = .string(value) }
    init(arrayLiteral elements: OpenAPIValue...) { self = .array(elements) }
    init(dictionaryLiteral elements: (String, OpenAPIValue)...) {
        self = .object(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
    init(booleanLiteral value: Bool) { self = .boolean(value) }
    init(integerLiteral value: Int64) { self = .integer(value) }
}

extension OpenAPIValue: Decodable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([OpenAPIValue].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: OpenAPIValue].self))
        }
    }
}
