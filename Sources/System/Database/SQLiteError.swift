internal import CSQLite

/// An error that SQLite reported.
public struct SQLiteError: Error, Equatable, Sendable {
    /// The extended result code (https://sqlite.org/rescode.html).
    let code: Int32
    let message: String

    init(_ code: Int32, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The result code of which `code` is one kind.
    var primaryCode: Int32 { code & 0xff }

    /// For what is in the file and cannot be what this program wrote.
    public static func corrupt(_ message: String) -> Self { Self(SQLITE_CORRUPT, message) }

    /// For a fault of this program.
    static func misuse(_ message: String) -> Self { Self(SQLITE_MISUSE, message) }
}
