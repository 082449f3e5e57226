internal import TOML

/// Cameras as TOML: one table `camera.ID` for each, in the words of the operator's configuration.
///
/// It holds no secrets: `secret` names one that the box keeps. Thumbnails, revisions and when a camera last delivered
/// belong to one box and are left out.
enum CameraTOML {
    /// Keys of a camera's table that are not settings.
    static let fields: Set<String> = [
        "id", "uuid", "name", "source", "user", "address", "port", "manufacturer", "model", "firmware", "active",
        "grid", "added", "identity", "profiles",
    ]
    static let profileFields: Set<String> = [
        "id", "name", "source", "width", "height", "rate", "codec", "default", "bitrate", "gop", "service", "snapshot",
    ]
    static let identityFields: Set<String> = ["onvif_endpoint", "serial", "mac", "usb"]

    /// Keys and entries of lists in a text from outside. So many fit into the 256 KiB that such a text may have at
    /// most, when it has nothing but short profiles.
    static let keyLimit = 65_536
    static let firstLine = "Cameras of a WatchBox. No passwords: `secret` names one that the box keeps."
}

extension CameraStore {
    /// All cameras with their profiles, to be read by `importTOML`.
    public func exportTOML() throws(CameraStoreError) -> String { try Self.exportTOML(try records()) }

    /// - Throws: `.invalid` for a record that the store would not take.
    public static func exportTOML(_ records: [CameraRecord]) throws(CameraStoreError) -> String {
        var writer = TOMLWriter()
        writer.comment(CameraTOML.firstLine)
        for record in records {
            try record.validate()
            CameraTOML.write(record, to: &writer)
        }
        return writer.text
    }

    /// Reads what `exportTOML` wrote, or a person by hand.
    ///
    /// - Parameters:
    ///   - text: at most 256 KiB.
    ///   - now: Unix seconds; when cameras were added that do not say so.
    /// - Throws: `.invalidText` with line and column, `.invalid` with the path of the key.
    public static func importTOML(_ text: String, now: Int64) throws(CameraStoreError) -> [CameraRecord] {
        try CameraTOML.read(text, now: now)
    }
}

extension CameraRecord {
    func validate() throws(CameraStoreError) {
        do {
            try camera.validate()
            try StreamProfile.validate(profiles, of: camera.id)
        } catch {
            throw error.within("camera.\(FieldRules.printable(camera.id))")
        }
    }
}
