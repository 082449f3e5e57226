public import Wire

/// What a client asks to publish. Textual forms leave out queries, which carry keys and tokens.
public struct PublishRequest: Equatable, Sendable {
    /// Application without its query.
    public var app: String
    /// Stream name without its query.
    public var streamName: String
    /// Queries of the stream name, the application and `tcUrl`, in this order, without `?`; percent-encoded as sent.
    public var queries: [String] = []
    /// `live`, `record` or `append`.
    public var kind = "live"
    public var tcURL = ""
    public var flashVersion = ""
    /// `fourCcList` of the client.
    public var fourCCs: [String] = []
    /// The relays that it came through.
    public var chain = RelayChain()

    /// The first value of this name in the queries, percent-decoded; as sent when that fails.
    public func queryValue(_ name: String) -> String? { Queries.value(of: name, in: queries) }
}

/// What a client asks to play. Textual forms leave out queries, which carry keys and tokens.
public struct PlayRequest: Equatable, Sendable {
    /// Application without its query.
    public var app: String
    /// Stream name without its query.
    public var streamName: String
    /// Queries of the stream name, the application and `tcUrl`, in this order, without `?`; percent-encoded as sent.
    public var queries: [String] = []
    /// Seconds; −2 live or recorded, −1 live only. A relay has live streams only.
    public var start: Double = -2
    public var tcURL = ""
    public var flashVersion = ""
    /// `fourCcList` of the client: empty for players without Enhanced RTMP.
    public var fourCCs: [String] = []

    /// The first value of this name in the queries, percent-decoded; as sent when that fails.
    public func queryValue(_ name: String) -> String? { Queries.value(of: name, in: queries) }
}

extension PublishRequest: Concealed {
    public var description: String { "publish \(app)/\(streamName)" }
}

extension PlayRequest: Concealed {
    public var description: String { "play \(app)/\(streamName)" }
}

enum Queries {
    /// The text before the first `?`, and what follows it.
    static func split(_ text: String) -> (path: String, query: String?) {
        guard let mark = text.firstIndex(of: "?") else { return (text, nil) }
        return (String(text[..<mark]), String(text[text.index(after: mark)...]))
    }

    static func value(of name: String, in queries: [String]) -> String? {
        for query in queries {
            for field in query.split(separator: "&") {
                let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts[0] == name else { continue }
                let value = parts.count > 1 ? parts[1] : ""
                return PercentEncoding.decode(value) ?? String(value)
            }
        }
        return nil
    }
}
