internal import Database
internal import FoundationEssentials
internal import ONVIF

extension BoxMemory {
    /// What is known of a camera.
    ///
    /// - Parameters:
    ///   - uuid: of the camera.
    ///   - source: the one that it has now. What was reported at another one was reported by another device.
    public func camera(_ uuid: String, at source: String) throws(BoxMemoryError) -> LearnedCamera? {
        try read { database in try LearnedCamera.one(uuid, source, database) }
    }

    /// Keeps what a camera reported of itself. Call this after it has accepted its password: an announcement on the network
    /// proves nothing. What is not fit to be stored is left out.
    public func learned(_ reported: LearnedCamera, of uuid: String, at source: String) throws(BoxMemoryError) {
        try write(durability: .history) { database in
            let known = try LearnedCamera.one(uuid, source, database) ?? LearnedCamera()
            let new = known.learning(reported, source: source)
            guard new != known else { return }
            try new.save(uuid, source, database)
            try Self.removeThumbnails("camera = ? AND source != ?", [uuid, source], database)
        }
    }

    /// The same device has another source: what is known of it stays, but for its profiles and its frame, which are of
    /// the former one.
    public func moved(_ uuid: String, from former: String, to source: String) throws(BoxMemoryError) {
        try write(durability: .history) { database in
            try database.execute(
                "UPDATE learned SET source = ?, profiles = NULL WHERE camera = ? AND source = ?",
                [source, uuid, former])
            try Self.removeThumbnails("camera = ?", [uuid], database)
        }
    }

    /// Forgets a camera that is another device now.
    public func forget(_ uuid: String) throws(BoxMemoryError) {
        try write { database in try Self.forget(uuid, database) }
    }

    /// Forgets the cameras that there are not any more, and the thumbnails of sources of before.
    ///
    /// - Parameter cameras: the sources of those that there are, by UUID.
    public func forget(allBut cameras: [String: String]) throws(BoxMemoryError) {
        let (known, frames) = try read { database in
            (
                try Set(
                    database.values("SELECT camera FROM learned UNION SELECT camera FROM thumbnail", as: String.self)),
                try database.rows("SELECT camera, source FROM thumbnail").map {
                    (camera: try $0.field("camera") as String, source: try $0.field("source") as String)
                }
            )
        }
        let gone = known.subtracting(cameras.keys)
        let stale = frames.filter { frame in cameras[frame.camera].map { $0 != frame.source } ?? false }
        guard !gone.isEmpty || !stale.isEmpty else { return }
        try write { database in
            for uuid in gone { try Self.forget(uuid, database) }
            for frame in stale { try Self.removeThumbnails("camera = ?", [frame.camera], database) }
        }
    }

    private static func forget(_ uuid: String, _ database: DatabaseConnection) throws {
        try database.execute("DELETE FROM learned WHERE camera = ?", [uuid])
        try removeThumbnails("camera = ?", [uuid], database)
    }
}

extension LearnedCamera {
    fileprivate static func one(_ uuid: String, _ source: String, _ database: DatabaseConnection) throws
        -> LearnedCamera?
    {
        let row = try database.rows(
            "SELECT * FROM learned WHERE camera = ? AND source = ?", [uuid, source]
        ).first
        guard let row else { return nil }
        let json: String? = try row.optional("profiles")
        let profiles: [StreamProfile]?
        do {
            profiles = try json.map { try JSONDecoder().decode([StreamProfile].self, from: Data($0.utf8)) }
        } catch {
            throw SQLiteError.corrupt("the profiles of a camera cannot be read")
        }
        return LearnedCamera(
            manufacturer: try row.optional("manufacturer"), model: try row.optional("model"),
            firmware: try row.optional("firmware"),
            identity: DeviceIdentity(
                endpoint: try row.optional("onvif_endpoint"), serial: try row.optional("serial"),
                mac: try row.optional("mac")),
            address: try row.optional("address"), port: try row.optional("port"), profiles: profiles,
            lastConnected: try row.optional("last_connected"))
    }

    fileprivate func save(_ uuid: String, _ source: String, _ database: DatabaseConnection) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = try profiles.map { String(decoding: try encoder.encode($0), as: UTF8.self) }
        try database.execute(
            """
            INSERT OR REPLACE INTO learned (
                camera, source, address, port, manufacturer, model, firmware, onvif_endpoint, serial, mac, profiles,
                last_connected
            )
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            [
                uuid, source, address, port, manufacturer, model, firmware, identity.endpoint, identity.serial,
                identity.mac, json, lastConnected,
            ])
    }
}
