internal import Database

/// The steps from an empty database to today's. A step that was released never changes; new ones come at the end, each
/// with a database of the version before in the tests.
enum Schema {
    static let migrations = Migrations([
        .init("v1", camerasAndProfiles), .init("v2", identityAndSettings), .init("v3", objects), .init("v4", events),
        .init("v5", thumbnails), .init("v6", networkCameras), .init("v7", learnedCameras),
    ])

    @Sendable private static func camerasAndProfiles(_ database: DatabaseConnection) throws {
        try database.execute(
            """
            CREATE TABLE camera (
                id TEXT NOT NULL PRIMARY KEY,
                uuid TEXT NOT NULL UNIQUE,
                name TEXT NOT NULL,
                source TEXT NOT NULL,
                user TEXT,
                address TEXT,
                port INTEGER,
                manufacturer TEXT,
                model TEXT,
                is_active INTEGER NOT NULL,
                grid_position INTEGER NOT NULL,
                added INTEGER NOT NULL,
                last_connected INTEGER,
                thumbnail BLOB
            ) STRICT;
            CREATE TABLE profile (
                camera TEXT NOT NULL REFERENCES camera (id) ON DELETE CASCADE,
                position INTEGER NOT NULL,
                id TEXT NOT NULL,
                name TEXT NOT NULL,
                source TEXT NOT NULL,
                width INTEGER NOT NULL,
                height INTEGER NOT NULL,
                rate REAL NOT NULL,
                codec TEXT NOT NULL,
                is_default INTEGER NOT NULL,
                PRIMARY KEY (camera, id)
            ) STRICT;
            """)
    }

    @Sendable private static func identityAndSettings(_ database: DatabaseConnection) throws {
        try database.execute(
            """
            ALTER TABLE camera ADD COLUMN onvif_endpoint TEXT;
            ALTER TABLE camera ADD COLUMN serial TEXT;
            ALTER TABLE camera ADD COLUMN mac TEXT;
            ALTER TABLE camera ADD COLUMN usb TEXT;
            ALTER TABLE camera ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
            ALTER TABLE camera ADD COLUMN revision INTEGER NOT NULL DEFAULT 1;
            """)
    }

    @Sendable private static func objects(_ database: DatabaseConnection) throws {
        try database.execute(
            """
            CREATE TABLE object (
                kind TEXT NOT NULL,
                name TEXT NOT NULL,
                json TEXT NOT NULL,
                revision INTEGER NOT NULL,
                PRIMARY KEY (kind, name)
            ) STRICT;
            """)
    }

    /// AUTOINCREMENT: an ID is never given twice, so that a listener can go on after the last one it saw.
    @Sendable private static func events(_ database: DatabaseConnection) throws {
        try database.execute(
            """
            CREATE TABLE event (
                id INTEGER PRIMARY KEY AUTOINCREMENT,
                realtime_us INTEGER NOT NULL,
                topic TEXT NOT NULL,
                code TEXT,
                object TEXT,
                text TEXT NOT NULL,
                details TEXT
            ) STRICT;
            """)
    }

    /// A thumbnail of 256 KiB next to the columns that every list reads made each change of a camera rewrite 64 pages.
    @Sendable private static func thumbnails(_ database: DatabaseConnection) throws {
        try database.execute(
            """
            CREATE TABLE thumbnail (
                camera TEXT NOT NULL PRIMARY KEY REFERENCES camera (id) ON DELETE CASCADE,
                jpeg BLOB NOT NULL
            ) STRICT;
            INSERT INTO thumbnail (camera, jpeg) SELECT id, thumbnail FROM camera WHERE thumbnail IS NOT NULL;
            ALTER TABLE camera DROP COLUMN thumbnail;
            """)
    }

    /// What an ONVIF device reports of itself.
    @Sendable private static func networkCameras(_ database: DatabaseConnection) throws {
        try database.execute(
            """
            ALTER TABLE camera ADD COLUMN firmware TEXT;
            ALTER TABLE profile ADD COLUMN bitrate INTEGER;
            ALTER TABLE profile ADD COLUMN gop INTEGER;
            ALTER TABLE profile ADD COLUMN service TEXT;
            ALTER TABLE profile ADD COLUMN snapshot TEXT;
            ALTER TABLE thumbnail ADD COLUMN taken INTEGER;
            """)
    }

    /// The configuration is in the generations' files. `camera` and `object` stay until one holds what is in them.
    @Sendable private static func learnedCameras(_ database: DatabaseConnection) throws {
        try database.execute("PRAGMA secure_delete = ON")
        try database.execute(
            """
            CREATE TABLE learned (
                camera TEXT NOT NULL PRIMARY KEY,
                source TEXT NOT NULL,
                address TEXT,
                port INTEGER,
                manufacturer TEXT,
                model TEXT,
                firmware TEXT,
                onvif_endpoint TEXT,
                serial TEXT,
                mac TEXT,
                profiles TEXT,
                last_connected INTEGER
            ) STRICT;
            INSERT INTO learned
                SELECT uuid, source, address, port, manufacturer, model, firmware, onvif_endpoint, serial, mac,
                    (SELECT json_group_array(json(told)) FROM (
                        SELECT json_object(
                            'id', id, 'name', name, 'source', source, 'width', width, 'height', height,
                            'rate', rate, 'codec', codec, 'bitrate', bitrate, 'gop', gop, 'service', service,
                            'snapshot', snapshot) AS told
                        FROM profile WHERE profile.camera = camera.id ORDER BY position)),
                    last_connected
                FROM camera;
            CREATE TABLE picture (
                camera TEXT NOT NULL PRIMARY KEY,
                source TEXT NOT NULL,
                jpeg BLOB NOT NULL,
                taken INTEGER
            ) STRICT;
            INSERT INTO picture
                SELECT uuid, source, jpeg, taken FROM thumbnail JOIN camera ON camera.id = thumbnail.camera;
            DROP TABLE thumbnail;
            DROP TABLE profile;
            ALTER TABLE picture RENAME TO thumbnail;
            """)
    }
}
