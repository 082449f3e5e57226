internal import CSQLite

/// A connection to SQLite: for one thread at a time.
///
/// Statements are compiled on each call, and results are read into memory: limit them in SQL. Values are arguments of `?`, never
/// part of the statement.
public final class DatabaseConnection {
    private let handle: OpaquePointer
    /// Statements that write are refused.
    private var isReading = false

    private static let busyTimeoutMilliseconds: Int32 = 5000

    /// Opens a file, or makes it.
    init(path: String, readOnly: Bool = false) throws(SQLiteError) {
        let flags = readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX, nil)
        guard let opened else { throw SQLiteError(SQLITE_NOMEM, "out of memory") }
        guard code == SQLITE_OK else {
            let error = SQLiteError(code, String(cString: sqlite3_errmsg(opened)))
            // Only memory is left of it.
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        sqlite3_busy_timeout(handle, Self.busyTimeoutMilliseconds)
        try check(watchbox_sqlite3_harden(handle))
        try setForeignKeys(true)
        isReading = readOnly
    }

    // Statements have ended with the call that ran them, so it cannot fail.
    deinit { sqlite3_close_v2(handle) }

    /// Runs one statement or several, and discards their rows.
    ///
    /// - Parameter arguments: of all of them together, in order.
    public func execute(_ sql: String, _ arguments: [(any Storable)?] = []) throws(SQLiteError) {
        var rest = arguments[...]
        try forEachStatement(sql) { (statement: borrowing Statement) throws(SQLiteError) in
            try bind(&rest, to: statement)
            while try statement.step() {}
        }
        guard rest.isEmpty else { throw .misuse("there are more arguments than parameters") }
    }

    /// What one statement answers.
    public func rows(_ sql: String, _ arguments: [(any Storable)?] = []) throws(SQLiteError) -> [DatabaseRow] {
        var rest = arguments[...]
        var rows: [DatabaseRow]?
        try forEachStatement(sql) { (statement: borrowing Statement) throws(SQLiteError) in
            guard rows == nil else { throw .misuse("more than one statement is asked for an answer") }
            try bind(&rest, to: statement)
            let names = statement.columnNames
            var found: [DatabaseRow] = []
            while try statement.step() { found.append(DatabaseRow(names: names, values: statement.values)) }
            rows = found
        }
        guard rest.isEmpty else { throw .misuse("there are more arguments than parameters") }
        return rows ?? []
    }

    /// The first column of each row.
    public func values<Value: Storable>(
        _ sql: String, _ arguments: [(any Storable)?] = [], as type: Value.Type = Value.self
    ) throws(SQLiteError) -> [Value] {
        var values: [Value] = []
        for row in try rows(sql, arguments) {
            guard let value: Value = try row.optional(at: 0) else { throw .corrupt("a value is missing") }
            values.append(value)
        }
        return values
    }

    /// The first column of the first row; nil when there is no row, or null in it.
    public func value<Value: Storable>(
        _ sql: String, _ arguments: [(any Storable)?] = [], as type: Value.Type = Value.self
    ) throws(SQLiteError) -> Value? {
        try rows(sql, arguments).first?.optional(at: 0)
    }

    /// The ID of the row that was inserted last.
    public var lastInsertedID: Int64 { sqlite3_last_insert_rowid(handle) }

    public func hasTable(_ name: String) throws(SQLiteError) -> Bool {
        try value("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", [name], as: Bool.self) != nil
    }

    /// All of `body`, or nothing.
    func writing<Value>(_ body: (DatabaseConnection) throws -> Value) throws -> Value {
        try transaction("IMMEDIATE", body)
    }

    /// `body` sees one state of the database, and may not change it. It leaves the transaction alone.
    func reading<Value>(_ body: (DatabaseConnection) throws -> Value) throws -> Value {
        let before = isReading
        isReading = true
        defer { isReading = before }
        return try transaction("DEFERRED", body)
    }

    /// Not within a transaction: SQLite would ignore it.
    func setForeignKeys(_ areChecked: Bool) throws(SQLiteError) {
        try execute("PRAGMA foreign_keys = \(areChecked ? "ON" : "OFF")")
    }

    private func transaction<Value>(_ kind: String, _ body: (DatabaseConnection) throws -> Value) throws -> Value {
        try execute("BEGIN \(kind)")
        do {
            let value = try body(self)
            try execute("COMMIT")
            return value
        } catch {
            // After some errors SQLite has done it by itself.
            if sqlite3_get_autocommit(handle) == 0 { try? execute("ROLLBACK") }
            throw error
        }
    }

    private func bind(
        _ arguments: inout ArraySlice<(any Storable)?>, to statement: borrowing Statement
    ) throws(SQLiteError) {
        let count = statement.parameters
        guard arguments.count >= count else { throw .misuse("there are more parameters than arguments") }
        for index in 0..<count {
            let argument = arguments.removeFirst()
            try check(statement.bind(argument?.stored ?? .null, at: index + 1))
        }
    }

    private func forEachStatement(
        _ sql: String, _ body: (borrowing Statement) throws(SQLiteError) -> Void
    ) throws(SQLiteError) {
        // SQLite says where a statement ends.
        let text = sql.utf8CString
        try text.withUnsafeBufferPointer { (buffer) throws(SQLiteError) in
            var next = buffer.baseAddress
            while let start = next, start.pointee != 0 {
                var pointer: OpaquePointer?
                try check(sqlite3_prepare_v2(handle, start, -1, &pointer, &next))
                // A comment, or the space after the last semicolon.
                guard let pointer else { continue }
                let statement = Statement(pointer: pointer, connection: handle)
                guard !isReading || statement.isReadOnly else { throw .misuse("a reader may not write") }
                try body(statement)
            }
        }
    }

    private func check(_ code: Int32) throws(SQLiteError) {
        guard code == SQLITE_OK else { throw SQLiteError(code, String(cString: sqlite3_errmsg(handle))) }
    }
}
