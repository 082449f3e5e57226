internal import FoundationEssentials
internal import GRDB

extension CameraStore {
    /// All of them, in the order of the grid.
    public func cameras() throws(CameraStoreError) -> [Camera] {
        try read { database in try Camera.all(database) }
    }

    public func camera(_ id: String) throws(CameraStoreError) -> Camera? {
        try read { database in try Camera.one(id, database) }
    }

    /// Adds a camera with its profiles. It begins at revision 1.
    ///
    /// - Throws: `.exists`, `.invalid`, `.tooMany`.
    public func add(_ camera: Camera, profiles: [StreamProfile] = []) throws(CameraStoreError) {
        try camera.validate()
        try StreamProfile.validate(profiles, of: camera.id)
        var camera = camera.canonical
        camera.revision = 1
        try write { database in
            let present = try Row.fetchAll(database, sql: "SELECT id, uuid FROM camera")
            for row in present {
                let id: String = try row.field("id")
                if id == camera.id { throw CameraStoreError.exists(id) }
                if try row.field("uuid") == camera.uuid {
                    throw CameraStoreError.invalid(field: "uuid", why: "camera \(id) has it")
                }
            }
            guard present.count < Self.cameraLimit else {
                throw CameraStoreError.tooMany("cameras", limit: Self.cameraLimit)
            }
            try camera.insert(database)
            try StreamProfile.replace(profiles, of: camera.id, database)
        }
    }

    /// Replaces a camera's fields, except `uuid`, `added` and `lastConnected`, which stay as they are stored. With
    /// another source its thumbnail and its profiles go: they are another device's.
    ///
    /// - Parameters:
    ///   - ifRevision: the revision that the change is based on; nil: whatever it is.
    /// - Returns: the camera as it is stored now. Its revision grew unless nothing changed.
    /// - Throws: `.noSuchCamera`, `.conflict`, `.invalid`.
    @discardableResult
    public func update(_ camera: Camera, ifRevision: Int? = nil) throws(CameraStoreError) -> Camera {
        try camera.validate()
        let wanted = camera.canonical
        return try write { database in
            guard let stored = try Camera.one(wanted.id, database) else {
                throw CameraStoreError.noSuchCamera(wanted.id)
            }
            if let ifRevision, ifRevision != stored.revision {
                throw CameraStoreError.conflict("camera \(stored.id)", current: stored.revision)
            }
            if stored.source != wanted.source {
                try Self.removeThumbnails(of: stored.id, database)
                try StreamProfile.replace([], of: stored.id, database)
            }
            return try stored.changed(to: wanted, database)
        }
    }

    /// Gives a camera another ID, and replaces its fields as `update` does. It is the same camera: what was learned of it,
    /// its profiles and its thumbnail stay with it. Events keep the ID that it had when they happened.
    ///
    /// - Parameters:
    ///   - id: the one that it has now.
    ///   - renamed: the camera under its new ID.
    ///   - objects: that name the camera, as they name it now; they change with it or not at all.
    ///   - ifRevision: the revision that the change is based on; nil: whatever it is.
    /// - Returns: the camera as it is stored now.
    /// - Throws: `.noSuchCamera`, `.exists`, `.conflict`, `.invalid`.
    @discardableResult
    public func rename(
        _ id: String, to renamed: Camera, with objects: [StoredObject] = [], ifRevision: Int? = nil
    ) throws(CameraStoreError) -> Camera {
        try renamed.validate()
        for object in objects { try object.validate() }
        let wanted = renamed.canonical
        return try write { database in
            guard let stored = try Camera.one(id, database) else { throw CameraStoreError.noSuchCamera(id) }
            guard try Camera.one(wanted.id, database) == nil else { throw CameraStoreError.exists(wanted.id) }
            if let ifRevision, ifRevision != stored.revision {
                throw CameraStoreError.conflict("camera \(stored.id)", current: stored.revision)
            }
            // Until the end of the transaction profiles and thumbnail may name a camera that there is not.
            try database.execute(sql: "PRAGMA defer_foreign_keys = ON")
            try database.execute(sql: "UPDATE camera SET id = ? WHERE id = ?", arguments: [wanted.id, id])
            for table in ["profile", "thumbnail"] {
                try database.execute(
                    sql: "UPDATE \(table) SET camera = ? WHERE camera = ?", arguments: [wanted.id, id])
            }
            var moved = stored
            moved.id = wanted.id
            if stored.source != wanted.source {
                try Self.removeThumbnails(of: wanted.id, database)
                try StreamProfile.replace([], of: wanted.id, database)
            }
            for object in objects { _ = try object.put(database) }
            return try moved.changed(to: wanted, isRenamed: true, database)
        }
    }

    /// Removes a camera with its profiles and its thumbnail.
    ///
    /// - Returns: false when there was none.
    @discardableResult
    public func remove(_ id: String) throws(CameraStoreError) -> Bool {
        try write { database in
            try database.execute(sql: "DELETE FROM camera WHERE id = ?", arguments: [id])
            return database.changesCount > 0
        }
    }

    /// Gives the cameras the places 0, 1, … of the grid.
    ///
    /// - Parameter ids: every camera exactly once.
    public func reorder(_ ids: [String]) throws(CameraStoreError) {
        try write { database in
            let stored = try Camera.all(database)
            guard ids.count == stored.count, Set(ids) == Set(stored.map(\.id)) else {
                throw CameraStoreError.invalid(field: "order", why: "it does not name every camera exactly once")
            }
            let cameras = Dictionary(uniqueKeysWithValues: stored.map { ($0.id, $0) })
            for (position, id) in ids.enumerated() {
                guard let camera = cameras[id] else { continue }
                var moved = camera
                moved.gridPosition = position
                _ = try camera.changed(to: moved, database)
            }
        }
    }

    /// Notes that the camera delivered. This is no change of its settings: the revision stays.
    ///
    /// - Parameter at: Unix seconds.
    public func setConnected(_ id: String, at: Int64) throws(CameraStoreError) {
        guard at >= 0 else { throw .invalid(field: "last_connected", why: "times count from 1970") }
        try write { database in
            try database.execute(sql: "UPDATE camera SET last_connected = ? WHERE id = ?", arguments: [at, id])
            guard database.changesCount > 0 else { throw CameraStoreError.noSuchCamera(id) }
        }
    }

    /// A small picture of what the camera sees, as JPEG; nil when there is none.
    public func thumbnail(of id: String) throws(CameraStoreError) -> [UInt8]? {
        try read { database in
            try Data.fetchOne(database, sql: "SELECT jpeg FROM thumbnail WHERE camera = ?", arguments: [id])
                .map { [UInt8]($0) }
        }
    }

    /// When the thumbnail was taken, in Unix seconds; nil when there is none, or nobody said.
    public func thumbnailTaken(of id: String) throws(CameraStoreError) -> Int64? {
        try read { database in
            try Int64.fetchOne(
                database, sql: "SELECT taken FROM thumbnail WHERE camera = ? AND taken IS NOT NULL", arguments: [id])
        }
    }

    /// Keeps a small picture of what the camera sees, or removes it.
    ///
    /// It is a picture in clear on the disk: only for an owner who asked for previews.
    ///
    /// - Parameters:
    ///   - jpeg: at most 256 KiB; nil removes it.
    ///   - taken: Unix seconds.
    public func setThumbnail(_ jpeg: [UInt8]?, of id: String, taken: Int64? = nil) throws(CameraStoreError) {
        guard taken ?? 0 >= 0 else { throw .invalid(field: "taken", why: "times count from 1970") }
        if let jpeg {
            guard jpeg.count <= Self.thumbnailLimit else {
                throw .invalid(field: "thumbnail", why: "it has more than \(Self.thumbnailLimit) bytes")
            }
            guard jpeg.starts(with: [0xff, 0xd8, 0xff]) else {
                throw .invalid(field: "thumbnail", why: "it is not a JPEG")
            }
        }
        try write { database in
            guard try Camera.one(id, database) != nil else { throw CameraStoreError.noSuchCamera(id) }
            guard let jpeg else { return try Self.removeThumbnails(of: id, database) }
            try database.execute(
                sql: "INSERT OR REPLACE INTO thumbnail (camera, jpeg, taken) VALUES (?, ?, ?)",
                arguments: [id, Data(jpeg), taken])
        }
    }

    /// Of all cameras, when their owner wants none on the disk.
    public func removeThumbnails() throws(CameraStoreError) {
        let count = try read { database in try Int.fetchOne(database, sql: "SELECT count(*) FROM thumbnail") ?? 0 }
        guard count > 0 else { return }
        try write { database in try Self.removeThumbnails(of: nil, database) }
    }

    /// The pages are overwritten, not only given free.
    private static func removeThumbnails(of id: String?, _ database: GRDB.Database) throws {
        _ = try Int.fetchOne(database, sql: "PRAGMA secure_delete = ON")
        if let id {
            try database.execute(sql: "DELETE FROM thumbnail WHERE camera = ?", arguments: [id])
        } else {
            try database.execute(sql: "DELETE FROM thumbnail")
        }
    }
}
