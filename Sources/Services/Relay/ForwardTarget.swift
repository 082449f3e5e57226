internal import RTMP
public import Wire

/// Another relay that streams are handed on to. User, password and query are secrets, and so may be the path.
public struct ForwardTarget: Equatable, Sendable {
    /// More lines are refused.
    public static let maxCount = 8

    public enum Fault: Error, Equatable, Sendable {
        /// Counted from 1. The line itself is not repeated, because it may hold a secret.
        case malformedLine(Int)
        case tooMany
    }

    private enum Pattern: Equatable, Sendable {
        case all
        case app(String)
        case stream(String)
    }

    private let pattern: Pattern
    private let server: String
    private let query: String?
    /// Host, port and application, whatever the key.
    private let destination: String
    /// For people: where it is, and nothing more.
    public let host: String
    /// The same without its scheme: `host[:port]`.
    var authority: String { String(host.drop { $0 != "/" }.drop { $0 == "/" }) }

    /// Reads lines of `[pattern] URL`; `#` begins a comment line. A pattern is `app/*`, `app/name` or `*`.
    public static func parse(_ text: String) throws(Fault) -> [ForwardTarget] {
        var targets: [ForwardTarget] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            guard words.count <= 2, let target = ForwardTarget(words.last ?? "", for: words.count == 2 ? first : "*")
            else { throw .malformedLine(index + 1) }
            guard targets.count < maxCount else { throw .tooMany }
            targets.append(target)
        }
        return targets
    }

    /// - Parameter url: `rtmp[s]://[user:password@]host[:port]/app[?query]`; the query, which may hold a key, goes
    ///   behind the stream's name.
    public init?(_ url: String, for pattern: String = "*") {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let server = parts.first, !server.contains("#"),
            let sample = try? RTMPURL(server: server, streamName: "x")
        else { return nil }
        if pattern == "*" {
            self.pattern = .all
        } else if pattern.hasSuffix("/*"), pattern.utf8.count > 2 {
            self.pattern = .app(String(pattern.dropLast(2)))
        } else if pattern.contains("/"), !pattern.contains("*") {
            self.pattern = .stream(pattern)
        } else {
            return nil
        }
        self.server = server
        query = parts.count > 1 ? parts[1] : nil
        destination = Self.destination(sample)
        host = "\(sample.scheme.rawValue)://\(sample.authority)"
    }

    func takes(_ path: StreamPath) -> Bool {
        switch pattern {
        case .all: true
        case .app(let app): path.app == app
        case .stream(let stream): path.description == stream
        }
    }

    /// Without a query and without slashes that say nothing: what the relay there understands.
    private static func destination(_ url: RTMPURL) -> String {
        let app = url.app.prefix { $0 != "?" }.split(separator: "/").joined(separator: "/")
        return "\(RedirectHost.canonical(url.host)):\(url.port)/\(app)"
    }

    /// What `name(of:)` is for a stream that the next relay sends to `url`.
    static func name(of path: StreamPath, at url: RTMPURL) -> String { "\(destination(url))/\(path.name)" }

    /// Where a stream goes and how it is called there. Its application stays behind, so two streams may have the same.
    func name(of path: StreamPath) -> String { "\(destination)/\(path.name)" }

    /// Nil when the stream's name cannot stand in a URL.
    func url(for path: StreamPath) -> RTMPURL? {
        guard !path.name.contains("?") else { return nil }
        return try? RTMPURL(server: server, streamName: path.name + (query.map { "?" + $0 } ?? ""))
    }
}

extension ForwardTarget: Concealed {
    public var description: String { host }
}
