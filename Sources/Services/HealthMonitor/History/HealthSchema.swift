internal import GRDB

/// `history.db`.
enum HealthSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in
            try database.execute(
                sql: """
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
        return migrator
    }
}
