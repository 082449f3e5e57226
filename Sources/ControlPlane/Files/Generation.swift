internal import BoxConfiguration

/// One configuration that was put to use: what came of it, and everything that it came from.
struct Generation: Codable, Equatable, Sendable {
    /// A file of the operator's, as it was read.
    struct KeptFile: Codable, Equatable, Sendable {
        var name: String
        var text: String
    }

    var schema = "watchbox.generation/1"
    var number: Int
    /// Seconds since 1970.
    var time: Int64
    /// `boot`, `config apply`, `camera add front`, `rollback to 26`, `taken back` ….
    var cause: String
    var settings: BoxSettings
    /// The files that it was made of, so that a store's change does not read half-edited ones.
    var files: [KeptFile]
    /// Files that were on disk and were not used, because somebody went back. While they are the same, a start does
    /// not use them either.
    var ignoredFiles: [KeptFile]?
    var store: StoreContent

    init(
        number: Int, time: Int64, cause: String, settings: BoxSettings, files: [KeptFile],
        ignoredFiles: [KeptFile]? = nil, store: StoreContent
    ) {
        self.number = number
        self.time = time
        self.cause = cause
        self.settings = settings
        self.files = files
        self.ignoredFiles = ignoredFiles
        self.store = store
    }

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
