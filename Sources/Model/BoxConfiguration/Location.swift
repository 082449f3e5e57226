internal import CameraModel
internal import Settings
internal import Wire

/// Addresses that a person writes; what is wrong with one is reported without quoting it.
enum Location {
    static func relay(_ text: String) -> Finding? {
        let hint = KeyDefinition.Kind.relayURL.hint
        guard text.utf8.count <= 1024 else { return Finding("is longer than 1024 bytes", hint) }
        guard !text.contains("@") else {
            return Finding("carries a user or a password", "Store the whole URL as a secret, and name it in `secret`")
        }
        guard !text.contains(where: { $0 == "?" || $0 == "#" }) else {
            return Finding(
                "carries a query or a fragment, which can hold a secret",
                "Store the whole URL as a secret, and name it in `secret`")
        }
        guard text.unicodeScalars.allSatisfy({ ShownText.isPrintable($0) && !$0.properties.isWhitespace }) else {
            return Finding("has white space or control characters", hint)
        }
        if let scheme = text.firstRange(of: "://") {
            let path = text[scheme.upperBound...].drop { $0 != "/" }
            guard path.contains(where: { $0 != "/" }) else { return Finding("names no application", hint) }
        }
        // Checked by what will use it; the stream's name stands for any.
        let camera = CameraConfiguration(
            id: "a", source: .testPattern(.init()), relay: .init(url: publishing(text, stream: "a")),
            kas: KASConfiguration(url: "https://localhost/kas"))
        do {
            try camera.validate()
            return nil
        } catch {
            return Finding("is not a relay's URL", hint)
        }
    }

    /// The whole path of a relay's URL is the application; a camera adds its stream.
    static func publishing(_ url: String, stream: String) -> String {
        var text = Substring(url)
        while text.hasSuffix("/") { text.removeLast() }
        return "\(text)/\(stream)"
    }

    static func keyAccess(_ text: String) -> Finding? {
        do {
            let address = try web(
                text, hint: KeyDefinition.Kind.keyAccessURL.hint,
                secret: "Take it out; store the token with: watchboxctl kas set --token-file FILE")
            return address.isPlain && !address.listen.isLoopback
                ? Finding("sends tokens in the clear to another machine", "Use https://") : nil
        } catch {
            return error
        }
    }

    static func hook(_ text: String) -> Finding? {
        do {
            _ = try web(
                text, hint: KeyDefinition.Kind.hookURL.hint,
                secret: "Store the whole URL as a secret, and name it in `secret`")
            return nil
        } catch {
            return error
        }
    }

    /// An `https://` or `http://` URL that holds no secret by its form.
    private static func web(
        _ text: String, hint: String, secret: String
    ) throws(Finding) -> (isPlain: Bool, listen: ListenAddress) {
        guard text.utf8.count <= 1024 else { throw Finding("is longer than 1024 bytes", hint) }
        guard !text.contains("@"), !text.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw Finding("carries a user, a password, a query or a fragment", secret)
        }
        guard text.unicodeScalars.allSatisfy({ ShownText.isPrintable($0) && !$0.properties.isWhitespace }) else {
            throw Finding("has white space or control characters", hint)
        }
        let isPlain = text.hasPrefix("http://")
        guard isPlain || text.hasPrefix("https://"), let scheme = text.firstRange(of: "://") else {
            throw Finding("is not an https:// URL", hint)
        }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" }
        let hasPort = authority.hasSuffix("]") ? false : authority.contains(":")
        guard let address = ListenAddress(hasPort ? String(authority) : "\(authority):443") else {
            throw Finding("has no host, or an invalid port", hint)
        }
        return (isPlain, address)
    }

    /// Scheme and host: what may be shown of a URL whose path can hold a stream key.
    static func redacted(_ text: String) -> String {
        guard let scheme = text.firstRange(of: "://") else { return text }
        let rest = text[scheme.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        let tail = authority.endIndex == text.endIndex ? "" : "/…"
        return "\(text[..<scheme.upperBound])\(host)\(tail)"
    }
}

/// `host:port`; an IPv6 address in brackets.
struct ListenAddress: Equatable, Sendable {
    var host: String
    var port: Int

    init?(_ text: String) {
        guard text.utf8.count <= 300, let parts = HostPort(authority: text[...]),
            let port = parts.portText.flatMap({ HostPort.port($0) }),
            Names.isPlain(parts.host, limit: 253, signs: parts.isBracketed ? ".-:%" : ".-")
        else { return nil }
        self.host = String(parts.host)
        self.port = Int(port)
    }

    /// Reached from this machine only.
    var isLoopback: Bool { NetworkAddress.isLoopback(host: host.lowercased()) }
}
