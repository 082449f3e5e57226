internal import Settings

extension BoxSettings: Codable {
    private enum CodingKeys: String, CodingKey { case version, objects, origins }

    /// Every setting with its value, defaults included: a generation means the same when defaults change.
    public func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encode(KeyTable.version, forKey: .version)
        var all: [String: [String: SettingValue]] = [:]
        for object in objects { all[object] = values(object) }
        try fields.encode(all, forKey: .objects)
        try fields.encode(origins, forKey: .origins)
    }

    /// Checks as strictly as a file is checked.
    public init(from decoder: any Decoder) throws {
        let settings = try AdmittedSettings(from: decoder).settings
        guard settings.quarantined.isEmpty else {
            let issues = settings.quarantined.sorted { $0.key < $1.key }.flatMap(\.value.issues)
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: decoder.codingPath,
                    debugDescription: issues.prefix(3).map(\.description).joined(separator: "\n")))
        }
        self = settings
    }
}

/// Settings that another version may have written: what this one refuses of them is quarantined, object by object.
public struct AdmittedSettings: Decodable, Sendable {
    public let settings: BoxSettings

    private enum CodingKeys: String, CodingKey { case version, objects, origins }

    /// An object with a value that no setting has is refused like one with a value that its setting does not take.
    private struct Part: Decodable {
        var settings: [String: SettingValue] = [:]
        var isReadable = true

        init(from decoder: any Decoder) throws {
            do {
                settings = try [String: SettingValue](from: decoder)
            } catch {
                isReadable = false
            }
        }
    }

    public init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        guard try fields.decode(Int64.self, forKey: .version) == KeyTable.version else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: fields, debugDescription: "is a version that this WatchBox does not know")
        }
        let objects = try fields.decode([String: Part].self, forKey: .objects)
        let parts = objects.sorted { $0.key < $1.key }.map { object, part in
            StoredPart(
                object: object, settings: part.settings, fault: part.isReadable ? nil : "a value is no setting's")
        }
        // Without what was quarantined when it was written: that is another's fault, and not looked for here.
        let (settings, issues) = ConfigurationReader.admit(files: [], stored: parts, isPart: true)
        guard var settings else {
            let reasons = issues.filter { !$0.isWarning }.prefix(3).map(\.description)
            throw DecodingError.dataCorruptedError(
                forKey: .objects, in: fields, debugDescription: reasons.joined(separator: "\n"))
        }
        let origins = try fields.decodeIfPresent([String: String].self, forKey: .origins) ?? [:]
        settings.origins = origins.filter { objects[$0.key] != nil && settings.quarantined[$0.key] == nil }
        self.settings = settings
    }
}
