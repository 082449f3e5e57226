internal import ControlAPI
internal import Settings

/// A named thing that a command added: a relay, a hook, the KAS, settings of the box.
struct StoredObject: Codable, Equatable, Sendable {
    var kind: String
    /// Unique within its kind.
    var name: String
    var settings: [String: SettingValue]
    /// As of a camera.
    var changed = 0
}

extension StoredObject: StoredFields {
    static let fields = Set(CodingKeys.allCases.map(\.rawValue))
    static let formerFields: Set<String> = [FormerKeys.json.rawValue]

    private enum CodingKeys: String, CodingKey, CaseIterable { case kind, name, settings, changed }

    /// Until `watchbox.generation/2` the settings were a string.
    private enum FormerKeys: String, CodingKey { case json }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let text = try decoder.container(keyedBy: FormerKeys.self).decodeIfPresent(String.self, forKey: .json)
        self.init(
            kind: try values.decode(String.self, forKey: .kind), name: try values.decode(String.self, forKey: .name),
            settings: try text.map { try JSONDocument.decode([String: SettingValue].self, from: Array($0.utf8)) }
                ?? values.decode([String: SettingValue].self, forKey: .settings),
            changed: try values.decodeIfPresent(Int.self, forKey: .changed) ?? 0)
    }
}
