internal import BoxConfiguration

/// One configuration that was put to use: the result, and everything that it was made from. The newest one is the box's
/// configuration; nothing else on the disk is.
struct Generation: Codable, Equatable, Sendable {
    /// A file of the operator's, as it was read.
    struct KeptFile: Codable, Equatable, Sendable {
        var name: String
        var text: String
    }

    static let currentSchema = "watchbox.generation/2"
    /// Those that can be read.
    static let schemas = ["watchbox.generation/1", currentSchema]

    private enum CodingKeys: String, CodingKey {
        case schema, number, time, cause, settings, files, ignoredFiles, store
    }

    var schema = Generation.currentSchema
    var number: Int
    /// Seconds since 1970.
    var time: Int64
    /// `boot`, `config apply`, `camera add front`, `rollback to 26`, `taken back` ….
    var cause: String
    var settings: BoxSettings
    /// The files that it was made of, so that a command does not read half-edited ones.
    var files: [KeptFile]
    /// Files that were on disk and were not used, because somebody went back. While they are the same, a start does
    /// not use them either.
    var ignoredFiles: [KeptFile]?
    /// What commands added.
    var store: StoreContent

    /// What runs before there was any.
    static let none = Generation(
        number: 0, time: 0, cause: "", settings: BoxSettings(), files: [], store: StoreContent())
}

extension [Generation.KeptFile] {
    init(_ files: [SourceFile]) {
        self = files.map { Generation.KeptFile(name: $0.name, text: $0.text) }
    }

    var sources: [SourceFile] { map { SourceFile(name: $0.name, text: $0.text) } }
}

extension Generation {
    /// Of whatever version wrote it: what this one refuses of its settings and its store is quarantined, object by object.
    init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            schema: try fields.decode(String.self, forKey: .schema),
            number: try fields.decode(Int.self, forKey: .number), time: try fields.decode(Int64.self, forKey: .time),
            cause: try fields.decode(String.self, forKey: .cause),
            settings: try fields.decode(AdmittedSettings.self, forKey: .settings).settings,
            files: try fields.decode([KeptFile].self, forKey: .files),
            ignoredFiles: try fields.decodeIfPresent([KeptFile].self, forKey: .ignoredFiles),
            store: try fields.decode(StoreContent.self, forKey: .store))
    }
}
