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
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        guard try fields.decode(Int64.self, forKey: .version) == KeyTable.version else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: fields, debugDescription: "is a version that this WatchBox does not know")
        }
        let objects = try fields.decode([String: [String: SettingValue]].self, forKey: .objects)
        let parts = objects.map { StoredPart(object: $0.key, settings: $0.value) }
        let (settings, issues) = ConfigurationReader.read(files: [], stored: parts)
        guard var settings else {
            let reasons = issues.filter { !$0.isWarning }.prefix(3).map(\.description)
            throw DecodingError.dataCorruptedError(
                forKey: .objects, in: fields, debugDescription: reasons.joined(separator: "\n"))
        }
        let origins = try fields.decodeIfPresent([String: String].self, forKey: .origins) ?? [:]
        settings.origins = origins.filter { objects[$0.key] != nil }
        self = settings
    }
}
