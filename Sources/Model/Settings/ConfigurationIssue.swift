public import ErrorCatalog

/// One thing that is wrong with the configuration, in the text that a person sees. Never holds a value, only names:
/// what is in the wrong place may be a secret.
public struct ConfigurationIssue: Codable, Equatable, Sendable, CustomStringConvertible {
    public var code: ErrorCode
    /// Name of the file, relative to the configuration directory; nil for what was added by command.
    public var file: String?
    /// From 1; nil when there is no file.
    public var line: Int?
    /// From 1, in characters.
    public var column: Int?
    /// `camera.front.bitrat`.
    public var key: String
    /// `is not known, did you mean "bitrate"?`
    public var reason: String
    /// What to write instead.
    public var hint: String
    /// The rest of the configuration can be used. For whoever reads the configuration, and not in JSON: there a
    /// document says whether all of it is valid.
    public var isWarning = false

    private enum CodingKeys: CodingKey { case code, file, line, column, key, reason, hint }

    public init(
        code: ErrorCode, file: String? = nil, line: Int? = nil, column: Int? = nil, key: String, reason: String,
        hint: String, isWarning: Bool = false
    ) {
        self.code = code
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.reason = reason
        self.hint = hint
        self.isWarning = isWarning
    }

    /// `watchbox.toml:12`, or `store`.
    public var place: String {
        guard let file else { return "store" }
        return line.map { "\(file):\($0)" } ?? file
    }

    public var description: String {
        "\(code) \(key.isEmpty ? place : "`\(key)` (\(place))") \(reason)\(reason.hasSuffix("?") ? "" : ".") \(hint)"
    }
}
