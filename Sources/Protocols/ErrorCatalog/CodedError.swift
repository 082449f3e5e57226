/// An error that carries its code: what a person reads has the same three parts everywhere.
public struct CodedError: Error, Equatable, Sendable, CustomStringConvertible {
    public var code: ErrorCode
    /// What happened, in this case; never a secret.
    public var what: String
    /// Why; nil for the catalog's text.
    public var why: String?
    /// What to do next; nil for the catalog's text.
    public var hint: String?
    /// The camera, relay or file that it is about.
    public var object: String?

    public init(_ code: ErrorCode, _ what: String, why: String? = nil, hint: String? = nil, object: String? = nil) {
        self.code = code
        self.what = what
        self.why = why
        self.hint = hint
        self.object = object
    }

    public var description: String {
        let why = why ?? code.entry?.cause
        let hint = hint ?? code.entry?.hint
        // Whole sentences keep their own full stop.
        return ["\(code) \(what)", why, hint.map { "Next: \($0)" }].compactMap { $0 }
            .map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 }
            .joined(separator: ". ")
    }
}
