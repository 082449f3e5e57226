internal import GRDB

extension Row {
    /// The value of a column.
    ///
    /// - Throws: when there is no such column or its value is of another kind: another program wrote the file.
    func field<Value: DatabaseValueConvertible>(_ name: String) throws -> Value {
        guard let value: Value = try optional(name) else { throw Self.unreadable(name) }
        return value
    }

    func optional<Value: DatabaseValueConvertible>(_ name: String) throws -> Value? {
        guard let stored = self[name] as DatabaseValue? else { throw Self.unreadable(name) }
        if stored.isNull { return nil }
        guard let value = Value.fromDatabaseValue(stored) else { throw Self.unreadable(name) }
        return value
    }

    private static func unreadable(_ name: String) -> DatabaseError {
        DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the column \(name) cannot be read")
    }
}
