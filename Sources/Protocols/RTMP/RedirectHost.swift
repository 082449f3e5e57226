/// A host that a relay may send a camera to: `relay2.example.net`, `relay2.example.net:1936`, `[2001:db8::1]`.
public struct RedirectHost: Equatable, Sendable {
    /// Of one relay.
    public static let countLimit = 16
    /// Bytes of one entry.
    public static let textLimit = 261

    /// Lower case, without brackets and without the dot of a complete name.
    public let host: String
    /// Nil: the relay's own, or the default of the scheme.
    public let port: UInt16?

    /// Nil for what is not a host.
    public init?(_ text: String) {
        guard (1...Self.textLimit).contains(text.utf8.count), !text.contains(where: { "/?#@".contains($0) }),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            // The two schemes have different default ports: where both readings agree, the text names one.
            let clear = try? RTMPURL(server: "rtmp://\(text)/live", streamName: "x"),
            let secure = try? RTMPURL(server: "rtmps://\(text)/live", streamName: "x")
        else { return nil }
        host = Self.canonical(clear.host)
        guard !host.isEmpty else { return nil }
        port = clear.port == secure.port ? clear.port : nil
    }

    /// One spelling of a host's name. Only ASCII has two cases here: other letters stay what they are.
    public static func canonical(_ host: String) -> String {
        let name = String(decoding: host.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
