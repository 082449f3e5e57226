internal import GRDB

extension CameraStore {
    static let objectBytes = 64 << 10
    /// Of one kind.
    static let objectLimit = 256

    /// All of a kind, by name.
    public func objects(kind: String) throws(CameraStoreError) -> [StoredObject] {
        try read { database in
            try Row.fetchAll(
                database, sql: "SELECT kind, name, json, revision FROM object WHERE kind = ? ORDER BY name",
                arguments: [kind]
            ).map { try StoredObject($0) }
        }
    }

    public func object(kind: String, name: String) throws(CameraStoreError) -> StoredObject? {
        try read { database in try StoredObject.one(kind, name, database) }
    }

    /// Adds or replaces an object.
    ///
    /// - Parameters:
    ///   - ifRevision: the revision that the change is based on; 0: there is none yet; nil: whatever it is.
    /// - Returns: the object as it is stored now. Its revision grew unless nothing changed.
    /// - Throws: `.conflict`, `.invalid`, `.tooMany`.
    @discardableResult
    public func put(_ object: StoredObject, ifRevision: Int? = nil) throws(CameraStoreError) -> StoredObject {
        try object.validate()
        return try write { database in try object.put(ifRevision: ifRevision, database) }
    }

    /// - Returns: false when there was none.
    @discardableResult
    public func removeObject(kind: String, name: String) throws(CameraStoreError) -> Bool {
        try write { database in
            try database.execute(sql: "DELETE FROM object WHERE kind = ? AND name = ?", arguments: [kind, name])
            return database.changesCount > 0
        }
    }
}

extension StoredObject {
    /// What needs no database to be looked at.
    func validate() throws(CameraStoreError) {
        try FieldRules.name(kind, "kind", limit: 32)
        try FieldRules.name(name, "name", limit: 32)
        try JSONRules.object(json, "json", limit: CameraStore.objectBytes)
    }

    /// Adds or replaces it, within a transaction; see `CameraStore.put`.
    func put(ifRevision: Int? = nil, _ database: GRDB.Database) throws -> StoredObject {
        let stored = try Self.one(kind, name, database)
        if let ifRevision, ifRevision != stored?.revision ?? 0 {
            throw CameraStoreError.conflict("\(kind) \(name)", current: stored?.revision ?? 0)
        }
        if let stored, stored.json == json { return stored }
        try JSONRules.check(json, "json", database)
        if stored == nil {
            let count = try Int.fetchOne(
                database, sql: "SELECT count(*) FROM object WHERE kind = ?", arguments: [kind])
            guard count ?? 0 < CameraStore.objectLimit else {
                throw CameraStoreError.tooMany("objects of kind \(kind)", limit: CameraStore.objectLimit)
            }
        }
        var new = self
        new.revision = (stored?.revision ?? 0) + 1
        try database.execute(
            sql: "INSERT OR REPLACE INTO object (kind, name, json, revision) VALUES (?, ?, ?, ?)",
            arguments: [new.kind, new.name, new.json, new.revision])
        return new
    }

    fileprivate init(_ row: Row) throws {
        self.init(
            kind: try row.field("kind"), name: try row.field("name"),
            json: try row.field("json"), revision: try row.field("revision"))
    }

    fileprivate static func one(_ kind: String, _ name: String, _ database: GRDB.Database) throws -> StoredObject? {
        try Row.fetchOne(
            database, sql: "SELECT kind, name, json, revision FROM object WHERE kind = ? AND name = ?",
            arguments: [kind, name]
        ).map { try StoredObject($0) }
    }
}
