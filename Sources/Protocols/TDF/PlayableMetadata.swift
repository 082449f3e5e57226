internal import Wire

/// What `encryptedMetadata` of profile P says: base64 of its JSON, and in spite of its name not encrypted.
public struct PlayableMetadata: Codable, Equatable, Sendable {
    public static let type = "fmp4-fairplay"
    public static let encryption = "cbcs-1-9"

    /// `fmp4-fairplay`
    public var type: String
    public var assetId: String
    public var playlistFilename: String
    public var initFilename: String
    /// In the order of the film.
    public var segmentFilenames: [String]
    /// `cbcs-1-9`
    public var encryption: String
    /// ISO 8601 in whole seconds, UTC.
    public var protectedAt: String
    /// SHA-256 of each file but the manifest, in lower-case hexadecimal digits. Others write none.
    public var sha256: [String: String]?

    /// - Parameter hashes: of playlist, initialization segment and segments, by their names.
    public init(assetID: String, segmentCount: Int, protectedAt: String, hashes: [String: [UInt8]]) {
        type = Self.type
        assetId = assetID
        playlistFilename = PlayableContainer.playlistName
        initFilename = PlayableContainer.initName
        segmentFilenames = (0..<segmentCount).map(PlayableContainer.segmentName)
        encryption = Self.encryption
        self.protectedAt = protectedAt
        sha256 = hashes.mapValues { Hexadecimal.encode($0) }
    }

    /// Playlist, initialization segment and segments.
    public var files: [String] { [playlistFilename, initFilename] + segmentFilenames }

    /// Whether it is one that is read here; the hash of each file, by its name.
    public func hashes() throws(TDFError) -> [String: [UInt8]] {
        try Self.require("type", type, Self.type)
        try Self.require("encryption", encryption, Self.encryption)
        // It tells the file from one of another profile before anything in it is read.
        try Self.require("playlistFilename", playlistFilename, PlayableContainer.playlistName)
        let counts = 1...PlayableContainer.maxSegments
        guard counts.contains(segmentFilenames.count) else {
            throw .manifest(path: "\(Self.path).segmentFilenames", .count(segmentFilenames.count, counts))
        }
        guard PlayableContainer.isName(assetId) else {
            throw .manifest(path: "\(Self.path).assetId", .unreadable("it has other characters than names have"))
        }
        guard Set(files).count == files.count, files.allSatisfy(PlayableContainer.isName) else {
            throw .manifest(path: "\(Self.path).segmentFilenames", .unreadable("a name is there twice, or is none"))
        }
        var hashes: [String: [UInt8]] = [:]
        for name in files {
            guard let text = sha256?[name], text.utf8.count == 64, let hash = try? Hexadecimal.decode(text) else {
                throw .manifest(path: "\(Self.path).sha256", .unreadable("it lacks 64 digits for \(name)"))
            }
            hashes[name] = hash
        }
        return hashes
    }

    private static let path = "encryptionInformation.keyAccess.[0].encryptedMetadata"

    private static func require(_ member: String, _ found: String, _ expected: String) throws(TDFError) {
        guard found == expected else {
            throw .manifest(
                path: "\(path).\(member)",
                .unsupported(found: ShownText.ascii(found, limit: 40, replacing: "?"), expected: expected))
        }
    }
}
