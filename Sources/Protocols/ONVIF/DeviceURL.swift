internal import Wire

/// An absolute URL, taken apart as far as its host matters; the rest stays as it was written.
public struct DeviceURL: Equatable, Sendable {
    /// In lower case: `http`, `https`, `rtsp`, …
    public var scheme: String
    /// Without brackets; may be empty.
    public var host: String
    public var port: UInt16?
    /// Path, query and fragment as they were: empty, or beginning with `/`, `?` or `#`.
    public var rest: String

    public init(scheme: String, host: String, port: UInt16?, rest: String) {
        self.scheme = scheme
        self.host = host
        self.port = port
        self.rest = rest
    }

    /// User and password in the text are forgotten. Nil for what is not an absolute URL, has control characters or
    /// blanks in it, or more than 2048 bytes.
    public init?(_ text: String) {
        guard text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { return nil }
        let bytes = Array(text.utf8)
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), colon > 0,
            bytes[colon...].starts(with: Array("://".utf8)),
            bytes[..<colon].allSatisfy({ (0x61...0x7A).contains($0 | 0x20) || (0x2B...0x39).contains($0) })
        else { return nil }
        scheme = String(decoding: bytes[..<colon], as: UTF8.self).lowercased()
        let begin = colon + 3
        let end = bytes[begin...].firstIndex { [0x2F, 0x3F, 0x23].contains($0) } ?? bytes.count  // / ? #
        rest = String(decoding: bytes[end...], as: UTF8.self)
        var authority = bytes[begin..<end]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) { authority = authority[(at + 1)...] }
        guard let (host, port) = Self.hostAndPort(Substring(decoding: authority, as: UTF8.self)) else { return nil }
        self.host = host
        self.port = port
    }

    /// Of an address that is taken from a device.
    public static let maxBytes = 512

    private static func hostAndPort(_ authority: Substring) -> (String, UInt16?)? {
        // An IPv6 address without brackets, as some devices write it.
        let whole = String(authority)
        if IPAddress.isIPv6(whole) { return (whole, nil) }
        guard let parts = HostPort(authority: authority) else { return nil }
        let host = String(parts.host)
        guard !parts.isBracketed || IPAddress.isIPv6(host) else { return nil }
        guard let digits = parts.portText, !digits.isEmpty else { return (host, nil) }
        return HostPort.port(digits).map { (host, $0) }
    }

    /// The port that is meant: the given one, or the scheme's own.
    public var effectivePort: UInt16? { port ?? HostPort.standardPort(ofScheme: scheme) }

    /// The host as it is written in a URL.
    public var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }

    /// Without user and password, always.
    public var text: String { "\(scheme)://\(bracketedHost)\(port.map { ":\($0)" } ?? "")\(rest)" }
}

extension DeviceURL: CustomStringConvertible {
    public var description: String { text }
}
