internal import Wire

/// What a process leaves with systemd (`STATUS=`) when it cannot go on: the text outlives it, until its unit is started
/// again, and whoever may look at the unit learns why it ended instead of a number.
extension CodedError {
    /// Before the code, so that no other status is taken for the reason of an end.
    private static let endMark = "cannot run: "
    private static let nextMark = " Next: "
    /// Bytes of what and why, and of the next step: whoever reads units keeps 512 of the whole line.
    private static let reasonLimit = 336
    private static let nextLimit = 140

    /// One line of at most 512 bytes: `cannot run: WB-2005 cannot open film.mp4: Permission denied. Next: …`.
    public var endLine: String {
        let reason = Self.line(why.map { "\(what): \($0)" } ?? what, limit: Self.reasonLimit)
        let step = hint.map { Self.nextMark + Self.line($0, limit: Self.nextLimit) } ?? ""
        return "\(Self.endMark)\(code) \(reason.isSentence ? reason : reason + ".")\(step)"
    }

    /// Reads `endLine`, which any process may have written as it likes.
    ///
    /// - Returns: nil for a string that is not such a line, or has a code that the catalog does not know. What and why are
    ///   in `what`.
    public init?(endLine: String) {
        guard endLine.utf8.count <= 1024, endLine.hasPrefix(Self.endMark) else { return nil }
        let line = Self.line(String(endLine.dropFirst(Self.endMark.count)), limit: 512)
        let word = line.prefix { $0 != " " }
        guard word.hasPrefix("WB-"), let code = ErrorCode(word), code.entry != nil else { return nil }
        var reason = line.dropFirst(word.count + 1)
        var hint: String?
        if let mark = reason.ranges(of: Self.nextMark).last {
            hint = String(reason[mark.upperBound...])
            reason = reason[..<mark.lowerBound]
        }
        if reason.last == "." { reason.removeLast() }
        guard !reason.isEmpty else { return nil }
        self.init(code, String(reason), hint: hint.flatMap { $0.isEmpty ? nil : $0 })
    }

    /// Without line ends and other control characters, and cut between two characters.
    private static func line(_ text: String, limit: Int) -> String {
        ShownText.line(text, bytes: limit, mark: "…")
    }
}

extension String {
    fileprivate var isSentence: Bool { last.map { ".!?…".contains($0) } ?? false }
}
