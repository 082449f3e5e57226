internal import ErrorCatalog
public import Settings
internal import TOML
internal import Wire

/// From text to checked settings.
public enum ConfigurationReader {
    /// More issues than this are not reported; no one reads them.
    public static let issueLimit = 200

    /// Merges files and store, and checks everything. What a file defines wins over the store, object by object; a
    /// warning names which stored object is hidden.
    ///
    /// - Returns: the settings, nil when some issue is not a warning; and all issues at once, files first, by line.
    public static func read(
        files: [SourceFile], stored: [StoredPart] = []
    ) -> (settings: BoxSettings?, issues: [ConfigurationIssue]) {
        var reading = Reading()
        if files.count > ConfigurationFiles.countLimit {
            reading.report(
                .unreadableFile, Place(), "", "There are more than \(ConfigurationFiles.countLimit) files",
                "Join some of them")
        }
        for (number, file) in files.prefix(ConfigurationFiles.countLimit).enumerated() {
            reading.add(file, number: number)
        }
        for part in stored { reading.add(part, number: files.count) }
        return reading.finish()
    }
}

/// Where an object is defined.
struct Place: Sendable {
    /// Nil: in the store.
    var file: String?
    /// Files in their order, then the store.
    var number = 0
    /// Of the object's own key in the file, and of the keys in it. Positions alone: Swift 6.3.1's optimiser crashes
    /// ("Found outside of lifetime use") where an optional node is unwrapped and kept.
    var keyPosition: TOMLPosition?
    var keyPositions: [String: TOMLPosition] = [:]

    func at(_ node: TOMLNode) -> Place {
        var place = self
        place.keyPosition = node.keyPosition
        place.keyPositions = [:]
        if case .table(let table) = node.value {
            for entry in table.entries { place.keyPositions[entry.key] = entry.node.keyPosition }
        }
        return place
    }

    /// Of a key of the object, or of the object itself.
    func position(_ key: String? = nil) -> TOMLPosition? {
        key.flatMap { keyPositions[$0] } ?? keyPosition
    }

    /// `conf.d/10-cams.toml:4`, or `store`.
    var origin: String {
        guard let file else { return "store" }
        return position().map { "\(file):\($0.line)" } ?? file
    }
}

/// An object as far as it was checked by itself.
struct Candidate {
    var definition: ObjectDefinition
    /// `camera.front`
    var object: String
    /// `front`; empty for the objects that have no name.
    var id: String
    var place: Place
    /// What fits its key.
    var values: [String: SettingValue] = [:]
    /// What was written, whether it fits or not.
    var written: Set<String> = []
}

/// One reading of all files and the store: collects objects and issues.
struct Reading {
    private var found: [(number: Int, issue: ConfigurationIssue)] = []
    private(set) var candidates: [String: Candidate] = [:]

    mutating func report(
        _ code: ErrorCode, _ place: Place, at position: TOMLPosition? = nil, _ key: String, _ reason: String,
        _ hint: String, isWarning: Bool = false
    ) {
        let issue = ConfigurationIssue(
            code: code, file: place.file, line: position?.line, column: position?.column, key: key, reason: reason,
            hint: hint, isWarning: isWarning)
        found.append((place.number, issue))
    }

    /// Of a key of an object.
    mutating func report(
        _ code: ErrorCode, _ candidate: Candidate, _ key: String?, _ reason: String, _ hint: String,
        isWarning: Bool = false
    ) {
        report(
            code, candidate.place, at: candidate.place.position(key),
            key.map { "\(candidate.object).\(KeyText.shown($0))" } ?? candidate.object, reason, hint,
            isWarning: isWarning)
    }

    // MARK: Files

    mutating func add(_ file: SourceFile, number: Int) {
        let place = Place(file: KeyText.shownFile(file.name), number: number)
        guard let document = document(file, place) else { return }
        for entry in document.entries where entry.key != "version" {
            guard KeyTable.object(entry.key) != nil else {
                reportUnknownObject(entry.key, place.at(entry.node))
                continue
            }
            add(entry, place)
        }
    }

    /// Nil when it is not TOML or of another version, which is reported then.
    mutating func document(_ file: SourceFile, _ place: Place) -> TOMLTable? {
        let document: TOMLTable
        do {
            document = try TOMLReader.read(file.text)
        } catch {
            report(error, place)
            return nil
        }
        return checkVersion(document["version"], place) ? document : nil
    }

    /// What is taken out of an object, or put into it, before its keys are checked; and what is wrong with some of its keys
    /// already, by their names.
    typealias Preparation = (Candidate, inout [String: WrittenValue]) -> [String: (code: ErrorCode, finding: Finding)]

    /// One object, or all of a kind; of an entry that has the name of one.
    mutating func add(_ entry: TOMLTable.Entry, _ place: Place, prepare: Preparation = { _, _ in [:] }) {
        let key = entry.key
        guard let definition = KeyTable.object(key) else { return }
        var place = place.at(entry.node)
        guard definition.isNamed else {
            define(definition, id: "", WrittenValue(entry.node.value), place, prepare)
            return
        }
        guard case .table(let objects) = entry.node.value else {
            report(
                .invalidValue, place, at: place.position(), key,
                "is \(WrittenValue(entry.node.value).kind), but must be a table",
                "Write [\(key).NAME], or \(key).NAME = { … }")
            return
        }
        for object in objects.entries {
            place = place.at(object.node)
            define(definition, id: object.key, WrittenValue(object.node.value), place, prepare)
        }
    }

    /// A file that cannot be used at all.
    private mutating func report(_ error: TOMLError, _ place: Place) {
        switch error.reason {
        case .tooLong(let limit):
            report(.unreadableFile, place, "", "is longer than \(limit >> 10) KiB", "Shorten it")
        case .redefined(let path):
            report(
                .invalidSyntax, place, at: error.position, "",
                "is not TOML: `\(KeyText.shown(path.joined(separator: ".")))` is defined twice",
                "Remove one of the two")
        case .complete(let path):
            report(
                .invalidSyntax, place, at: error.position, "",
                "is not TOML: `\(KeyText.shown(path.joined(separator: ".")))` is complete, nothing can be added to it",
                "Write all of it in one place")
        default:
            report(
                .invalidSyntax, place, at: error.position, "", "is not TOML: \(error.reason)", "Correct the line")
        }
    }

    private mutating func checkVersion(_ node: TOMLNode?, _ place: Place) -> Bool {
        guard let node else { return true }
        let place = place.at(node)
        let written = WrittenValue(node.value)
        switch written {
        case .integer(KeyTable.version): return true
        case .integer:
            report(
                .invalidValue, place, at: place.position(), "version", "is a version that this WatchBox does not know",
                "Use version = \(KeyTable.version), or install a newer WatchBox")
        default:
            report(
                .invalidValue, place, at: place.position(), "version",
                "is \(written.kind), but must be an integer",
                "Use version = \(KeyTable.version)")
        }
        return false
    }

    private mutating func reportUnknownObject(_ key: String, _ place: Place) {
        let names = KeyTable.objects.map(\.name) + ["version"]
        let meant = NearestName.nearest(key, in: names)
        var hint = meant.map { "Write `\($0)`" } ?? "Use one of \(names.joined(separator: ", "))"
        if meant == nil, let object = KeyTable.objects.first(where: { $0.key(key) != nil }) {
            hint = "It belongs in a table, such as [\(object.title)]"
        }
        report(
            .unknownKey, place, at: place.position(), KeyText.shown(key),
            "is not known\(meant.map { ", did you mean `\($0)`?" } ?? "")", hint)
    }

    private mutating func define(
        _ definition: ObjectDefinition, id: String, _ node: WrittenValue, _ place: Place, _ prepare: Preparation
    ) {
        let object = definition.isNamed ? "\(definition.name).\(KeyText.shown(id))" : definition.name
        guard !definition.isNamed || Names.isHyphenated(id, limit: 24) else {
            report(
                .invalidValue, place, at: place.position(), object,
                definition.name == "camera" ? "is not a camera ID" : "is not a \(definition.name)'s name",
                "Use 1 to 24 of a-z, 0-9 and single hyphens between them, such as \(definition.exampleName)"
            )
            return
        }
        guard case .table(var nodes) = node else {
            report(
                .invalidValue, place, at: place.position(), object, "is \(node.kind), but must be a table",
                "Write [\(object)], or \(object) = { … }")
            return
        }
        let candidate = Candidate(definition: definition, object: object, id: id, place: place)
        let complaints = prepare(candidate, &nodes)
        define(candidate, nodes, complaints)
    }

    // MARK: Store

    mutating func add(_ part: StoredPart, number: Int) {
        let place = Place(number: number)
        let parts = part.object.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let definition = KeyTable.object(parts[0]), definition.isNamed == (parts.count == 2) else {
            report(
                .unknownKey, place, KeyText.shown(part.object), "is not an object of the configuration",
                "Use camera.ID, relay.NAME, hook.NAME, kas, box, health, relay_server or kas_server")
            return
        }
        let id = parts.count == 2 ? parts[1] : ""
        if let other = candidates[part.object], other.place.file != nil {
            report(
                .definedInFile, place, part.object, "is hidden by \(other.place.origin)",
                "Remove one of the two", isWarning: true)
            return
        }
        define(definition, id: id, .table(part.settings.mapValues(WrittenValue.init)), place) { _, _ in [:] }
    }

    // MARK: Keys

    private mutating func define(
        _ candidate: Candidate, _ nodes: [String: WrittenValue],
        _ complaints: [String: (code: ErrorCode, finding: Finding)]
    ) {
        var candidate = candidate
        candidate.written = Set(nodes.keys)
        for (key, node) in nodes {
            if let complaint = complaints[key] {
                report(complaint.code, candidate, key, complaint.finding.reason, complaint.finding.hint)
                continue
            }
            guard let definition = candidate.definition.key(key) else {
                reportUnknownKey(key, candidate)
                continue
            }
            do {
                candidate.values[key] = try definition.check(node, of: candidate.object)
            } catch {
                report(.invalidValue, candidate, key, error.reason, error.hint)
            }
        }
        for key in candidate.definition.keys where key.isRequired && !candidate.written.contains(key.name) {
            report(
                .invalidValue, candidate.place, at: candidate.place.position(), "\(candidate.object).\(key.name)",
                "is missing", key.kind.hint)
        }
        if let other = candidates[candidate.object] {
            report(
                .invalidValue, candidate, nil, "is defined a second time; the first time is in \(other.place.origin)",
                "Remove one of the two")
        } else {
            candidates[candidate.object] = candidate
        }
    }

    private mutating func reportUnknownKey(_ key: String, _ candidate: Candidate) {
        if let hint = Self.hintForSecret(key, candidate) {
            report(.unknownKey, candidate, key, "is not known; secrets do not belong in the configuration", hint)
            return
        }
        let meant = NearestName.nearest(key, in: candidate.definition.keys.map(\.name))
        let home = KeyTable.objects.first { $0.key(key) != nil }
        let hint =
            meant.map { "Write `\($0)`" } ?? home.map { "It belongs to [\($0.title)]" }
            ?? "Use one of \(candidate.definition.keys.map(\.name).joined(separator: ", "))"
        report(
            .unknownKey, candidate, key, "is not known\(meant.map { ", did you mean `\($0)`?" } ?? "")", hint)
    }

    private static func hintForSecret(_ key: String, _ candidate: Candidate) -> String? {
        let names = ["password", "passwd", "pass", "pwd", "passphrase", "token", "stream_key", "key", "credentials"]
        guard names.contains(key.lowercased()) else { return nil }
        return switch candidate.definition.name {
        case "camera": "Run: watchboxctl camera password \(candidate.id)"
        case "relay": "Store the whole URL with: watchboxctl relay edit \(candidate.id) --secret-file FILE"
        case "hook":
            "Store the whole URL with: watchboxctl hook edit \(candidate.id) --url-file FILE; a token with --token-file FILE"
        case "kas": "Run: watchboxctl kas set --token-file FILE"
        default: "Take it out"
        }
    }

    // MARK: End

    mutating func finish() -> (settings: BoxSettings?, issues: [ConfigurationIssue]) {
        let settings = BoxSettings(candidates.values)
        check(settings)
        found.sort { one, other in
            (one.number, one.issue.line ?? 0, one.issue.column ?? 0, one.issue.key, one.issue.reason)
                < (other.number, other.issue.line ?? 0, other.issue.column ?? 0, other.issue.key, other.issue.reason)
        }
        let isUsable = found.allSatisfy(\.issue.isWarning)
        var issues = found.map(\.issue)
        if issues.count > ConfigurationReader.issueLimit {
            // Errors before warnings, so that what stops the configuration is not cut off.
            let limit = ConfigurationReader.issueLimit - 1
            let rest = issues.count - limit
            issues = Array((issues.filter { !$0.isWarning } + issues.filter(\.isWarning)).prefix(limit))
            issues.append(
                ConfigurationIssue(
                    code: isUsable ? .incompleteCamera : .invalidValue, key: "",
                    reason: "There are \(rest) more", hint: "Correct these first", isWarning: isUsable))
        }
        return (isUsable ? settings : nil, issues)
    }
}

extension BoxSettings {
    init(_ candidates: some Sequence<Candidate>) {
        self.init()
        for candidate in candidates {
            origins[candidate.object] = candidate.place.origin
            let values = candidate.values
            switch candidate.definition.name {
            case "box": take(values)
            case "relay": relays[candidate.id] = RelaySettings(values: values)
            case "kas": kas = KeyAccessSettings(values: values)
            case "camera": cameras[candidate.id] = CameraSettings(values: values)
            case "hook": hooks[candidate.id] = HookSettings(values: values)
            case "health": health = HealthSettings(values: values)
            case "relay_server": relayServer = RelayServerSettings(values: values)
            default: kasServer = KeyAccessServerSettings(values: values)
            }
        }
    }
}
