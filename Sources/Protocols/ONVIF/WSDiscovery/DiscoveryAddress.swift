internal import Wire

/// The URL of a device's service as it is written in a datagram, taken apart as far as it is needed to repair it.
public struct DiscoveryAddress: Equatable, Sendable {
    public var isSecure: Bool
    /// Without brackets; of IPv6 within the link with its zone.
    public var host: String
    public var port: UInt16
    /// Begins with "/"; with the query.
    public var path: String

    public init(isSecure: Bool, host: String, port: UInt16, path: String) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
        self.path = path
    }

    /// Nil for what is not a http or https URL, is longer than 512 bytes, has characters that no URL has, or a user in
    /// it. The host may be empty: some devices leave it out.
    public init?(_ text: String) {
        guard text.utf8.count <= 512, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !Self.isForbidden($0) }) else {
            return nil
        }
        let lower = text.lowercased()
        let isSecure = lower.hasPrefix("https://")
        guard isSecure || lower.hasPrefix("http://") else { return nil }
        let rest = text.dropFirst(isSecure ? 8 : 7)
        let end = rest.firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? rest.endIndex
        let authority = rest[..<end]
        guard !authority.contains("@") else { return nil }
        var path = String(rest[end...].prefix { $0 != "#" })
        if !path.hasPrefix("/") { path = "/" + path }
        guard let parts = HostPort(authority: authority), let port = parts.port(defaultValue: isSecure ? 443 : 80)
        else {
            return nil
        }
        self.init(isSecure: isSecure, host: Self.plainZone(String(parts.host)), port: port, path: path)
    }

    /// `%25` is how a URL writes the `%` before a zone (RFC 6874).
    private static func plainZone(_ host: String) -> String {
        guard host.contains(":"), let percent = host.firstIndex(of: "%") else { return host }
        let zone = host[host.index(after: percent)...]
        return host[..<percent] + "%" + (zone.hasPrefix("25") && zone.count > 2 ? zone.dropFirst(2) : zone)
    }

    private static func isForbidden(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"), UInt8(ascii: "^"),
            UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"):
            true
        default: false
        }
    }

    /// As a URL: the port is left out where it is the scheme's own.
    public var url: String {
        (isSecure ? "https://" : "http://") + authority(standardPort: isSecure ? 443 : 80) + path
    }

    /// As a camera's source, which has no query: `onvif://host[:port][/path]`. It does not say whether TLS is spoken;
    /// the port is left out only where a device without it is looked for first.
    public var source: String {
        let path = path.prefix { $0 != "?" }
        return "onvif://" + authority(standardPort: isSecure ? nil : 80) + (path == Self.standardPath ? "" : path)
    }

    /// Where ONVIF puts a device's first service.
    public static let standardPath = "/onvif/device_service"

    var isONVIFPath: Bool { path.lowercased().contains("onvif") }

    private func authority(standardPort: UInt16?) -> String {
        Self.written(host: host) + (port == standardPort ? "" : ":\(port)")
    }

    /// A host as URLs write it: IPv6 in brackets, with `%25` before its zone.
    public static func written(host: String) -> String {
        guard host.contains(":") else { return host }
        guard let percent = host.firstIndex(of: "%") else { return "[\(host)]" }
        return "[\(host[..<percent])%25\(host[host.index(after: percent)...])]"
    }
}
