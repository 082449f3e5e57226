/// Host and port of an authority without its user (RFC 3986 §3.2), separated by brackets and the first colon. Which
/// characters a host may have is for who asks.
public struct HostPort: Equatable, Sendable {
    /// Without brackets; may be empty.
    public let host: Substring
    /// It stood in brackets, and so has a colon: an IPv6 address, perhaps with a zone.
    public let isBracketed: Bool
    /// What stands behind the colon, unread; nil when there is no colon.
    public let portText: Substring?

    /// Nil for a bracket that is not closed, has no colon in it, or is followed by anything but a port.
    public init?(authority: Substring) {
        let colon = UInt8(ascii: ":")
        isBracketed = authority.utf8.first == UInt8(ascii: "[")
        let rest: Substring
        if isBracketed {
            guard let end = authority.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = authority[authority.utf8.index(after: authority.startIndex)..<end]
            rest = authority[authority.utf8.index(after: end)...]
            guard host.utf8.contains(colon), rest.isEmpty || rest.utf8.first == colon else { return nil }
        } else {
            let end = authority.utf8.firstIndex(of: colon) ?? authority.endIndex
            host = authority[..<end]
            rest = authority[end...]
        }
        portText = rest.isEmpty ? nil : rest[rest.utf8.index(after: rest.startIndex)...]
    }

    /// `standard` when there is none, or nothing behind the colon (RFC 3986 §3.2.3); nil for one that cannot be.
    public func port(defaultValue: UInt16) -> UInt16? {
        guard let portText, !portText.isEmpty else { return defaultValue }
        return Self.port(portText)
    }

    /// 1 to 65535, in at most five digits and nothing else.
    ///
    /// - Parameter least: 0 where that means any free port.
    public static func port(_ text: some StringProtocol, least: UInt16 = 1) -> UInt16? {
        guard text.utf8.count <= 5, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(text),
            port >= least
        else { return nil }
        return port
    }

    /// The port that a URL without one means; nil for a scheme that is not spoken here.
    ///
    /// - Parameter scheme: in lower case.
    public static func standardPort(ofScheme scheme: String) -> UInt16? {
        switch scheme {
        case "http", "onvif": 80
        case "https", "rtmps": 443
        case "rtmp": 1935
        case "rtsp": 554
        case "rtsps": 322
        default: nil
        }
    }
}
