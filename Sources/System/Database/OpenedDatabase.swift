public import GRDB

/// A database that was checked, migrated and set up by `DatabaseOpening`.
public struct OpenedDatabase: Sendable {
    /// One connection: the services here have one writer and few readers, and each further connection has a page cache
    /// of its own.
    public let queue: DatabaseQueue
    public let path: String
    /// Where a damaged file was moved to; the database began empty then. Inform the owner.
    public let setAside: String?

    /// Reads in one transaction.
    ///
    /// - Throws: `DatabaseFailure` for what SQLite reports; errors of `body` as they are.
    public func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do { return try queue.read(body) } catch let error as DatabaseError {
            throw DatabaseFailure(error, path: path)
        }
    }

    /// Writes in one transaction: all of it or nothing.
    ///
    /// - Parameter durability: for this transaction alone; nil: as the database was opened. A later commit that survives a
    ///   power cut takes those before it along.
    /// - Throws: `DatabaseFailure` for what SQLite reports; errors of `body` as they are.
    public func write<Value>(durability: Durability? = nil, _ body: (Database) throws -> Value) throws -> Value {
        do {
            guard let durability else { return try queue.write(body) }
            return try queue.writeWithoutTransaction { database in
                // Not within a transaction: SQLite would ignore it.
                let former = try Int.fetchOne(database, sql: "PRAGMA synchronous") ?? 2
                try database.execute(sql: durability.pragma)
                defer { try? database.execute(sql: "PRAGMA synchronous = \(former)") }
                var value: Value?
                try database.inTransaction(.immediate) {
                    value = try body(database)
                    return .commit
                }
                guard let value else { throw DatabaseError(resultCode: .SQLITE_ABORT) }
                return value
            }
        } catch let error as DatabaseError {
            throw DatabaseFailure(error, path: path)
        }
    }
}
