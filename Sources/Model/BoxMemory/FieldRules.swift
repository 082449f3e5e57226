internal import Wire

/// What strings from outside may look like.
enum FieldRules {
    /// Keys that hold a secret wherever they occur.
    static let secretKeys: Set<String> = [
        "password", "passwd", "pwd", "passphrase", "token", "private_key", "privatekey",
    ]
    private static let sourceSchemes: Set<String> = [
        "test", "file", "v4l2", "csi", "rtsp", "rtsps", "onvif", "http", "https",
    ]

    /// Free text for people.
    static func text(_ text: String?, _ field: String, limit: Int) throws(BoxMemoryError) {
        guard let text else { return }
        // A character can be any number of bytes long; an emoji of a family has 25.
        guard text.utf8.count <= limit * 32, text.count <= limit, !text.isEmpty else {
            throw .invalid(field: field, why: "it has 1 to \(limit) characters")
        }
        guard ShownText.isPrintable(text) else {
            throw .invalid(field: field, why: "it has control characters")
        }
    }

    /// A source of media, without user or password.
    static func source(_ source: String, _ field: String) throws(BoxMemoryError) {
        guard source.utf8.count <= 2048 else { throw .invalid(field: field, why: "it has more than 2048 bytes") }
        try text(source, field, limit: 2048)
        guard let colon = source.firstIndex(of: ":"), sourceSchemes.contains(String(source[..<colon])) else {
            throw .invalid(
                field: field,
                why: "it begins with test:, file:, v4l2:, csi:, rtsp://, rtsps://, onvif://, http:// or https://")
        }
        let rest = source[source.index(after: colon)...]
        guard ["rtsp", "rtsps", "onvif", "http", "https"].contains(source[..<colon]) else { return }
        try location(rest, field)
    }

    /// `http://…` or `https://…`, without user or password.
    static func webAddress(_ address: String, _ field: String) throws(BoxMemoryError) {
        guard address.utf8.count <= 2048 else { throw .invalid(field: field, why: "it has more than 2048 bytes") }
        try text(address, field, limit: 2048)
        guard let colon = address.firstIndex(of: ":"), ["http", "https"].contains(address[..<colon]) else {
            throw .invalid(field: field, why: "it begins with http:// or https://")
        }
        try location(address[address.index(after: colon)...], field)
    }

    /// What follows the scheme and its colon.
    private static func location(_ rest: Substring, _ field: String) throws(BoxMemoryError) {
        guard rest.hasPrefix("//") else { throw .invalid(field: field, why: "it needs // and an address") }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else {
            throw .invalid(
                field: field, why: "it names a user; give the user and the password to `watchboxctl camera password`")
        }
        guard !authority.isEmpty else { throw .invalid(field: field, why: "it has no address") }
        guard !holdsPassword(rest.dropFirst(2 + authority.count)) else {
            throw .invalid(
                field: field, why: "it holds a password; give it to `watchboxctl camera password` instead")
        }
    }

    /// `password=…` in a path or a query, as some makers document their URLs.
    private static func holdsPassword(_ text: Substring) -> Bool {
        text.lowercased().split(whereSeparator: { "/?&;#_ ".contains($0) }).contains { part in
            guard let equals = part.firstIndex(of: "="), part.index(after: equals) != part.endIndex else {
                return false
            }
            return ["password", "passwd", "pwd", "pass"].contains(part[..<equals])
        }
    }

    static func address(_ address: String?, _ field: String) throws(BoxMemoryError) {
        guard let address else { return }
        guard Names.isPlain(address, limit: 255, signs: "-.:_%")
        else { throw .invalid(field: field, why: "it is a host name or an IP address") }
    }

    /// What a device says of itself: cleaned, without blanks at its ends, and nil when nothing is left.
    static func cleanedOrNil(_ text: String?, limit: Int) -> String? {
        guard let text else { return nil }
        var kept = Substring(cleaned(text, limit: limit))
        while kept.first?.isWhitespace == true { kept.removeFirst() }
        while kept.last?.isWhitespace == true { kept.removeLast() }
        // A character can be any number of bytes long.
        return kept.isEmpty || kept.utf8.count > limit * 32 ? nil : String(kept)
    }

    /// For strings that must be kept in any case.
    static func cleaned(_ text: String, limit: Int) -> String {
        String(ShownText.cleaned(text, limit: limit * 8).prefix(limit))
    }
}
