public import Wire

/// `rtmp[s]://[user:password@]host[:port]/app[/more]/streamName[?query]`.
///
/// The last path segment before the query is the stream name, everything before it is the application, which may
/// contain slashes. A query directly behind a lone application (`/live?x=1/name`) belongs to the application.
/// Percent-encoding stays as it was given, except in user and password. The textual forms never show key, token or
/// user.
public struct RTMPURL: Equatable, Sendable {
    public enum Scheme: String, Sendable {
        case rtmp, rtmps

        public var defaultPort: UInt16 { self == .rtmp ? 1935 : 443 }
    }

    public struct Credentials: Equatable, Sendable {
        public var user: String
        public var password: String
    }

    public var scheme: Scheme
    /// Without brackets when it is an IPv6 address.
    public var host: String
    public var port: UInt16
    public var app: String
    /// With its query; usually secret.
    public var streamName: String
    public var credentials: Credentials?

    public init(
        scheme: Scheme, host: String, port: UInt16? = nil, app: String, streamName: String,
        credentials: Credentials? = nil
    ) {
        self.scheme = scheme
        self.host = host
        self.port = port ?? scheme.defaultPort
        self.app = app
        self.streamName = streamName
        self.credentials = credentials
    }

    public init(_ text: String) throws(RTMPURLError) {
        var (server, path) = try Self.split(text)
        let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        if let slash = parts[0].lastIndex(of: "/") {
            // live/name?token=a/b: a slash in the query is data.
            server.app = String(path[..<slash])
            server.streamName = String(path[path.index(after: slash)...])
        } else if let slash = path.lastIndex(of: "/") {
            server.app = String(path[..<slash])
            server.streamName = String(path[path.index(after: slash)...])
        } else {
            server.app = path
        }
        guard !server.app.isEmpty else { throw .missingApplication }
        guard let first = server.streamName.first, first != "?" else { throw .missingStreamName }
        self = server
    }

    /// Server and stream key apart, as streaming services hand them out: the whole path of `server` is the application.
    public init(server text: String, streamName: String) throws(RTMPURLError) {
        var (server, path) = try Self.split(text)
        while path.last == "/" { path.removeLast() }
        guard !path.isEmpty else { throw .missingApplication }
        guard !streamName.isEmpty else { throw .missingStreamName }
        guard streamName.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .invalidCharacter }
        server.app = path
        server.streamName = streamName
        self = server
    }

    /// Host and, unless it is the default, port; an IPv6 address in brackets.
    public var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == scheme.defaultPort ? name : "\(name):\(port)"
    }

    /// What `connect` announces: no credentials, no stream name, no default port.
    public var tcURL: String { "\(scheme.rawValue)://\(authority)/\(app)" }

    /// The stream name without its query.
    public var streamPath: String {
        String(streamName.prefix { $0 != "?" })
    }

    /// Where a ReconnectRequest points to: `target` is absolute, or relative to `tcURL` (E-RTMP v2, Reconnect Request).
    /// Nil when it cannot be read or would leave TLS. The stream name stays; user and password go to the same host
    /// only.
    public func redirected(to target: String) -> RTMPURL? {
        var text = target
        if target.hasPrefix("//") {
            text = "\(scheme.rawValue):\(target)"
        } else if target.hasPrefix("/") {
            text = "\(scheme.rawValue)://\(authority)\(target)"
        } else if !target.contains("://") {
            let base = app.lastIndex(of: "/").map { String(app[...$0]) } ?? ""
            text = "\(scheme.rawValue)://\(authority)/\(base)\(target)"
        }
        guard var url = try? RTMPURL(server: text, streamName: streamName) else { return nil }
        guard url.scheme == .rtmps || scheme == .rtmp else { return nil }
        url.credentials = url.host == host ? credentials : nil
        return url
    }
}

extension RTMPURL {
    /// Everything but the path, and the path without its first slash.
    private static func split(_ text: String) throws(RTMPURLError) -> (RTMPURL, path: String) {
        guard text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else { throw .invalidCharacter }
        guard let colon = text.firstIndex(of: ":"), text[colon...].hasPrefix("://"),
            let scheme = Scheme(rawValue: text[..<colon].lowercased())
        else { throw .unknownScheme }
        let rest = text[text.index(colon, offsetBy: 3)...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        var authority = rest[..<end]
        var credentials: Credentials?
        if let at = authority.lastIndex(of: "@") {
            credentials = try Self.credentials(authority[..<at])
            authority = authority[authority.index(after: at)...]
        }
        guard let parts = HostPort(authority: authority), !parts.host.isEmpty,
            !parts.host.utf8.contains(where: { "[]\\\"<>^`{|}".utf8.contains($0) })
        else { throw .invalidHost }
        guard let port = parts.port(defaultValue: scheme.defaultPort) else { throw .invalidPort }
        let path = rest[end...].hasPrefix("/") ? rest[end...].dropFirst() : rest[end...]
        let url = RTMPURL(
            scheme: scheme, host: String(parts.host), port: port, app: "", streamName: "", credentials: credentials)
        return (url, String(path))
    }

    private static func credentials(_ text: Substring) throws(RTMPURLError) -> Credentials {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard let user = PercentEncoding.decode(parts[0]),
            let password = PercentEncoding.decode(parts.count > 1 ? parts[1] : "")
        else { throw .invalidCredentials }
        return Credentials(user: user, password: password)
    }
}

extension RTMPURL: Concealed {
    /// For logs: application without its query; no key, no user.
    public var description: String {
        let user = credentials == nil ? "" : "***@"
        return "\(scheme.rawValue)://\(user)\(authority)/\(app.prefix { $0 != "?" })/***"
    }
}

/// Why a string is not an RTMP URL. Says nothing of the string itself, which may hold secrets.
public enum RTMPURLError: Error, Equatable, Sendable {
    /// Neither `rtmp://` nor `rtmps://`.
    case unknownScheme
    /// White space or a control character.
    case invalidCharacter
    /// Percent-encoding in user or password that is broken or no UTF-8.
    case invalidCredentials
    case invalidHost
    /// Not within 1…65535.
    case invalidPort
    case missingApplication
    case missingStreamName
}

extension RTMPURLError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .unknownScheme: "the address must begin with rtmp:// or rtmps://"
        case .invalidCharacter: "the address holds white space or a control character; write it percent-encoded"
        case .invalidCredentials: "user or password of the address are not percent-encoded UTF-8"
        case .invalidHost: "the address has no valid host"
        case .invalidPort: "the port of the address is not within 1 to 65535"
        case .missingApplication: "the address lacks the application: rtmp://host/application/stream"
        case .missingStreamName: "the address lacks the stream name: rtmp://host/application/stream"
        }
    }
}
