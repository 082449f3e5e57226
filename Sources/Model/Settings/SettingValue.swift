/// The value of one setting: what the operator's TOML, the API and the store say. As JSON it is the bare value.
public enum SettingValue: Sendable {
    case string(String)
    case integer(Int64)
    /// Finite.
    case real(Double)
    case boolean(Bool)
    case strings([String])
}

extension SettingValue: Equatable {
    /// Numbers are equal by value: JSON does not distinguish 25 from 25.0.
    public static func == (left: SettingValue, right: SettingValue) -> Bool {
        switch (left, right) {
        case (.string(let left), .string(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.integer(let whole), .real(let number)), (.real(let number), .integer(let whole)):
            Int64(exactly: number) == whole
        case (.boolean(let left), .boolean(let right)): left == right
        case (.strings(let left), .strings(let right)): left == right
        default: false
        }
    }
}

extension SettingValue: Codable {
    public init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let boolean = try? value.decode(Bool.self) {
            self = .boolean(boolean)
        } else if let whole = try? value.decode(Int64.self) {
            self = .integer(whole)
        } else if let number = try? value.decode(Double.self) {
            self = .real(number)
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let texts = try? value.decode([String].self) {
            self = .strings(texts)
        } else {
            throw DecodingError.dataCorruptedError(
                in: value, debugDescription: "a setting is a string, a number, true, false, or a list of strings")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .string(let text): try value.encode(text)
        case .integer(let whole): try value.encode(whole)
        case .real(let number): try value.encode(number)
        case .boolean(let boolean): try value.encode(boolean)
        case .strings(let texts): try value.encode(texts)
        }
    }
}
