internal import Settings
internal import TOML

/// What is under a key, in a file or in the store.
enum WrittenValue: Equatable, Sendable {
    case table([String: WrittenValue])
    case array([WrittenValue])
    case string(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    case date

    /// With an article, for a person.
    var kind: String {
        switch self {
        case .table: "a table"
        case .array: "a list"
        case .string: "a string"
        case .integer: "an integer"
        case .real: "a number with a fraction"
        case .boolean: "true or false"
        case .date: "a date or a time"
        }
    }

    init(_ value: SettingValue) {
        self =
            switch value {
            case .string(let value): .string(value)
            case .integer(let value): .integer(value)
            case .real(let value): .real(value)
            case .boolean(let value): .boolean(value)
            case .strings(let value): .array(value.map(WrittenValue.string))
            }
    }

    // Recurses as deep as the reader of TOML lets values be nested.
    init(_ value: TOMLValue) {
        switch value {
        case .string(let value): self = .string(value)
        case .integer(let value): self = .integer(value)
        case .float(let value): self = .real(value)
        case .boolean(let value): self = .boolean(value)
        case .offsetDateTime, .localDateTime, .localDate, .localTime: self = .date
        case .array(let nodes): self = .array(nodes.map { WrittenValue($0.value) })
        case .table(let table):
            var values: [String: WrittenValue] = [:]
            for entry in table.entries { values[entry.key] = WrittenValue(entry.node.value) }
            self = .table(values)
        }
    }

    /// Nil for what no setting can be.
    var value: SettingValue? {
        switch self {
        case .string(let value): return .string(value)
        case .integer(let value): return .integer(value)
        case .real(let value): return .real(value)
        case .boolean(let value): return .boolean(value)
        case .array(let elements):
            var strings: [String] = []
            for element in elements {
                guard case .string(let text) = element else { return nil }
                strings.append(text)
            }
            return .strings(strings)
        case .table, .date: return nil
        }
    }
}
