internal import Settings

/// Settings of one object, each with the key that it comes from. What is not set has the value that it has in an
/// empty table.
protocol SettingsTable: Sendable {
    init()
    static var keys: [SettingKey<Self>] { get }
}

extension SettingsTable {
    /// - Parameter given: checked; what is absent takes its default.
    init(values given: [String: SettingValue]) {
        self.init()
        take(given)
    }

    mutating func take(_ given: [String: SettingValue]) {
        for key in Self.keys {
            if let value = given[key.definition.name] { key.write(&self, value) }
        }
    }

    /// Every key that has a value, defaults included.
    var values: [String: SettingValue] {
        var values: [String: SettingValue] = [:]
        for key in Self.keys { values[key.definition.name] = key.read(self) }
        return values
    }

    /// What must be written down.
    var differingValues: [String: SettingValue] {
        var values: [String: SettingValue] = [:]
        for key in Self.keys {
            let value = key.read(self)
            if value != key.definition.defaultValue { values[key.definition.name] = value }
        }
        return values
    }
}

/// A key, and the property that it sets.
struct SettingKey<Table: SettingsTable>: Sendable {
    let definition: KeyDefinition
    let read: @Sendable (Table) -> SettingValue?
    /// Leaves the property as it is when the value is not of its kind: it was checked before.
    let write: @Sendable (inout Table, SettingValue) -> Void

    /// - Parameters:
    ///   - defaultText: for a default that is computed.
    ///   - meaning: a sentence with a full stop.
    init<Value: SettingRepresentable>(
        _ name: String, _ kind: KeyDefinition.Kind, _ path: any WritableKeyPath<Table, Value> & Sendable,
        defaultText: String? = nil, required: Bool = false, _ meaning: String
    ) {
        definition = KeyDefinition(
            name: name, kind: kind, defaultValue: required ? nil : Table()[keyPath: path].settingValue,
            defaultText: defaultText, isRequired: required, meaning: meaning)
        read = { $0[keyPath: path].settingValue }
        write = { table, value in
            if let value = Value(value) { table[keyPath: path] = value }
        }
    }

    init(_ name: String, _ path: any WritableKeyPath<Table, Bool> & Sendable, _ meaning: String) {
        self.init(name, .boolean, path, meaning)
    }

    /// One of the type's cases.
    init<Value: SettingText & CaseIterable>(
        _ name: String, _ path: any WritableKeyPath<Table, Value> & Sendable, _ meaning: String
    ) {
        self.init(name, .choice(Value.allCases.map(\.text)), path, meaning)
    }
}
