/// Host and port of a URL or of a place to listen at, as far as others need them to probe it. Checked values only:
/// what does not read as an address becomes nil.
struct HostAddress: Equatable {
    var host: String
    /// 0 to 65535.
    var port: Int
    var isEncrypted: Bool

    /// `rtmp[s]://host[:port]/…`, `http[s]://host[:port]/…`; nil for anything else.
    init?(url: String) {
        let schemes: [(prefix: String, port: Int, isEncrypted: Bool)] = [
            ("rtmp://", 1935, false), ("rtmps://", 443, true), ("http://", 80, false), ("https://", 443, true),
        ]
        guard let scheme = schemes.first(where: { url.lowercased().hasPrefix($0.prefix) }) else { return nil }
        let rest = url.dropFirst(scheme.prefix.count)
        let authority = rest.prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else { return nil }
        self.init(String(authority), defaultPort: scheme.port)
        isEncrypted = scheme.isEncrypted
    }

    /// `host:port` or `[address]:port`.
    init?(listen: String) {
        self.init(listen, defaultPort: nil)
    }

    private init?(_ text: String, defaultPort: Int?) {
        isEncrypted = false
        var host = text[...]
        var portText: Substring?
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return nil }
            host = text[text.index(after: text.startIndex)..<end]
            let rest = text[text.index(after: end)...]
            if !rest.isEmpty {
                guard rest.first == ":" else { return nil }
                portText = rest.dropFirst()
            }
        } else if let colon = text.lastIndex(of: ":") {
            host = text[..<colon]
            portText = text[text.index(after: colon)...]
            guard !host.contains(":") else { return nil }
        }
        guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
        self.host = String(host)
        if let portText {
            guard portText.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(portText),
                (0...65_535).contains(number)
            else { return nil }
            port = number
        } else {
            guard let defaultPort else { return nil }
            port = defaultPort
        }
    }
}
