internal import GRDB

extension CameraStore {
    /// In the order in which they were given.
    public func profiles(of id: String) throws(CameraStoreError) -> [StreamProfile] {
        try read { database in try StreamProfile.all(of: id, database) }
    }

    /// Replaces the profiles of a camera: at most 16, of which one may be the default. The camera's revision grows
    /// unless nothing changed.
    public func setProfiles(_ profiles: [StreamProfile], of id: String) throws(CameraStoreError) {
        try StreamProfile.validate(profiles, of: id)
        try write { database in
            guard let camera = try Camera.one(id, database) else { throw CameraStoreError.noSuchCamera(id) }
            guard try StreamProfile.all(of: id, database) != profiles else { return }
            try StreamProfile.replace(profiles, of: id, database)
            try database.execute(
                sql: "UPDATE camera SET revision = ? WHERE id = ?", arguments: [camera.revision + 1, id])
        }
    }

    /// All cameras with their profiles, in the order of the grid.
    public func records() throws(CameraStoreError) -> [CameraRecord] {
        try read { database in
            try Camera.all(database).map { camera in
                CameraRecord(camera: camera, profiles: try StreamProfile.all(of: camera.id, database))
            }
        }
    }
}
