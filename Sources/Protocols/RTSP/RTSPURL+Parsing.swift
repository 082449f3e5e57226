internal import Wire

extension RTSPURL {
    /// - Parameter dropsUser: leave out user information instead of refusing it: some cameras repeat it in their
    ///   answers.
    static func parse(
        _ text: String, dropsUser: Bool, services: [Service] = [.rtsp]
    ) throws(RTSPURLFault) -> RTSPURL {
        guard text.utf8.count <= maxLength else { throw .tooLong }
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }) else {
            throw .invalidCharacter
        }
        let found = services.lazy.flatMap { service in [false, true].map { (service, $0) } }.compactMap {
            (service, isSecure) -> (Service, Bool, Substring)? in
            dropping("\(service.scheme(isSecure: isSecure))://", from: text).map { (service, isSecure, $0) }
        }.first
        guard let (service, isSecure, rest) = found else { throw .unknownScheme }
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        var authority = rest[..<end]
        var path = rest[end...]
        // An unencoded password may hold a slash or a question mark, so that the @ stands behind the authority's end; a
        // path may hold one too, but then no colon came before it that no port follows.
        if let at = authority.lastIndex(of: "@") {
            guard dropsUser else { throw .userInformation }
            authority = authority[authority.index(after: at)...]
        } else if path.contains("@"), !hasPort(authority) {
            guard dropsUser, let at = rest.lastIndex(of: "@") else { throw .userInformation }
            let tail = rest[rest.index(after: at)...]
            let tailEnd = tail.firstIndex { $0 == "/" || $0 == "?" } ?? tail.endIndex
            authority = tail[..<tailEnd]
            path = tail[tailEnd...]
        }
        guard let parts = HostPort(authority: authority), (1...255).contains(parts.host.utf8.count),
            parts.host.utf8.allSatisfy({ !forbiddenInHost.contains($0) })
        else { throw .invalidHost }
        guard let port = parts.port(defaultValue: defaultPort(service, isSecure: isSecure)) else { throw .invalidPort }
        let full = path.hasPrefix("/") ? String(path) : "/" + path
        return RTSPURL(service: service, isSecure: isSecure, host: String(parts.host), port: port, path: full)
    }

    private static func dropping(_ scheme: String, from text: String) -> Substring? {
        text.prefix(scheme.count).lowercased() == scheme ? text.dropFirst(scheme.count) : nil
    }

    /// Whether what stands behind the host can be a port, or nothing does.
    private static func hasPort(_ authority: Substring) -> Bool {
        if authority.first == "[" { return true }
        guard let colon = authority.firstIndex(of: ":") else { return true }
        return authority[authority.index(after: colon)...].utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static let forbiddenInHost = Set("[]\\\"<>^`{|}@,;&=!$'()*+".utf8)
}

extension RTSPURL {
    /// The address that a request for a whole presentation or for one of its media goes to (RFC 2326 §C.1.1).
    ///
    /// As cameras expect it and most clients do it, a relative `control` is put behind the base with a slash between
    /// them, query or not; RFC 3986 would drop the base's last segment. A `control` that is a query follows the base as
    /// it stands.
    /// - Parameters:
    ///   - control: the attribute of the session description; nil, empty and `*` mean the base itself.
    ///   - base: what Content-Base or Content-Location said; this address takes its place when it is missing or unusable.
    public func resolving(control: String?, base: String?) -> RTSPURL {
        let root = base.flatMap { usableBase($0) } ?? self
        let reference = CameraText.trimmed(control ?? "")
        if reference.isEmpty || reference == "*" { return root }
        let encoded = Self.encodingForbidden(reference)
        if encoded.contains("://") {
            return (try? Self.parse(encoded, dropsUser: true)) ?? root
        }
        var path = root.path
        let joins = path.hasSuffix("/") || encoded.hasPrefix("/") || encoded.hasPrefix("?")
        if path.hasSuffix("/"), encoded.hasPrefix("/") { path.removeLast() }
        path += (joins ? "" : "/") + encoded
        guard path.utf8.count <= Self.maxLength else { return root }
        if !path.hasPrefix("/") { path = "/" + path }
        return RTSPURL(isSecure: root.isSecure, host: root.host, port: root.port, path: path)
    }

    /// Cameras say `rtsp://a/b/`, `rtsp://a/b/, rtsp://a/b/`, `a:554/b/`, `/b/` and worse.
    private func usableBase(_ text: String) -> RTSPURL? {
        var text = Self.first(of: CameraText.trimmed(text))
        text = Self.encodingForbidden(text)
        if text.contains("://") {
            return try? Self.parse(text, dropsUser: true)
        }
        if text.hasPrefix("/") {
            return RTSPURL(isSecure: isSecure, host: host, port: port, path: text)
        }
        // Without its scheme: only this very host is believed.
        guard let url = try? Self.parse("\(isSecure ? "rtsps" : "rtsp")://" + text, dropsUser: true),
            url.host.lowercased() == host.lowercased()
        else { return nil }
        return url
    }

    /// Of an address that is given twice or more, with a comma or nothing in between.
    private static func first(of text: String) -> String {
        let bytes = Array(text.utf8)
        for index in bytes.indices.dropFirst() {
            let rest = bytes[index...].prefix(8).map { $0 | 0x20 }
            guard rest.starts(with: Array("rtsp://".utf8)) || rest.starts(with: Array("rtsps://".utf8)) else {
                continue
            }
            var head = bytes[..<index]
            while let last = head.last, CameraText.isBlank(last) || last == UInt8(ascii: ",") { head.removeLast() }
            return String(decoding: head, as: UTF8.self)
        }
        return text
    }

    /// Where a redirect points to; relative to this address if it names no host. Nil when it cannot be read.
    package func redirected(to location: String) -> RTSPURL? {
        let text = Self.encodingForbidden(CameraText.trimmed(location))
        if text.hasPrefix("/"), !text.hasPrefix("//") {
            return RTSPURL(service: service, isSecure: isSecure, host: host, port: port, path: text)
        }
        return try? Self.parse(text, dropsUser: true, services: [service])
    }

    private static func encodingForbidden(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 <= 0x20 || $0 >= 0x7F || $0 == UInt8(ascii: "#") }) else { return text }
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if byte <= 0x20 || byte >= 0x7F || byte == UInt8(ascii: "#") {
                encoded += "%\(Hexadecimal.encode(byte).uppercased())".utf8
            } else {
                encoded.append(byte)
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
