public import GRDB

/// A database that was checked, migrated and set up by `DatabaseOpening`.
public struct OpenedDatabase: Sendable {
    /// One connection: the services here have one writer and few readers, and each further connection has a page cache
    /// of its own.
    public let queue: DatabaseQueue
    public let path: String
    /// Where a damaged file was moved to; the database began empty then. Tell the owner.
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
    /// - Throws: `DatabaseFailure` for what SQLite reports; errors of `body` as they are.
    public func write<Value>(_ body: (Database) throws -> Value) throws -> Value {
        do { return try queue.write(body) } catch let error as DatabaseError {
            throw DatabaseFailure(error, path: path)
        }
    }
}
