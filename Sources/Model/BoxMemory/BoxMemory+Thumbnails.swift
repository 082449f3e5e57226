internal import Database

extension BoxMemory {
    /// A thumbnail of what the camera sees, as JPEG; nil when there is none of this source.
    public func thumbnail(of uuid: String, at source: String) throws(BoxMemoryError) -> [UInt8]? {
        try read { database in
            try database.value("SELECT jpeg FROM thumbnail WHERE camera = ? AND source = ?", [uuid, source])
        }
    }

    /// Keeps a thumbnail of what the camera sees.
    ///
    /// It is a frame in clear on the disk: only for an owner who asked for previews.
    ///
    /// - Parameters:
    ///   - jpeg: at most 256 KiB.
    ///   - taken: Unix seconds.
    public func setThumbnail(
        _ jpeg: [UInt8], of uuid: String, at source: String, taken: Int64
    ) throws(BoxMemoryError) {
        guard jpeg.count <= Self.thumbnailLimit else {
            throw .invalid(field: "thumbnail", why: "it has more than \(Self.thumbnailLimit) bytes")
        }
        guard jpeg.starts(with: [0xff, 0xd8, 0xff]) else { throw .invalid(field: "thumbnail", why: "it is not a JPEG") }
        try write(durability: .history) { database in
            try Self.removeThumbnails("camera = ?", [uuid], database)
            try database.execute(
                "INSERT INTO thumbnail (camera, source, jpeg, taken) VALUES (?, ?, ?, ?)",
                [uuid, source, jpeg, max(taken, 0)])
        }
    }

    /// Of all cameras, when their owner does not want any on the disk.
    public func removeThumbnails() throws(BoxMemoryError) {
        let count = try read { try $0.value("SELECT count(*) FROM thumbnail", as: Int.self) ?? 0 }
        guard count > 0 else { return }
        try write { database in try Self.removeThumbnails("true", [], database) }
    }

    /// The pages are overwritten, not only given free.
    static func removeThumbnails(
        _ condition: String, _ arguments: [(any Storable)?], _ database: DatabaseConnection
    ) throws {
        try database.execute("PRAGMA secure_delete = ON")
        try database.execute("DELETE FROM thumbnail WHERE \(condition)", arguments)
    }
}
