internal import FoundationEssentials
internal import TDF
internal import Wire

/// What a binder has in it, as its `index.json` says (docs/ref/archive-format.md).
public struct BinderIndex: Codable, Equatable, Sendable {
    /// A recording. All of it but the hash is said by its name and its entry as well.
    public struct Recording: Codable, Equatable, Sendable {
        /// Of the entry.
        public var name: String
        /// When its first frame was captured, ISO 8601 with milliseconds.
        public var begin: String
        /// Milliseconds.
        public var duration: Int
        public var bytes: Int
        /// Of all these bytes, hexadecimal.
        public var sha256: String

        init(_ name: RecordingName, bytes: Int64, sha256: [UInt8]) {
            self.name = name.fileName
            begin = BinderIndex.text(name.begin)
            duration = Int(name.duration)
            self.bytes = Int(bytes)
            self.sha256 = Hexadecimal.encode(sha256)
        }
    }

    static let currentSchema = "watchbox.binder/1"
    /// Bytes of a text that is shown.
    private static let maxTextLength = 64

    public var schema: String
    /// Whose recordings they are, as whoever bound them said.
    public var camera: String
    /// The time that was asked for, ISO 8601.
    public var from: String
    public var to: String
    /// In the order in which they were made.
    public var recordings: [Recording]

    /// - Parameters:
    ///   - from: milliseconds since 1970, as `to`.
    init(camera: String, from: Int64, to: Int64, recordings: [Recording]) {
        schema = Self.currentSchema
        self.camera = camera
        self.from = Self.text(from)
        self.to = Self.text(to)
        self.recordings = recordings
    }

    init(json: [UInt8]) throws(TDFError) {
        do throws(TDFError) {
            self = try ManifestJSON.decode(Self.self, json)
        } catch {
            guard case .manifest(let path, let fault) = error else { throw error }
            throw .index(path: path, fault)
        }
    }

    /// Whether it says of itself and of each recording what is there.
    ///
    /// - Parameter entries: in the order of their data.
    /// - Returns: the names and hashes of the recordings.
    func checked(_ entries: [ZIPEntry]) throws(TDFError) -> [(name: RecordingName, sha256: [UInt8])] {
        guard schema == Self.currentSchema else {
            throw .index(path: "schema", .unsupported(found: Self.shown(schema), expected: Self.currentSchema))
        }
        for (path, text) in [("camera", camera), ("from", from), ("to", to)]
        where text.utf8.count > Self.maxTextLength {
            throw .index(path: path, .count(text.utf8.count, 0...Self.maxTextLength))
        }
        guard (1...BinderContainer.maxRecordings).contains(recordings.count) else {
            throw .index(path: "recordings", .count(recordings.count, 1...BinderContainer.maxRecordings))
        }
        guard recordings.count == entries.count else {
            throw .index(
                path: "recordings",
                .differs(found: "\(recordings.count) of them", expected: "\(entries.count) entries beside it"))
        }
        var checked: [(name: RecordingName, sha256: [UInt8])] = []
        checked.reserveCapacity(recordings.count)
        for (index, (recording, entry)) in zip(recordings, entries).enumerated() {
            checked.append(try Self.checked(recording, entry, after: checked.last?.name, at: "recordings.[\(index)]"))
        }
        return checked
    }

    private static func checked(
        _ recording: Recording, _ entry: ZIPEntry, after former: RecordingName?, at path: String
    ) throws(TDFError) -> (name: RecordingName, sha256: [UInt8]) {
        // The names of recordings have neither directories nor anything else that an unpacker could be led astray by.
        guard let name = RecordingName(entry.name) else {
            throw .container(.unexpectedEntry(Self.shown(entry.name)), offset: entry.offset)
        }
        guard recording.name == entry.name else {
            throw .index(
                path: "\(path).name", .differs(found: Self.shown(recording.name), expected: name.fileName))
        }
        guard let sha256 = try? Hexadecimal.decode(recording.sha256), sha256.count == 32 else {
            throw .index(
                path: "\(path).sha256",
                .unsupported(found: Self.shown(recording.sha256), expected: "a SHA-256 in hexadecimal digits"))
        }
        let real = Recording(name, bytes: entry.size, sha256: sha256)
        for (member, found, expected) in [
            ("begin", recording.begin, real.begin), ("duration", "\(recording.duration)", "\(real.duration)"),
            ("bytes", "\(recording.bytes)", "\(real.bytes)"),
        ] where found != expected {
            throw .index(path: "\(path).\(member)", .differs(found: Self.shown(found), expected: expected))
        }
        if let former, former.sequence >= name.sequence {
            throw .index(path: "\(path).name", .unreadable("its number is not behind that of the one before it"))
        }
        return (name, sha256)
    }

    private static func shown(_ text: String) -> String { ShownText.ascii(text, limit: 80, replacing: "?") }

    /// ISO 8601 with milliseconds, UTC, of the years 1970 to 9999.
    private static func text(_ milliseconds: Int64) -> String {
        let time = min(max(milliseconds, 0), 253_402_300_799_999)
        let seconds = Date(timeIntervalSince1970: Double(time / 1000)).formatted(.iso8601)
        let rest = String(time % 1000)
        return "\(seconds.dropLast()).\(String(repeating: "0", count: 3 - rest.count))\(rest)Z"
    }
}
