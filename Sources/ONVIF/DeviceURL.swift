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

    /// User and password in the text are forgotten. Nil for what is no absolute URL, has control characters or blanks in
    /// it, or more than 2048 bytes.
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
        guard let (host, port) = Self.hostAndPort(authority) else { return nil }
        self.host = host
        self.port = port
    }

    /// Of an address that is taken from a device.
    public static let mostBytes = 512

    private static func hostAndPort(_ authority: ArraySlice<UInt8>) -> (String, UInt16?)? {
        var host = authority
        var digits: ArraySlice<UInt8> = []
        if authority.first == UInt8(ascii: "[") {
            guard let end = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = authority[(authority.startIndex + 1)..<end]
            guard IPAddress.isIPv6(String(decoding: host, as: UTF8.self)) else { return nil }
            let tail = authority[(end + 1)...]
            guard tail.isEmpty || tail.first == UInt8(ascii: ":") else { return nil }
            digits = tail.dropFirst()
        } else if let colon = authority.lastIndex(of: UInt8(ascii: ":")) {
            host = authority[..<colon]
            digits = authority[(colon + 1)...]
            // An IPv6 address without brackets, as some devices write it.
            if host.contains(UInt8(ascii: ":")) {
                let whole = String(decoding: authority, as: UTF8.self)
                return IPAddress.isIPv6(whole) ? (whole, nil) : nil
            }
        }
        let name = String(decoding: host, as: UTF8.self)
        guard digits.isEmpty || digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        if digits.isEmpty { return (name, nil) }
        guard let port = UInt16(String(decoding: digits, as: UTF8.self)), port > 0 else { return nil }
        return (name, port)
    }

    /// The port that is meant: the given one, or the scheme's own.
    public var effectivePort: UInt16? {
        if let port { return port }
        switch scheme {
        case "http": return 80
        case "https": return 443
        case "rtsp": return 554
        case "rtsps": return 322
        default: return nil
        }
    }

    /// The host as it stands in a URL.
    public var bracketedHost: String { host.contains(":") ? "[\(host)]" : host }

    /// Without user and password, always.
    public var text: String { "\(scheme)://\(bracketedHost)\(port.map { ":\($0)" } ?? "")\(rest)" }
}

extension DeviceURL: CustomStringConvertible {
    public var description: String { text }
}
