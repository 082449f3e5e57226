/// Host and port of a URL, as far as a connection needs them.
struct Endpoint: Equatable, Sendable {
    var host: String
    var port: UInt16

    private static let ports: [String: UInt16] = [
        "rtmp": 1935, "rtmps": 443, "http": 80, "https": 443, "rtsp": 554, "rtsps": 322, "onvif": 80,
    ]

    /// Nil when the text is no URL of a known scheme with a host.
    init?(_ url: String) {
        guard let colon = url.firstRange(of: "://") else { return nil }
        guard var port = Self.ports[url[..<colon.lowerBound].lowercased()] else { return nil }
        var authority = url[colon.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if let at = authority.lastIndex(of: "@") { authority = authority[authority.index(after: at)...] }
        var host = authority
        var digits: Substring?
        if authority.first == "[" {
            guard let close = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<close]
            let rest = authority[authority.index(after: close)...]
            if !rest.isEmpty {
                guard rest.first == ":" else { return nil }
                digits = rest.dropFirst()
            }
        } else if let last = authority.lastIndex(of: ":") {
            host = authority[..<last]
            digits = authority[authority.index(after: last)...]
        }
        if let digits {
            guard let number = UInt16(digits), number > 0 else { return nil }
            port = number
        }
        self.init(host: String(host), port: port)
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
