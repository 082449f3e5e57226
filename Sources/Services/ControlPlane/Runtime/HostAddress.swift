internal import Wire

/// Host and port of a URL or of a place to listen at, as far as others need them to probe it. Checked values only:
/// what does not read as an address becomes nil.
struct HostAddress: Equatable {
    var host: String
    /// 0 to 65535.
    var port: Int
    var isEncrypted: Bool

    /// `rtmp[s]://host[:port]/…`, `http[s]://host[:port]/…`; nil for anything else.
    init?(url: String) {
        guard let separator = url.firstRange(of: "://") else { return nil }
        let scheme = url[..<separator.lowerBound].lowercased()
        guard ["rtmp", "rtmps", "http", "https"].contains(scheme) else { return nil }
        let authority = url[separator.upperBound...].prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else { return nil }
        self.init(authority, defaultValue: HostPort.standardPort(ofScheme: scheme))
        isEncrypted = scheme.hasSuffix("s")
    }

    /// `host:port` or `[address]:port`.
    init?(listen: String) {
        self.init(listen[...], defaultValue: nil)
    }

    private init?(_ text: Substring, defaultValue: UInt16?) {
        guard let place = HostPort(authority: text), !place.host.isEmpty, place.host.utf8.count <= 253 else {
            return nil
        }
        guard let port = place.portText.map({ HostPort.port($0, least: 0) }) ?? defaultValue else { return nil }
        host = String(place.host)
        self.port = Int(port)
        isEncrypted = false
    }
}
