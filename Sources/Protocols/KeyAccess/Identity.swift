/// Who a token names: issuer and subject together, compared as bytes. "alice" of one issuer is unknown at another.
public struct Identity: Sendable {
    /// How policies (`dissem`), rules, registrations and audit lines write it: the subject alone when it comes from the
    /// default issuer, else `ISSUER SUBJECT` with one space. No two identities share a string.
    public let text: String
    private let qualified: String

    /// - Parameters:
    ///   - issuer: `iss`; white space in it is written as `%20`.
    ///   - subject: `sub`, which may hold anything.
    ///   - defaultIssuer: whose subjects need no issuer before their name.
    public init(issuer: String, subject: String, defaultIssuer: String) {
        qualified =
            issuer.split(separator: " ", omittingEmptySubsequences: false).joined(separator: "%20") + " " + subject
        // A subject with a space could be read as another issuer's.
        let isPlain = Self.equal(issuer, defaultIssuer) && !subject.utf8.contains(UInt8(ascii: " "))
        text = isPlain ? subject : qualified
    }

    /// Whether a name in a policy means this identity: its text, or issuer and subject.
    public func matches(_ name: String) -> Bool {
        Self.equal(name, text) || Self.equal(name, qualified)
    }

    /// Swift's own comparison takes canonically equivalent texts for the same.
    private static func equal(_ left: String, _ right: String) -> Bool {
        left.utf8.elementsEqual(right.utf8)
    }
}

extension Identity: Hashable {
    public static func == (left: Identity, right: Identity) -> Bool { equal(left.text, right.text) }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
