/// A row of an answer.
public struct DatabaseRow: Equatable, Sendable {
    let names: [String]
    let values: [StoredValue]

    /// The value of a column.
    ///
    /// - Throws: `SQLiteError.corrupt` when there is no such column, or its value is null or of another kind: another
    ///   program wrote the file.
    public func field<Value: Storable>(_ name: String, as type: Value.Type = Value.self) throws(SQLiteError) -> Value {
        guard let value = try optional(name, as: type) else { throw Self.unreadable(name) }
        return value
    }

    /// The value of a column; nil for null.
    ///
    /// - Throws: as `field`.
    public func optional<Value: Storable>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(SQLiteError) -> Value? {
        guard let index = names.firstIndex(of: name) else { throw Self.unreadable(name) }
        return try optional(at: index)
    }

    func optional<Value: Storable>(at index: Int) throws(SQLiteError) -> Value? {
        if values[index] == .null { return nil }
        guard let value = Value(values[index]) else { throw Self.unreadable(names[index]) }
        return value
    }

    private static func unreadable(_ name: String) -> SQLiteError { .corrupt("the column \(name) cannot be read") }
}
