internal import FoundationEssentials
internal import Settings

/// A camera that a command added.
struct StoredCamera: Codable, Equatable, Sendable, Identifiable {
    /// `[a-z0-9](-?[a-z0-9])*`, at most 24 characters: it becomes the instance of a unit, a user name and a path. Only a
    /// renaming changes it.
    var id: String
    /// Lower-case UUID, unique; for what must not mistake a camera for a later one with the same `id`.
    var uuid = UUID().uuidString.lowercased()
    /// For people.
    var name: String
    /// Never with a user or a password.
    var source: String
    /// Whom to log in as.
    var user: String?
    /// Whether it is meant to publish.
    var isActive = true
    /// Where it stands in the grid, from 0.
    var gridPosition = 0
    /// Unix seconds.
    var added: Int64
    /// Settings of the stream by name, as `BoxConfiguration` knows them.
    var settings: [String: SettingValue] = [:]
    /// The generation with which it last changed: its revision.
    var changed = 0
}

extension StoredCamera {
    /// With those that are fields of it.
    var allSettings: [String: SettingValue] {
        var settings = settings
        settings["name"] = .string(name)
        settings["source"] = .string(source)
        settings["active"] = .boolean(isActive)
        settings["grid"] = .integer(Int64(gridPosition))
        settings["user"] = user.map { .string($0) }
        return settings
    }

    /// A camera from its part of a configuration, with the default of what that does not say. A new one has the position
    /// behind the others.
    init(_ id: String, settings: [String: SettingValue], known: StoredCamera?, now: Int64, position: Int) {
        self = known ?? StoredCamera(id: id, name: id, source: "", gridPosition: position, added: now)
        name = id
        user = nil
        isActive = true
        if case .string(let text)? = settings["name"] { name = text }
        if case .string(let text)? = settings["source"] { source = text }
        if case .string(let text)? = settings["user"] { user = text }
        if case .boolean(let active)? = settings["active"] { isActive = active }
        if case .integer(let grid)? = settings["grid"] {
            gridPosition = Int(clamping: grid)
        } else if known != nil {
            gridPosition = 0
        }
        self.settings = settings.filter { !StoreContent.cameraFields.contains($0.key) }
    }
}

extension StoredCamera: StoredFields {
    static let fields = Set(CodingKeys.allCases.map(\.rawValue))
    static let formerFields: Set<String> = [RecordKeys.camera.rawValue]

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case id, uuid, name, source, user, isActive, gridPosition, added, settings, changed
    }

    /// Until `watchbox.generation/2` a camera was inside a record.
    private enum RecordKeys: String, CodingKey { case camera }

    init(from decoder: any Decoder) throws {
        let record = try decoder.container(keyedBy: RecordKeys.self)
        let values =
            record.contains(.camera)
            ? try record.nestedContainer(keyedBy: CodingKeys.self, forKey: .camera)
            : try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            id: try values.decode(String.self, forKey: .id), uuid: try values.decode(String.self, forKey: .uuid),
            name: try values.decode(String.self, forKey: .name),
            source: try values.decode(String.self, forKey: .source),
            user: try values.decodeIfPresent(String.self, forKey: .user),
            isActive: try values.decode(Bool.self, forKey: .isActive),
            gridPosition: try values.decode(Int.self, forKey: .gridPosition),
            added: try values.decode(Int64.self, forKey: .added),
            settings: try values.decode([String: SettingValue].self, forKey: .settings),
            changed: try values.decodeIfPresent(Int.self, forKey: .changed) ?? 0)
    }
}
