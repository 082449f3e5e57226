internal import Settings

/// Settings of one object, each with the key that it comes from. What nobody sets is as a table without settings has
/// it.
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

    /// What has to be written down.
    var differingValues: [String: SettingValue] {
        var values: [String: SettingValue] = [:]
        for key in Self.keys {
            let value = key.read(self)
            if value != key.definition.defaultValue { values[key.definition.name] = value }
        }
        return values
    }
}

/// A key, and the property that it stands for.
struct SettingKey<Table: SettingsTable>: Sendable {
    let definition: KeyDefinition
    let read: @Sendable (Table) -> SettingValue?
    /// Leaves the property as it is when the value is none of its kind: it was checked before.
    let write: @Sendable (inout Table, SettingValue) -> Void

    /// - Parameters:
    ///   - words: for a default that is computed.
    ///   - sentence: with a full stop.
    init<Value: SettingRepresentable>(
        _ name: String, _ kind: KeyDefinition.Kind, _ path: any WritableKeyPath<Table, Value> & Sendable,
        words: String? = nil, required: Bool = false, _ sentence: String
    ) {
        definition = KeyDefinition(
            name: name, kind: kind, defaultValue: required ? nil : Table()[keyPath: path].settingValue,
            standardWords: words, isRequired: required, sentence: sentence)
        read = { $0[keyPath: path].settingValue }
        write = { table, value in
            if let value = Value(value) { table[keyPath: path] = value }
        }
    }

    init(_ name: String, _ path: any WritableKeyPath<Table, Bool> & Sendable, _ sentence: String) {
        self.init(name, .boolean, path, sentence)
    }

    /// One of the type's cases.
    init<Value: SettingText & CaseIterable>(
        _ name: String, _ path: any WritableKeyPath<Table, Value> & Sendable, _ sentence: String
    ) {
        self.init(name, .choice(Value.allCases.map(\.text)), path, sentence)
    }
}
