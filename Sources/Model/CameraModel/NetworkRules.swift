internal import Wire

// What the parts of a network camera's settings may look like; for those who read them from text, too.

extension CameraConfiguration.Network {
    /// Why an address is refused. Quotes none of its text, which may hold a password.
    public enum AddressFault: Error, Equatable, Sendable, CaseIterable {
        /// Empty, or more than 2048 bytes.
        case length
        /// White space, a control character, or something outside of ASCII.
        case characters
        /// None of `rtsp://`, `rtsps://`, `onvif://`, `http://` and `https://`, in lower case.
        case scheme
        /// No host, or something that is neither a name nor an IP address; IPv6 is in brackets.
        case host
        /// Not 1 to 65535.
        case port
        /// A user or a password, before an `@` or as a part of path or query.
        case credentials
        /// A query where none can be, or a fragment.
        case query
    }

    public static let schemes = ["rtsp", "rtsps", "onvif", "http", "https"]

    /// Names of parts `name=value` of a path or a query that hold a login, as some makers document their addresses.
    static let loginNames = passwordNames.union([
        "user", "username", "token", "usr", "loginuse",
    ])
    private static let passwordNames: Set<String> = ["password", "passwd", "pwd", "pass", "loginpas", "userpwd"]

    /// Whether an address may appear in a configuration.
    public static func check(address: String) throws(AddressFault) {
        guard !address.isEmpty, address.utf8.count <= 2048 else { throw .length }
        guard address.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { throw .characters }
        guard let separator = address.firstRange(of: "://"),
            schemes.contains(String(address[..<separator.lowerBound]))
        else { throw .scheme }
        let rest = address[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        // Everywhere: a password with a slash in it ends the authority before its @.
        guard !rest.contains("@") else { throw .credentials }
        try check(authority: authority)
        let location = rest.dropFirst(authority.count)
        guard !location.contains("#") else { throw .query }
        if address.hasPrefix("onvif:"), location.contains("?") { throw .query }
        guard !holdsLogin(location) else { throw .credentials }
    }

    private static func check(authority: Substring) throws(AddressFault) {
        guard let parts = HostPort(authority: authority),
            Names.isPlain(parts.host, limit: 253, signs: parts.isBracketed ? ".-_:%" : ".-_")
        else { throw .host }
        guard let port = parts.portText else { return }
        guard HostPort.port(port) != nil else { throw .port }
    }

    /// `password=…`, in a path as well, also when its letters are percent-encoded; without a value it holds nothing.
    private static func holdsLogin(_ location: Substring) -> Bool {
        location.split(whereSeparator: { "/?&;".contains($0) }).contains { part in
            // `user=admin_password=secret_channel=1`, and on the other hand `profile_token=main`.
            holds(part, loginNames) || part.split(separator: "_").contains { holds($0, passwordNames) }
        }
    }

    private static func holds(_ part: Substring, _ names: Set<String>) -> Bool {
        guard let equals = part.firstIndex(of: "="), part.index(after: equals) != part.endIndex else { return false }
        let name = PercentEncoding.decodeLeniently(part[..<equals]).lowercased()
        // User and password in Base64, where fewer characters name a scheme.
        if name == "auth" { return part[equals...].dropFirst().utf8.count >= 8 }
        return names.contains(name)
    }

    /// `sha256//` and 44 characters of Base64, as libcurl takes it.
    public static func isPin(_ text: String) -> Bool {
        let prefix = "sha256//"
        guard text.hasPrefix(prefix) else { return false }
        let digits = text.dropFirst(prefix.count)
        // What is written otherwise than it is encoded is another spelling of the same 32 bytes.
        guard digits.utf8.count == 44, let bytes = try? Base64.decode(digits) else { return false }
        return bytes.count == 32 && Base64.encode(bytes) == digits
    }

    /// A name or an IP address, without brackets and port.
    public static func isHost(_ text: String) -> Bool {
        guard Names.isPlain(text, limit: 253, signs: ".-_:%"),
            // One colon precedes a port.
            text.utf8.count(where: { $0 == UInt8(ascii: ":") }) != 1
        else { return false }
        do throws(AddressFault) {
            try check(authority: text.contains(":") ? "[\(text)]" : text[...])
            return true
        } catch {
            return false
        }
    }

    /// Six pairs of hexadecimal digits between colons, in lower case.
    public static func isMAC(_ text: String) -> Bool {
        let pairs = text.split(separator: ":", omittingEmptySubsequences: false)
        return pairs.count == 6 && pairs.allSatisfy { Hexadecimal.isLower($0, count: 2) }
    }

    /// Scheme, host and port: what may be shown of an address that was not checked.
    public static func redacted(_ address: String) -> String {
        guard let separator = address.firstRange(of: "://") else { return "(an address)" }
        let rest = address[separator.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        // A password with a slash in it: what looks like the host is the user.
        guard rest.firstIndex(of: "@") == nil || authority.contains("@") else { return "(an address)" }
        return "\(address[..<separator.upperBound])\(host)\(authority.endIndex == address.endIndex ? "" : "/…")"
    }
}
