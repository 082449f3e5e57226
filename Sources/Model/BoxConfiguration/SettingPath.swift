public import ErrorCatalog
public import Settings
internal import TOML

/// One setting by where it is: `camera.front.bitrate`, `kas.url`, `box.name`.
public struct SettingPath: Equatable, Sendable {
    /// `camera.front`, `kas`
    public let object: String
    public let key: String
    private let definition: KeyDefinition

    public static func == (one: SettingPath, other: SettingPath) -> Bool {
        one.object == other.object && one.key == other.key
    }

    /// - Throws: WB-1003 for what the configuration does not know, with the nearest that it knows.
    public init(_ text: String) throws(CodedError) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let table = parts.first, let found = KeyTable.object(table) else {
            throw Self.unknown(text, parts.first ?? "", among: KeyTable.objects.map(\.name), before: "")
        }
        guard parts.count == (found.isNamed ? 3 : 2), let key = parts.last else {
            throw CodedError(
                .unknownKey, "\"\(text.prefix(128))\" is not a setting",
                hint: "Name it as \(found.title).\(found.keys.first?.name ?? "KEY")")
        }
        object = parts.dropLast().joined(separator: ".")
        guard let definition = found.key(key) else {
            throw Self.unknown(text, key, among: found.keys.map(\.name), before: object + ".")
        }
        self.key = key
        self.definition = definition
    }

    private static func unknown(_ text: String, _ part: String, among known: [String], before: String) -> CodedError {
        let near = NearestName.nearest(part, in: known)
        return CodedError(
            .unknownKey, "there is no setting \"\(text.prefix(128))\"",
            hint: near.map { "Did you mean \(before)\($0)?" } ?? "Use one of \(known.joined(separator: ", "))")
    }

    /// What a person wrote on a command line; whether it is in range is for the reader.
    fileprivate func value(_ text: String) throws(CodedError) -> SettingValue {
        switch definition.kind {
        case .integer, .numbers:
            if let number = Int64(text) { return .integer(number) }
        case .real:
            if let number = Double(text), number.isFinite { return .real(number) }
        case .boolean:
            if let flag = Bool(text) { return .boolean(flag) }
        case .strings, .choices, .masks, .controls, .networks, .hosts, .weekSpans:
            guard text.hasPrefix("[") else { return .strings(text.isEmpty ? [] : [text]) }
            if let table = try? TOMLReader.read("value = \(text)"), let node = table.entries.first?.node,
                table.entries.count == 1, let value = WrittenValue(node.value).value
            {
                return value
            }
        case .text, .identifier, .secretName, .streamName, .source, .relayURL, .keyAccessURL, .hookURL, .listenAddress,
            .path, .size, .choice, .host, .audioDevice, .certificatePin, .macAddress,
            .rsaPublicKey:
            return .string(text)
        }
        throw CodedError(
            .invalidValue, "\(object).\(key) cannot be \"\(text.prefix(128))\"", why: "it is \(definition.kind.spoken)",
            hint: "See: watchboxctl config schema --markdown")
    }
}

extension KeyDefinition.Kind {
    fileprivate var spoken: String {
        switch self {
        case .integer, .numbers: "an integer"
        case .real: "a number"
        case .boolean: "true or false"
        case .strings, .choices, .masks, .controls, .networks, .hosts, .weekSpans:
            "a string, or a list such as [\"one\", \"two\"]"
        default: "a string"
        }
    }
}

extension BoxSettings {
    /// Reads what `toml()` has written.
    ///
    /// - Throws: what is wrong with it, when a newer WatchBox has written it.
    public init(exported text: String) throws(CodedError) {
        let (settings, issues) = ConfigurationReader.read(
            files: [SourceFile(name: "config", text: text)], isPart: true)
        guard let settings else {
            let first = issues.first { !$0.isWarning }
            throw CodedError(first?.code ?? .invalidValue, "the box's configuration cannot be read", why: first?.reason)
        }
        self = settings
    }

    /// Its value, the default when it is not set; nil: it has none.
    ///
    /// - Throws: WB-8003 when there is no such object.
    public func value(of path: SettingPath) throws(CodedError) -> SettingValue? {
        guard let values = values(path.object) else { throw Self.missing(path) }
        return values[path.key]
    }

    /// TOML of the path's object alone, with another value there; for an import that replaces it.
    ///
    /// - Parameter text: as on a command line; nil takes the setting away, so that the default holds.
    /// - Throws: WB-8003 when there is no such object, WB-1004 for a value of another kind.
    public func toml(setting path: SettingPath, to text: String?) throws(CodedError) -> String {
        var part = part(path.object)
        // Not there before it is set.
        if part == nil, path.object == "kas" { part = StoredPart(object: "kas", settings: [:]) }
        guard var settings = part?.settings else { throw Self.missing(path) }
        settings[path.key] = try text.map { text throws(CodedError) in try path.value(text) }
        var writer = TOMLWriter()
        writer.line("version", .integer(KeyTable.version))
        let names = path.object.split(separator: ".", maxSplits: 1).map(String.init)
        writer.table(names)
        for key in KeyTable.object(names[0])?.keys ?? [] {
            if let value = settings[key.name] { writer.line(key.name, value.toml) }
        }
        return writer.text
    }

    private static func missing(_ path: SettingPath) -> CodedError {
        CodedError(
            .notFound, "there is no \(path.object)", hint: "See what there is: watchboxctl config show --origin",
            object: path.object)
    }
}

extension SettingValue {
    /// As a script needs it: strings without quotes, lists a line each.
    public var plain: String {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .boolean(let flag): "\(flag)"
        case .strings(let list): list.joined(separator: "\n")
        }
    }
}
