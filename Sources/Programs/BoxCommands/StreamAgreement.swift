import Wire

/// Whether archives are all of one stream, as their verified policies say: whoever can write to a directory or to a binder can put any there.
struct StreamAgreement {
    private var first: String??

    /// - Parameter stream: of one archive; nil: its policy names none.
    /// - Returns: why it does not go with those before it; nil: it does.
    mutating func disagreement(_ stream: String?) -> String? {
        let first = self.first ?? stream
        self.first = first
        guard first != stream else { return nil }
        return "its policy says that it is of \(Self.text(stream)), and those before it are of \(Self.text(first))"
    }

    private static func text(_ stream: String?) -> String {
        stream.map { "the stream '\(ShownText.line($0, bytes: 60, mark: "…"))'" } ?? "no stream"
    }
}
