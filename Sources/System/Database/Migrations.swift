internal import CSQLite

/// The steps from an empty database to today's, each done once, whole or not at all.
///
/// A step that was released never changes; new ones come at the end.
public struct Migrations: Sendable {
    public struct Step: Sendable {
        let name: String
        let run: @Sendable (DatabaseConnection) throws -> Void

        public init(_ name: String, _ run: @escaping @Sendable (DatabaseConnection) throws -> Void) {
            self.name = name
            self.run = run
        }
    }

    let steps: [Step]

    /// GRDB's name for it: it wrote the first databases, and versions of before read them still.
    private static let table = "grdb_migrations"

    public init(_ steps: [Step]) { self.steps = steps }

    func done(_ connection: DatabaseConnection) throws(SQLiteError) -> Set<String> {
        guard try connection.hasTable(Self.table) else { return [] }
        return Set(try connection.values("SELECT identifier FROM \(Self.table)"))
    }

    /// Does the steps that were not done yet. After an error the connection is of no more use.
    ///
    /// - Parameter last: the name of the last one to do; nil: all.
    func run(on connection: DatabaseConnection, upTo last: String? = nil) throws {
        let done = try done(connection)
        let end = last.map { name in steps.prefix { $0.name != name }.count + 1 } ?? steps.count
        precondition(end <= steps.count, "there is no such step")
        let next = steps[..<end].filter { !done.contains($0.name) }
        guard !next.isEmpty else { return }
        // A step may make a table anew that others refer to. What it left is checked before it counts.
        try connection.setForeignKeys(false)
        for step in next {
            try connection.writing { connection in
                try connection.execute(
                    "CREATE TABLE IF NOT EXISTS \(Self.table) (identifier TEXT NOT NULL PRIMARY KEY)")
                try step.run(connection)
                let orphan = try connection.rows("SELECT \"table\", parent FROM pragma_foreign_key_check LIMIT 1").first
                if let orphan {
                    let (child, parent) = try (
                        orphan.field("table", as: String.self), orphan.field("parent", as: String.self)
                    )
                    // SQLITE_CONSTRAINT_FOREIGNKEY
                    throw SQLiteError(
                        SQLITE_CONSTRAINT | 3 << 8,
                        "after \(step.name) a row of \(child) refers to one of \(parent) that is not there")
                }
                try connection.execute("INSERT INTO \(Self.table) VALUES (?)", [step.name])
            }
        }
        // Whoever gets an error instead lets go of the connection.
        try connection.setForeignKeys(true)
    }
}
