import CSQLite
import Foundation
import Testing

@testable import Database

private func withConnection<Value>(_ body: (DatabaseConnection) throws -> Value) throws -> Value {
    try body(try DatabaseConnection(path: ":memory:"))
}

@Suite struct DatabaseConnectionTests {
    private static let values: [StoredValue] = [
        .null, .integer(.min), .integer(.max), .integer(0), .real(-0.1), .real(.infinity), .text(""),
        .text("é\u{1F6AA}"),
        .text("a\0b"), .blob([]), .blob([0, 255, 0]),
    ]

    /// What a test binds and reads as it is.
    private struct Anything: Storable {
        let stored: StoredValue
        init(_ stored: StoredValue) { self.stored = stored }
    }

    @Test(arguments: values) func `a value comes back as it was`(value: StoredValue) throws {
        try withConnection { connection in
            try connection.execute("CREATE TABLE t (v ANY) STRICT")
            try connection.execute("INSERT INTO t VALUES (?)", [Anything(value)])
            #expect(try connection.rows("SELECT v FROM t") == [DatabaseRow(names: ["v"], values: [value])])
            let kind = try connection.value("SELECT typeof(v) FROM t", as: String.self)
            let expected =
                switch value {
                case .null: "null"
                case .integer: "integer"
                case .real: "real"
                case .text: "text"
                case .blob: "blob"
                }
            #expect(kind == expected)
        }
    }

    @Test func `a value of another kind is not taken for one`() throws {
        try withConnection { connection in
            let row = try #require(
                try connection.rows(
                    "SELECT 1 AS i, 1.5 AS r, 'x' AS t, x'00' AS b, NULL AS n, 9223372036854775807 AS m"
                )
                .first)
            #expect(try row.field("i") == 1 && row.field("i") == true && row.field("i") == 1.0)
            #expect(try row.field("r") == 1.5 && row.field("t") == "x" && row.field("b") == [0 as UInt8])
            #expect(try row.optional("n", as: String.self) == nil && row.field("m") == Int64.max)
            for name in ["r", "t", "b", "n", "missing"] {
                #expect(throws: SQLiteError.corrupt("the column \(name) cannot be read")) {
                    try row.field(name, as: Int64.self)
                }
            }
            for name in ["i", "r", "b"] {
                #expect(throws: SQLiteError.self) { try row.optional(name, as: String.self) }
            }
            #expect(throws: SQLiteError.self) { try row.field("t", as: [UInt8].self) }
            // Not every integer is a Double.
            #expect(throws: SQLiteError.self) { try row.field("m", as: Double.self) }
            #expect(throws: SQLiteError.self) { try connection.values("SELECT NULL", as: Int.self) }
            #expect(try connection.value("SELECT NULL", as: Int.self) == nil)
            #expect(try connection.value("SELECT 1 WHERE 0", as: Int.self) == nil)
        }
    }

    /// STRICT does not look at bytes: a text may be none.
    @Test func `a text that is not UTF-8 is shown as one`() throws {
        try withConnection { connection in
            let text: String? = try connection.value("SELECT CAST(x'61ff62' AS TEXT)")
            #expect(text == "a\u{fffd}b")
        }
    }

    @Test func `several statements take their arguments in order, and none is left`() throws {
        try withConnection { connection in
            try connection.execute(
                """
                CREATE TABLE t (a, b); -- a comment; with a semicolon
                INSERT INTO t VALUES (?, ?);
                INSERT INTO t VALUES (?2, ?1);;
                """, [1, 2, 3, 4])
            let rows = try connection.rows("SELECT a, b FROM t").map(\.values)
            #expect(rows == [[.integer(1), .integer(2)], [.integer(4), .integer(3)]])
            #expect(connection.lastInsertedID == 2)
            #expect(throws: SQLiteError.self) { try connection.execute("DELETE FROM t WHERE a = ?", []) }
            #expect(throws: SQLiteError.self) { try connection.execute("SELECT ?", [1, 2]) }
            #expect(throws: SQLiteError.self) { try connection.rows("SELECT ?", [1, 2]) }
            #expect(throws: SQLiteError.self) { try connection.rows("SELECT 1; SELECT 2") }
            #expect(try connection.value("SELECT count(*) FROM t") == 2)
            #expect(try connection.rows("-- nothing").isEmpty)
        }
    }

    @Test(arguments: [
        "SELEC 1", "SELECT nonsense()", "SELECT * FROM missing", "SELECT \"x\"", "'", "SELECT 1 FROM (", "\u{1}",
    ])
    func `what is no statement is refused with SQLite's words`(sql: String) throws {
        try withConnection { connection in
            let error = try #require(throws: SQLiteError.self) { try connection.execute(sql) }
            #expect(error.primaryCode == SQLITE_ERROR && !error.message.isEmpty)
        }
    }

    @Test func `a reader changes nothing`() throws {
        try withConnection { connection in
            try connection.execute("CREATE TABLE t (a)")
            for sql in ["INSERT INTO t VALUES (1)", "DELETE FROM t", "DROP TABLE t", "COMMIT; BEGIN IMMEDIATE"] {
                #expect(throws: SQLiteError.self) { try connection.reading { try $0.execute(sql) } }
            }
            #expect(try connection.reading { try $0.value("SELECT count(*) FROM t") } == 0)
            try connection.writing { try $0.execute("INSERT INTO t VALUES (1)") }
            #expect(try connection.value("SELECT count(*) FROM t") == 1)
        }
    }

    @Test func `what a commit refuses is undone, and the connection goes on`() throws {
        try withConnection { connection in
            try connection.execute(
                """
                CREATE TABLE parent (id INTEGER PRIMARY KEY);
                CREATE TABLE child (id REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)
                """)
            let error = try #require(throws: SQLiteError.self) {
                try connection.writing { try $0.execute("INSERT INTO child VALUES (7)") }
            }
            #expect(error.message == "FOREIGN KEY constraint failed")
            #expect(try connection.value("SELECT count(*) FROM child") == 0)
            try connection.writing { try $0.execute("INSERT INTO parent VALUES (7); INSERT INTO child VALUES (7)") }
            #expect(try connection.value("SELECT count(*) FROM child") == 1)
        }
    }

    @Test func `an error that ends the transaction by itself is the one that is said`() throws {
        try withConnection { connection in
            try connection.execute("CREATE TABLE t (a UNIQUE); INSERT INTO t VALUES (1)")
            let error = try #require(throws: SQLiteError.self) {
                try connection.writing { try $0.execute("INSERT OR ROLLBACK INTO t VALUES (1)") }
            }
            #expect(error.message == "UNIQUE constraint failed: t.a")
        }
    }

    /// A file of somebody else's is read: its schema must not be written through the back door.
    @Test func `the schema's own table is not written`() throws {
        try withConnection { connection in
            try connection.execute("CREATE TABLE t (a); PRAGMA writable_schema = ON")
            #expect(throws: SQLiteError.self) { try connection.execute("UPDATE sqlite_master SET sql = 'x'") }
            #expect(try connection.value("PRAGMA trusted_schema") == 0)
        }
    }

    @Test func `who opens a file that may only be read changes nothing`() throws {
        try withTemporaryDirectory { directory in
            let path = directory + "/a.db"
            try DatabaseConnection(path: path).execute("CREATE TABLE t (a)")
            let content = try bytes(path)
            let reader = try DatabaseConnection(path: path, readOnly: true)
            #expect(throws: SQLiteError.self) { try reader.execute("INSERT INTO t VALUES (1)") }
            #expect(try reader.value("SELECT count(*) FROM t") == 0)
            #expect(try bytes(path) == content)
            #expect(throws: SQLiteError.self) { try DatabaseConnection(path: directory + "/none.db", readOnly: true) }
            #expect(try files(directory) == ["a.db"])
        }
    }

    @Test func `tasks take turns`() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let database = try DatabaseOpening.open(
            path: directory.path + "/a.db", durability: .history,
            migrations: Migrations([.init("1") { try $0.execute("CREATE TABLE t (a)") }]))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for number in 0..<50 {
                        try database.write { try $0.execute("INSERT INTO t VALUES (?)", [writer * 1000 + number]) }
                        _ = try database.read { try $0.value("SELECT max(a) FROM t", as: Int.self) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try database.read { try $0.value("SELECT count(DISTINCT a) FROM t") } == 200)
    }
}

@Suite struct MigrationsTests {
    private static let first = Migrations.Step("1") { try $0.execute("CREATE TABLE p (id INTEGER PRIMARY KEY)") }

    @Test func `each step is done once, in order, whole or not at all`() throws {
        try withConnection { connection in
            try Migrations([Self.first]).run(on: connection)
            #expect(try connection.value("PRAGMA foreign_keys") == 1)
            try connection.execute("INSERT INTO p VALUES (1)")
            let fails = Migrations.Step("3") { try $0.execute("DROP TABLE p; SELECT nonsense()") }
            let steps = [Self.first, .init("2") { try $0.execute("CREATE TABLE q (id)") }, fails]
            #expect(throws: SQLiteError.self) { try Migrations(steps).run(on: connection) }
            #expect(try Migrations(steps).done(connection) == ["1", "2"])
            #expect(try connection.value("SELECT count(*) FROM p") == 1)
        }
    }

    /// As SQLite advises for what ALTER TABLE cannot do (https://sqlite.org/lang_altertable.html#otheralter).
    @Test func `a step may make a table anew that others refer to, and leaves no row without its parent`() throws {
        try withConnection { connection in
            let child = Migrations.Step("2") {
                try $0.execute(
                    "CREATE TABLE c (p INTEGER REFERENCES p (id) ON DELETE CASCADE); INSERT INTO p VALUES (1); INSERT INTO c VALUES (1)"
                )
            }
            let anew = Migrations.Step("3") {
                try $0.execute(
                    """
                    CREATE TABLE new (id INTEGER PRIMARY KEY, name TEXT);
                    INSERT INTO new (id) SELECT id FROM p;
                    DROP TABLE p;
                    ALTER TABLE new RENAME TO p
                    """)
            }
            try Migrations([Self.first, child, anew]).run(on: connection)
            #expect(try connection.value("SELECT count(*) FROM c") == 1)
            #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO c VALUES (9)") }
            let orphan = Migrations.Step("4") { try $0.execute("DELETE FROM p") }
            let error = try #require(throws: SQLiteError.self) {
                try Migrations([Self.first, child, anew, orphan]).run(on: connection)
            }
            #expect(error.message == "after 4 a row of c refers to one of p that is not there")
            #expect(try connection.value("SELECT count(*) FROM p") == 1)
        }
    }
}
