internal import ControlAPI

/// A JSON document as assignments that a shell can read: `WATCHBOX_CAMERAS_0_ID='front'`.
public enum ShellVariables {
    private enum Value: Decodable {
        case null
        case boolean(Bool)
        case number(Double)
        case string(String)
        case array([Value])
        case object([String: Value])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .boolean(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([Value].self) {
                self = .array(value)
            } else {
                self = .object(try container.decode([String: Value].self))
            }
        }
    }

    /// - Parameter json: what this program itself encoded; anything else gives no line.
    public static func lines(_ json: String) -> [String] {
        guard let value = try? JSONDocument.decode(Value.self, from: Array(json.utf8)) else { return [] }
        var lines: [String] = []
        collect(value, "WATCHBOX", into: &lines)
        return lines
    }

    private static func collect(_ value: Value, _ name: String, into lines: inout [String]) {
        switch value {
        case .null: return
        case .boolean(let flag): lines.append("\(name)=\(flag ? 1 : 0)")
        case .number(let number):
            lines.append(
                number == number.rounded() && abs(number) < 1e15 ? "\(name)=\(Int64(number))" : "\(name)=\(number)")
        case .string(let text): lines.append("\(name)=\(ShellWord.inQuotes(text))")
        case .array(let values):
            lines.append("\(name)_COUNT=\(values.count)")
            for (index, value) in values.enumerated() { collect(value, "\(name)_\(index)", into: &lines) }
        case .object(let members):
            for key in members.keys.sorted() {
                if let value = members[key] { collect(value, "\(name)_\(variable(key))", into: &lines) }
            }
        }
    }

    /// `bitsPerSecond` → `BITS_PER_SECOND`; what no name may hold becomes `_`.
    private static func variable(_ key: String) -> String {
        var result = ""
        for byte in key.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                if !result.isEmpty { result += "_" }
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: "a")...UInt8(ascii: "z"): result.unicodeScalars.append(Unicode.Scalar(byte - 32))
            case UInt8(ascii: "0")...UInt8(ascii: "9"): result.unicodeScalars.append(Unicode.Scalar(byte))
            default: result += "_"
            }
        }
        return result
    }
}
