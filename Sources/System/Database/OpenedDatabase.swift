internal import Synchronization

/// A database that was checked, migrated and set up by `DatabaseOpening`.
public final class OpenedDatabase: Sendable {
    /// One for all threads: the services here have one writer and few readers, and each further connection has a page
    /// cache of its own.
    nonisolated(unsafe) private let connection: DatabaseConnection
    /// Who holds it may use the connection.
    private let turn = Mutex(())
    public let path: String
    /// Where a damaged file was moved to; the database began empty then. Inform the owner.
    public let setAside: String?

    init(connection: sending DatabaseConnection, path: String, setAside: String?) {
        self.connection = connection
        self.path = path
        self.setAside = setAside
    }

    /// Reads in one transaction.
    ///
    /// - Throws: `DatabaseFailure` for what SQLite reports; errors of `body` as they are.
    public func read<Value: Sendable>(_ body: (DatabaseConnection) throws -> Value) throws -> Value {
        try withConnection { try $0.reading(body) }
    }

    /// Writes in one transaction: all of it or nothing.
    ///
    /// - Parameter durability: for this transaction alone; nil: as the database was opened. A later commit that survives a
    ///   power cut takes those before it along.
    /// - Throws: `DatabaseFailure` for what SQLite reports; errors of `body` as they are.
    public func write<Value: Sendable>(durability: Durability? = nil, _ body: (DatabaseConnection) throws -> Value)
        throws -> Value
    {
        try withConnection { connection in
            guard let durability else { return try connection.writing(body) }
            // Not within a transaction: SQLite would ignore it.
            let former = try connection.value("PRAGMA synchronous", as: Int.self) ?? 2
            try connection.execute(durability.pragma)
            defer { try? connection.execute("PRAGMA synchronous = \(former)") }
            return try connection.writing(body)
        }
    }

    /// Without a transaction.
    func withConnection<Value: Sendable>(_ body: (DatabaseConnection) throws -> Value) throws -> Value {
        do { return try turn.withLock { _ in try body(connection) } } catch let error as SQLiteError {
            throw DatabaseFailure(error, path: path)
        }
    }
}
