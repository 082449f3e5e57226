import CSQLite
import Foundation
import Testing

@testable import Database

private let notes = Migrations([
    .init("v1") { try $0.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE)") }
])
private let newer = Migrations(notes.steps + [.init("v7") { try $0.execute("CREATE TABLE future (id INTEGER)") }])

private func open(
    _ path: String, _ durability: Durability = .configuration, _ migrations: Migrations = notes,
    sizeLimit: Int = 1 << 20
) throws -> OpenedDatabase {
    try DatabaseOpening.open(path: path, durability: durability, migrations: migrations, sizeLimit: sizeLimit)
}

private func add(_ text: String, _ database: OpenedDatabase) throws {
    try database.write { try $0.execute("INSERT INTO note (text) VALUES (?)", [text]) }
}

private func texts(_ database: OpenedDatabase) throws -> [String] {
    try database.read { try $0.values("SELECT text FROM note ORDER BY id") }
}

@Suite struct DatabaseOpeningTests {
    @Test func `what was written is there after the next start`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try add("one", try open(path))
            let again = try open(path)
            #expect(try texts(again) == ["one"])
            #expect(again.setAside == nil)
        }
    }

    @Test func `only the owner can read the database and its log`() throws {
        try withTemporaryDirectory { directory in
            let database = try open(directory + "/state.db")
            try add("one", database)
            #expect(try files(directory) == ["state.db", "state.db-shm", "state.db-wal"])
            for file in try files(directory) { #expect(try mode("\(directory)/\(file)") == 0o600, "\(file)") }
        }
    }

    @Test(arguments: [(Durability.configuration, 2), (.history, 1)])
    func `the connection is set up as promised`(durability: Durability, synchronous: Int) throws {
        try withTemporaryDirectory { directory in
            let database = try open(directory + "/state.db", durability, sizeLimit: 1 << 20)
            func pragma(_ name: String) throws -> Int? {
                try database.withConnection { try $0.value("PRAGMA \(name)") }
            }
            #expect(try database.withConnection { try $0.value("PRAGMA journal_mode") } == "wal")
            #expect(try pragma("synchronous") == synchronous)
            #expect(try pragma("foreign_keys") == 1)
            #expect(try pragma("busy_timeout") == 5000)
            #expect(try pragma("max_page_count") == 256)
            #expect(try pragma("journal_size_limit") == 1 << 20)
            #expect(try pragma("wal_autocheckpoint") == 256)
            #expect(try pragma("cache_size") == -512)
            #expect(try pragma("trusted_schema") == 0)
        }
    }

    @Test func `the log stays small`() throws {
        try withTemporaryDirectory { directory in
            let database = try open(directory + "/state.db", .history, sizeLimit: 64 << 20)
            for round in 0..<1500 { try add("\(round) " + String(repeating: "x", count: 2000), database) }
            #expect(try bytes(directory + "/state.db-wal").count < 2 << 20)
        }
    }

    @Test(arguments: ["text", "head", "page", "cut"])
    func `a damaged file is moved aside with its log, and the caller learns of it`(damage: String) throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            do {
                let database = try open(path)
                for round in 0..<100 { try add("\(round) " + String(repeating: "x", count: 500), database) }
            }
            var content = try bytes(path)
            switch damage {
            case "text": content = Data("this is a text, and longer than SQLite's header of 100 bytes, ".utf8) + content
            case "head": content.replaceSubrange(0..<64, with: Data(repeating: 7, count: 64))
            case "page": content.replaceSubrange(4096..<12_288, with: Data(repeating: 7, count: 8192))
            default: content = content.prefix(content.count / 2)
            }
            try content.write(to: URL(filePath: path))
            try Data("a log".utf8).write(to: URL(filePath: path + "-wal"))
            let database = try open(path)
            #expect(database.setAside == path + ".corrupt-1")
            #expect(try texts(database) == [])
            #expect(try bytes(path + ".corrupt-1") == content)
            #expect(FileManager.default.fileExists(atPath: path + ".corrupt-1-wal"))
            try add("new", database)
            #expect(try texts(database) == ["new"])
        }
    }

    @Test func `the three newest damaged files are kept`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            for round in 1...5 {
                try Data(repeating: UInt8(round), count: 8192).write(to: URL(filePath: path))
                #expect(try open(path).setAside == path + ".corrupt-\(round)")
            }
            let kept = try files(directory).filter { $0.contains("corrupt") }
            #expect(kept == ["state.db.corrupt-3", "state.db.corrupt-4", "state.db.corrupt-5"])
            #expect(try bytes(path + ".corrupt-3") == Data(repeating: 3, count: 8192))
        }
    }

    @Test func `a database of a newer version is refused and stays as it is`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let other = try open(path, .configuration, newer)
            try add("from the future", other)
            let (content, log) = (try bytes(path), try bytes(path + "-wal"))
            let failure = try #require(throws: DatabaseFailure.self) { try open(path) }
            #expect(failure == .fromFuture(path: path, version: "v7"))
            #expect("\(failure)".contains("a newer WatchBox wrote it (schema v7); it is unchanged"))
            #expect(try bytes(path) == content)
            #expect(try bytes(path + "-wal") == log)
            #expect(try texts(other) == ["from the future"])
        }
    }

    @Test func `a closed database of a newer version stays as it is, too`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try add("from the future", try open(path, .configuration, newer))
            let content = try bytes(path)
            #expect(throws: DatabaseFailure.fromFuture(path: path, version: "v7")) { try open(path) }
            #expect(try bytes(path) == content)
        }
    }

    @Test func `a migration that fails leaves the version before`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            try add("one", try open(path))
            let step = Migrations.Step("v2") { database in
                try database.execute("DROP TABLE note; CREATE TABLE other (id INTEGER); SELECT nonsense()")
            }
            let broken = Migrations(notes.steps + [step])
            let failure = try #require(throws: DatabaseFailure.self) { try open(path, .configuration, broken) }
            guard case .refused = failure else {
                Issue.record("\(failure)")
                return
            }
            #expect(try texts(try open(path)) == ["one"])
        }
    }

    @Test func `links and directories are not opened`() throws {
        try withTemporaryDirectory { directory in
            let target = directory + "/target"
            try Data().write(to: URL(filePath: target))
            try FileManager.default.createSymbolicLink(atPath: directory + "/link.db", withDestinationPath: target)
            try FileManager.default.createDirectory(atPath: directory + "/dir.db", withIntermediateDirectories: false)
            for name in ["link.db", "dir.db"] {
                let failure = try #require(throws: DatabaseFailure.self) { try open("\(directory)/\(name)") }
                #expect(failure.why.contains("instead of a file"))
            }
            #expect(try bytes(target).isEmpty)
        }
    }

    @Test func `a directory that is missing is named`() throws {
        let failure = try #require(throws: DatabaseFailure.self) { try open("/nonexistent/state.db") }
        #expect(
            failure == .cannotOpen(path: "/nonexistent/state.db", why: "open: No such file or directory"))
    }

    @Test func `its size limit says so, and nothing is lost`() throws {
        try withTemporaryDirectory { directory in
            let database = try open(directory + "/state.db", sizeLimit: 64 << 10)
            try add("one", database)
            let failure = try #require(throws: DatabaseFailure.self) {
                for round in 0..<100 { try add("\(round) " + String(repeating: "x", count: 2000), database) }
            }
            #expect(failure == .atLimit(path: directory + "/state.db"))
            #expect(try texts(database).first == "one")
            try database.write { try $0.execute("DELETE FROM note WHERE id > 1") }
            try add("two", database)
            #expect(try texts(database) == ["one", "two"])
        }
    }

    @Test func `errors of the body pass, and undo what it did`() throws {
        struct Regret: Error {}
        try withTemporaryDirectory { directory in
            let database = try open(directory + "/state.db")
            #expect(throws: Regret.self) {
                try database.write { connection in
                    try connection.execute("INSERT INTO note (text) VALUES ('one')")
                    throw Regret()
                }
            }
            #expect(try texts(database) == [])
            try add("one", database)
            let failure = try #require(throws: DatabaseFailure.self) { try add("one", database) }
            guard case .refused(_, let detail) = failure else {
                Issue.record("\(failure)")
                return
            }
            #expect(detail.contains("UNIQUE constraint failed: note.text"))
        }
    }

    @Test func `damage that shows while the database is open is said`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/state.db"
            let database = try open(path)
            for round in 0..<100 { try add("\(round) " + String(repeating: "x", count: 500), database) }
            try database.withConnection { connection in
                try connection.execute("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA shrink_memory")
            }
            var content = try bytes(path)
            for page in 1..<content.count / 4096 {
                content.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(repeating: 9, count: 4096))
            }
            let file = try FileHandle(forWritingTo: URL(filePath: path))
            try file.write(contentsOf: content)
            try file.close()
            let failure = try #require(throws: DatabaseFailure.self) { try texts(database) }
            guard case .damaged = failure else {
                Issue.record("\(failure)")
                return
            }
            #expect(failure.hint.contains("restart the service"))
        }
    }
}

@Suite struct DatabaseFailureTests {
    private static let all: [DatabaseFailure] = [
        .full(path: "/p"), .atLimit(path: "/p"), .readOnly(path: "/p"), .fromFuture(path: "/p", version: "v9"),
        .damaged(path: "/p", detail: "d"), .busy(path: "/p"), .cannotOpen(path: "/p", why: "w"),
        .device(path: "/p", detail: "d"), .refused(path: "/p", detail: "d"),
    ]

    @Test(arguments: all) func `every failure says what, why and what next`(failure: DatabaseFailure) {
        #expect(failure.what.contains("/p") && !failure.why.isEmpty && !failure.hint.isEmpty)
        #expect("\(failure)" == "\(failure.what): \(failure.why).\nNext: \(failure.hint)")
    }

    /// On a file system with room.
    @Test(arguments: [
        (SQLITE_READONLY, DatabaseFailure.readOnly(path: "/")), (SQLITE_BUSY, .busy(path: "/")),
        // SQLITE_READONLY_DBMOVED, whose name is a macro that Swift does not import.
        (SQLITE_READONLY | 4 << 8, .readOnly(path: "/")),
        (SQLITE_FULL, .atLimit(path: "/")),
        (SQLITE_CORRUPT, .damaged(path: "/", detail: "SQLite: m (11)")),
        (SQLITE_NOTADB, .damaged(path: "/", detail: "SQLite: m (26)")),
        // SQLITE_IOERR_WRITE
        (SQLITE_IOERR | 3 << 8, .device(path: "/", detail: "SQLite: m (778)")),
        (SQLITE_PERM, .cannotOpen(path: "/", why: "SQLite: m (3)")),
        (SQLITE_CONSTRAINT, .refused(path: "/", detail: "SQLite: m (19)")),
    ]) func `SQLite's codes get a text`(code: Int32, failure: DatabaseFailure) {
        #expect(DatabaseFailure(SQLiteError(code, "m"), path: "/") == failure)
    }

    @Test func `a full file system is recognised without SQLite's help`() throws {
        // /proc has no blocks at all.
        let sharedMemorySize = SQLITE_IOERR | 19 << 8
        let failure = DatabaseFailure(SQLiteError(sharedMemorySize, "m"), path: "/proc/x")
        #expect(failure == .full(path: "/proc/x"))
    }
}
