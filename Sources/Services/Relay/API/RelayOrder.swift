internal import Wire

/// What the operator asks for.
enum RelayOrder: Equatable, Sendable {
    case metrics
    case streams
    case connections
    case events
    case kick(ConnectionID)
    /// The publisher of "app/name".
    case kickPublisher(String)
    case drain

    /// Figures may be read by whoever reaches the API of a relay without a token; addresses, and what changes
    /// something, are for the operator.
    var needsToken: Bool { self != .metrics && self != .streams }

    /// Of a request's method and target.
    static func parse(method: String, target: String) throws(RelayProblem) -> RelayOrder {
        let path = target.prefix { $0 != "?" }
        let parts = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map(String.init)
        switch (parts.first, parts.dropFirst().first, parts.count) {
        case ("metrics", nil, 1): return try only("GET", method, .metrics)
        case ("v1", "streams", 2): return try only("GET", method, .streams)
        case ("v1", "connections", 2): return try only("GET", method, .connections)
        case ("v1", "events", 2): return try only("GET", method, .events)
        case ("v1", "drain", 2): return try only("POST", method, .drain)
        case ("v1", "connections", 3):
            guard let id = ConnectionID(parts[2]) else { throw unknown }
            return try only("DELETE", method, .kick(id))
        case ("v1", "streams", 5...) where parts.last == "publisher":
            guard let stream = stream(parts[2..<parts.count - 1]) else { throw unknown }
            return try only("DELETE", method, .kickPublisher(stream))
        default: throw unknown
        }
    }

    private static func only(
        _ allowed: String, _ method: String, _ order: RelayOrder
    ) throws(RelayProblem) -> RelayOrder {
        guard method == allowed else {
            throw RelayProblem(
                405, what: "the request was refused", why: "this path accepts only \(allowed)", hint: "use \(allowed)")
        }
        return order
    }

    private static var unknown: RelayProblem {
        RelayProblem(
            404, what: "there is nothing here", why: "the relay's API has no such path",
            hint:
                "use /metrics, /v1/streams, /v1/connections, /v1/connections/ID, /v1/streams/APP/NAME/publisher, /v1/drain or /v1/events"
        )
    }

    /// Percent-encoded part by part, so that a slash within a name can be said.
    private static func stream(_ parts: ArraySlice<String>) -> String? {
        var decoded: [String] = []
        for part in parts {
            guard let text = PercentEncoding.decode(part), !text.isEmpty else { return nil }
            decoded.append(text)
        }
        return decoded.joined(separator: "/")
    }
}
