internal import Database

/// `history.db`.
enum HealthSchema {
    static let migrations = Migrations([
        .init("1") { database in
            try database.execute(
                """
                CREATE TABLE event (
                    id INTEGER PRIMARY KEY,
                    time INTEGER NOT NULL,
                    kind TEXT NOT NULL,
                    checkName TEXT NOT NULL,
                    object TEXT,
                    fromState TEXT,
                    toState TEXT,
                    level TEXT,
                    text TEXT NOT NULL,
                    code INTEGER
                ) STRICT;
                CREATE INDEX event_by_check ON event (checkName, id);
                """)
        }
    ])
}
