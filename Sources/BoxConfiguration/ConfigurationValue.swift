/// A value of a setting; JSON without a tag.
public enum ConfigurationValue: Codable, Sendable {
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    case strings([String])

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else {
            self = .strings(try container.decode([String].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .boolean(let value): try container.encode(value)
        case .strings(let value): try container.encode(value)
        }
    }
}

extension ConfigurationValue: Equatable {
    /// JSON does not tell 25 from 25.0.
    public static func == (one: ConfigurationValue, other: ConfigurationValue) -> Bool {
        switch (one, other) {
        case (.string(let one), .string(let other)): one == other
        case (.boolean(let one), .boolean(let other)): one == other
        case (.strings(let one), .strings(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.real(let one), .real(let other)): one == other
        case (.integer(let whole), .real(let real)), (.real(let real), .integer(let whole)): Double(whole) == real
        default: false
        }
    }
}

extension [String: ConfigurationValue] {
    func text(_ key: String) -> String? {
        if case .string(let value)? = self[key] { value } else { nil }
    }

    func list(_ key: String) -> [String] {
        if case .strings(let value)? = self[key] { value } else { [] }
    }

    func flag(_ key: String, default standard: Bool) -> Bool {
        if case .boolean(let value)? = self[key] { value } else { standard }
    }

    func whole(_ key: String, default standard: Int) -> Int {
        switch self[key] {
        case .integer(let value): Int(clamping: value)
        case .real(let value): Int(exactly: value) ?? standard
        default: standard
        }
    }

    func number(_ key: String, default standard: Double) -> Double {
        switch self[key] {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: standard
        }
    }
}
