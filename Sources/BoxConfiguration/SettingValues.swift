internal import Settings

/// Settings of one object by name, as they are taken when they have been checked.
extension [String: SettingValue] {
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
