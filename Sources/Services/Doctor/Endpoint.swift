internal import Wire

/// Host and port of a URL, as far as a connection needs them.
struct Endpoint: Equatable, Sendable {
    var host: String
    var port: UInt16

    /// Nil when the text is not a URL of a known scheme with a host.
    init?(_ url: String) {
        guard let colon = url.firstRange(of: "://") else { return nil }
        var authority = url[colon.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        guard let defaultValue = HostPort.standardPort(ofScheme: url[..<colon.lowerBound].lowercased()),
            let parts = HostPort(authority: authority), let port = parts.port(defaultValue: defaultValue)
        else { return nil }
        self.init(host: String(parts.host), port: port)
    }

    /// Nil for what cannot be a name or an address.
    init?(host: String, port: UInt16) {
        guard !host.isEmpty, host.utf8.count <= 253, !host.contains("\0"), !host.contains(where: \.isWhitespace) else {
            return nil
        }
        self.host = host
        self.port = port
    }
}
