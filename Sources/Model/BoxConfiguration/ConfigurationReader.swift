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
    /// - Parameter isPart: it is not all of a configuration: what an object needs, such as a camera's relay, may be elsewhere.
    /// - Returns: the settings, nil when some issue is not a warning; and all issues at once, files first, by line.
    public static func read(
        files: [SourceFile], stored: [StoredPart] = [], isPart: Bool = false
    ) -> (settings: BoxSettings?, issues: [ConfigurationIssue]) {
        var reading = Reading(files: files, stored: stored)
        reading.isPart = isPart
        return reading.finish()
    }

    /// As `read`, object by object: one that is refused is left out whole and named in `quarantined`, and all others
    /// count. For what was accepted once, by another version; a change of somebody's is read with `read`.
    ///
    /// What a file refuses it still defines: a stored object of that name stays hidden.
    ///
    /// - Parameter isPart: as in `read`.
    /// - Returns: nil and why when something is wrong that is no object's, such as a file that is not TOML; else the
    ///   settings and the warnings.
    public static func admit(
        files: [SourceFile], stored: [StoredPart] = [], isPart: Bool = false
    ) -> (settings: BoxSettings?, issues: [ConfigurationIssue]) {
        var reading = Reading(files: files, stored: stored)
        reading.isPart = isPart
        return reading.admit()
    }
}

extension Reading {
    fileprivate init(files: [SourceFile], stored: [StoredPart]) {
        self.init()
        if files.count > ConfigurationFiles.countLimit {
            report(
                .unreadableFile, Place(), "", "There are more than \(ConfigurationFiles.countLimit) files",
                "Join some of them")
        }
        for (number, file) in files.prefix(ConfigurationFiles.countLimit).enumerated() {
            add(file, number: number)
        }
        for part in stored { add(part, number: files.count) }
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
    struct Fault {
        var number: Int
        /// That it is the fault of; none: of a whole file, or of all.
        var objects: [String]
        var issue: ConfigurationIssue
    }

    /// What an object needs may be elsewhere.
    var isPart = false
    var found: [Fault] = []
    var candidates: [String: Candidate] = [:]
    /// Where objects were found, whether they can be used or not.
    private(set) var places: [String: Place] = [:]

    /// - Parameter objects: without which it would not be wrong; none: it is no object's fault.
    mutating func report(
        _ code: ErrorCode, _ place: Place, at position: TOMLPosition? = nil, of objects: [String] = [], _ key: String,
        _ reason: String, _ hint: String, isWarning: Bool = false
    ) {
        let issue = ConfigurationIssue(
            code: code, file: place.file, line: position?.line, column: position?.column, key: key, reason: reason,
            hint: hint, isWarning: isWarning)
        found.append(Fault(number: place.number, objects: objects, issue: issue))
    }

    /// Of a key of an object.
    mutating func report(
        _ code: ErrorCode, _ candidate: Candidate, _ key: String?, _ reason: String, _ hint: String,
        isWarning: Bool = false
    ) {
        report(
            code, candidate.place, at: candidate.place.position(key), of: [candidate.object],
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
                .invalidValue, place, at: place.position(), of: [key], key,
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
            .unknownKey, place, at: place.position(), of: [KeyText.shown(key)], KeyText.shown(key),
            "is not known\(meant.map { ", did you mean `\($0)`?" } ?? "")", hint)
    }

    private mutating func define(
        _ definition: ObjectDefinition, id: String, _ node: WrittenValue, _ place: Place, _ prepare: Preparation
    ) {
        let object = definition.isNamed ? "\(definition.name).\(KeyText.shown(id))" : definition.name
        if places[object] == nil { places[object] = place }
        guard !definition.isNamed || Names.isHyphenated(id, limit: 24) else {
            report(
                .invalidValue, place, at: place.position(), of: [object], object,
                definition.name == "camera" ? "is not a camera ID" : "is not a \(definition.name)'s name",
                "Use 1 to 24 of a-z, 0-9 and single hyphens between them, such as \(definition.exampleName)"
            )
            return
        }
        guard case .table(var nodes) = node else {
            report(
                .invalidValue, place, at: place.position(), of: [object], object,
                "is \(node.kind), but must be a table",
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
        if let fault = part.fault {
            let object = StoredPart.shown(part.object)
            guard isFree(object, place) else { return }
            if places[object] == nil { places[object] = place }
            report(
                .invalidValue, place, of: [object], object, "cannot be read by this version: \(fault)",
                "Run the version that wrote it, or write the object anew")
            return
        }
        guard let definition = KeyTable.object(parts[0]), definition.isNamed == (parts.count == 2) else {
            report(
                .unknownKey, place, of: [StoredPart.shown(part.object)], StoredPart.shown(part.object),
                "is not an object of the configuration",
                "Use camera.ID, relay.NAME, hook.NAME, kas, box, health, relay_server or kas_server")
            return
        }
        let id = parts.count == 2 ? parts[1] : ""
        guard isFree(part.object, place) else { return }
        define(definition, id: id, .table(part.settings.mapValues(WrittenValue.init)), place) { _, _ in [:] }
    }

    /// Whether no file defines it, however; a warning names the one that does.
    private mutating func isFree(_ object: String, _ place: Place) -> Bool {
        guard let other = places[object], other.file != nil else { return true }
        report(
            .definedInFile, place, of: [object], object, "is hidden by \(other.origin)", "Remove one of the two",
            isWarning: true)
        return false
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
                .invalidValue, candidate.place, at: candidate.place.position(), of: [candidate.object],
                "\(candidate.object).\(key.name)", "is missing", key.kind.hint)
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
}
