internal import CSQLite
internal import Glibc

/// How WatchBox opens SQLite.
///
/// WAL, foreign keys, a busy timeout of 5 s, bounded file, log and cache. Every start checks the file:
/// a damaged one is moved aside and a new one begins, so that the box goes on and a person can still look at it.
public enum DatabaseOpening {
    /// Pages of the log before they are moved into the database: with pages of 4 KiB, about 1 MiB.
    private static let checkpointPages = 256
    private static let journalBytes = 1 << 20
    private static let cacheKiB = 512
    private static let pageBytes = 4096

    /// Opens the database at `path`, or makes it with mode 0600, and migrates it.
    ///
    /// - Parameters:
    ///   - sizeLimit: in bytes; more is refused with `.atLimit`.
    /// - Throws: `.fromFuture` when the file has steps that `migrations` does not know; the file stays as it is.
    public static func open(
        path: String, durability: Durability, migrations: Migrations, sizeLimit: Int = 64 << 20
    ) throws(DatabaseFailure) -> OpenedDatabase {
        var setAside: String?
        if try make(path) == .existed {
            switch try inspect(path, migrations) {
            case .intact: break
            case .fromFuture(let version): throw .fromFuture(path: path, version: version)
            case .damaged:
                setAside = try SetAside.move(path)
                _ = try make(path)
            }
        }
        do {
            let connection = try DatabaseConnection(path: path)
            try setUp(connection, durability, sizeLimit)
            try migrations.run(on: connection)
            return OpenedDatabase(connection: connection, path: path, setAside: setAside)
        } catch {
            throw DatabaseFailure(error, path: path)
        }
    }

    private enum Making { case made, existed }

    /// SQLite gives its log the permissions of the database, so these are set before it sees the file.
    private static func make(_ path: String) throws(DatabaseFailure) -> Making {
        let made = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if made >= 0 {
            close(made)
            return .made
        }
        let code = errno
        var status = stat()
        guard lstat(path, &status) == 0 else { throw DatabaseFailure(call: "open", path: path, code: code) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .cannotOpen(path: path, why: "it is a link, a directory or a device instead of a file")
        }
        return .existed
    }

    private enum Finding {
        case intact
        case damaged
        case fromFuture(String)
    }

    /// Reads only, so that what a newer program wrote stays as it is.
    private static func inspect(_ path: String, _ migrations: Migrations) throws(DatabaseFailure) -> Finding {
        do {
            return try DatabaseConnection(path: path, readOnly: true).reading { connection in
                guard try connection.values("PRAGMA quick_check(1)") == ["ok"] else { return .damaged }
                let unknown = try migrations.done(connection).subtracting(migrations.steps.map(\.name)).sorted()
                return unknown.last.map { .fromFuture($0) } ?? .intact
            }
        } catch {
            let failure = DatabaseFailure(error, path: path)
            if case .damaged = failure { return .damaged }
            throw failure
        }
    }

    private static func setUp(
        _ connection: DatabaseConnection, _ durability: Durability, _ sizeLimit: Int
    ) throws(SQLiteError) {
        guard try connection.value("PRAGMA journal_mode = WAL") == "wal" else {
            throw SQLiteError(SQLITE_CANTOPEN, "the file system cannot hold a WAL")
        }
        try connection.execute(
            """
            \(durability.pragma);
            PRAGMA wal_autocheckpoint = \(checkpointPages);
            PRAGMA journal_size_limit = \(journalBytes);
            PRAGMA cache_size = -\(cacheKiB);
            PRAGMA max_page_count = \(max(sizeLimit / pageBytes, 1))
            """)
    }
}
