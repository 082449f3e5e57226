internal import CSQLite

/// A compiled statement, finalized with its variable.
struct Statement: ~Copyable {
    let pointer: OpaquePointer
    let connection: OpaquePointer

    deinit { sqlite3_finalize(pointer) }

    var parameters: Int { Int(sqlite3_bind_parameter_count(pointer)) }

    /// It does not change the database's content.
    var isReadOnly: Bool { sqlite3_stmt_readonly(pointer) != 0 }

    var columnNames: [String] {
        (0..<sqlite3_column_count(pointer)).map { sqlite3_column_name(pointer, $0).map { String(cString: $0) } ?? "" }
    }

    /// - Parameter index: from 1.
    /// - Returns: a result code of SQLite's.
    func bind(_ value: StoredValue, at index: Int) -> Int32 {
        let index = Int32(index)
        return switch value {
        case .null: sqlite3_bind_null(pointer, index)
        case .integer(let value): sqlite3_bind_int64(pointer, index, value)
        case .real(let value): sqlite3_bind_double(pointer, index, value)
        case .text(var value): value.withUTF8 { watchbox_sqlite3_bind_text(pointer, index, $0.baseAddress, $0.count) }
        case .blob(let value):
            value.withUnsafeBytes { watchbox_sqlite3_bind_blob(pointer, index, $0.baseAddress, $0.count) }
        }
    }

    /// - Returns: whether there is a row.
    func step() throws(SQLiteError) -> Bool {
        switch sqlite3_step(pointer) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code: throw SQLiteError(code, String(cString: sqlite3_errmsg(connection)))
        }
    }

    /// Of the row that there is.
    var values: [StoredValue] { (0..<sqlite3_column_count(pointer)).map { value($0) } }

    private func value(_ column: Int32) -> StoredValue {
        switch sqlite3_column_type(pointer, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(pointer, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(pointer, column))
        case SQLITE_TEXT:
            // sqlite3_column_bytes must follow sqlite3_column_text, which may convert the value.
            let text = sqlite3_column_text(pointer, column)
            let bytes = UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(pointer, column)))
            return .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let blob = sqlite3_column_blob(pointer, column)
            return .blob(
                [UInt8](UnsafeRawBufferPointer(start: blob, count: Int(sqlite3_column_bytes(pointer, column)))))
        default: return .null
        }
    }
}
