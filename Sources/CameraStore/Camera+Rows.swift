internal import FoundationEssentials
internal import GRDB
internal import Settings

extension Camera {
    private static let columns = [
        "uuid", "name", "source", "user", "address", "port", "manufacturer", "model", "firmware", "is_active",
        "grid_position",
        "added", "last_connected", "onvif_endpoint", "serial", "mac", "usb", "settings", "revision",
    ]

    static func all(_ database: GRDB.Database) throws -> [Camera] {
        try Row.fetchAll(database, sql: "SELECT * FROM camera ORDER BY grid_position, id").map { try Camera($0) }
    }

    static func one(_ id: String, _ database: GRDB.Database) throws -> Camera? {
        try Row.fetchOne(database, sql: "SELECT * FROM camera WHERE id = ?", arguments: [id]).map { try Camera($0) }
    }

    func insert(_ database: GRDB.Database) throws {
        let names = ["id"] + Self.columns
        try database.execute(
            sql: """
                INSERT INTO camera (\(names.joined(separator: ", ")))
                VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
                """,
            arguments: [id] + (try values()))
    }

    /// Writes what differs in `wanted`, under the next revision.
    ///
    /// - Parameters:
    ///   - isLearned: no change that somebody made: the revision stays, for whoever has it in hand.
    ///   - isRenamed: its ID is another one already, which is a change by itself.
    func changed(
        to wanted: Camera, isLearned: Bool = false, isRenamed: Bool = false, _ database: GRDB.Database
    ) throws -> Camera {
        var new = wanted.canonical
        new.uuid = uuid
        new.added = added
        new.lastConnected = lastConnected
        new.revision = revision
        guard isRenamed || new != self else { return self }
        if !isLearned { new.revision += 1 }
        try database.execute(
            sql: "UPDATE camera SET \(Self.columns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE id = ?",
            arguments: try new.values() + [id])
        return new
    }

    private func values() throws -> StatementArguments {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = String(decoding: try encoder.encode(settings), as: UTF8.self)
        return [
            uuid, name, source, user, address, port, manufacturer, model, firmware, isActive, gridPosition, added,
            lastConnected,
            identity.onvifEndpoint, identity.serial, identity.mac, identity.usb, json, revision,
        ]
    }

    private init(_ row: Row) throws {
        let json: String = try row.field("settings")
        let settings: [String: SettingValue]
        do {
            settings = try JSONDecoder().decode([String: SettingValue].self, from: Data(json.utf8))
        } catch {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the settings of a camera cannot be read")
        }
        self.init(
            id: try row.field("id"), uuid: try row.field("uuid"),
            name: try row.field("name"), source: try row.field("source"),
            user: try row.optional("user"), address: try row.optional("address"),
            port: try row.optional("port"), manufacturer: try row.optional("manufacturer"),
            model: try row.optional("model"), firmware: try row.optional("firmware"),
            isActive: try row.field("is_active"),
            gridPosition: try row.field("grid_position"), added: try row.field("added"),
            lastConnected: try row.optional("last_connected"),
            identity: CameraIdentity(
                onvifEndpoint: try row.optional("onvif_endpoint"), serial: try row.optional("serial"),
                mac: try row.optional("mac"), usb: try row.optional("usb")),
            settings: settings, revision: try row.field("revision"))
    }
}

extension StreamProfile {
    static func all(of camera: String, _ database: GRDB.Database) throws -> [StreamProfile] {
        try Row.fetchAll(
            database, sql: "SELECT * FROM profile WHERE camera = ? ORDER BY position", arguments: [camera]
        ).map { row in
            StreamProfile(
                id: try row.field("id"), camera: try row.field("camera"),
                name: try row.field("name"), source: try row.field("source"),
                width: try row.field("width"), height: try row.field("height"),
                rate: try row.field("rate"), codec: try row.field("codec"),
                isDefault: try row.field("is_default"), bitrate: try row.optional("bitrate"),
                gop: try row.optional("gop"), service: try row.optional("service"),
                snapshot: try row.optional("snapshot"))
        }
    }

    static func replace(_ profiles: [StreamProfile], of camera: String, _ database: GRDB.Database) throws {
        try database.execute(sql: "DELETE FROM profile WHERE camera = ?", arguments: [camera])
        for (position, profile) in profiles.enumerated() {
            try database.execute(
                sql: """
                    INSERT INTO profile (
                        camera, position, id, name, source, width, height, rate, codec, is_default, bitrate, gop,
                        service, snapshot
                    )
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    camera, position, profile.id, profile.name, profile.source, profile.width, profile.height,
                    profile.rate, profile.codec, profile.isDefault, profile.bitrate, profile.gop, profile.service,
                    profile.snapshot,
                ])
        }
    }
}
