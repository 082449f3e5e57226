/// What `GET /v1/streams` answers.
public struct RelayStreamsDocument: Equatable, Sendable, Codable {
    public enum State: String, Sendable, Codable {
        case serving
        /// Nobody new is taken, and who is there is being sent away.
        case draining
        /// Nobody is left, and nobody is taken until the relay starts again.
        case drained
    }

    public var schema = "watchbox.relay.streams/1"
    public var state: State
    public var statistics: RelayStatistics

    init(state: State, statistics: RelayStatistics) {
        self.state = state
        self.statistics = statistics
    }
}

/// What `GET /v1/connections` answers: everybody who publishes or plays. For the operator alone: it holds addresses.
public struct RelayConnectionsDocument: Equatable, Sendable, Codable {
    public enum Role: String, Sendable, Codable {
        case publisher, player
    }

    public struct Connection: Equatable, Sendable, Codable {
        /// Never used twice while the relay runs.
        public var id: UInt64
        public var role: Role
        /// "app/name", without a query, which may hold a key.
        public var stream: String
        /// Address and port.
        public var peer: String
        /// Since it was accepted.
        public var seconds: Double
        /// From the peer, before TLS.
        public var bytesReceived: UInt64
        /// To the peer, before TLS.
        public var bytesSent: UInt64
        /// Frames that a player lost.
        public var framesDropped: Int
    }

    public var schema = "watchbox.relay.connections/1"
    /// Oldest first.
    public var connections: [Connection]

    init(connections: [Connection]) {
        self.connections = connections
    }
}

/// What a `DELETE` that was carried out answers.
public struct RelayKickDocument: Equatable, Sendable, Codable {
    public var schema = "watchbox.relay.kick/1"
    /// Of the connection that was ended.
    public var connection: UInt64
    public var role: RelayConnectionsDocument.Role
    /// "app/name".
    public var stream: String

    init(connection: UInt64, role: RelayConnectionsDocument.Role, stream: String) {
        self.connection = connection
        self.role = role
        self.stream = stream
    }
}

/// Why a request to the relay's API was not carried out.
public struct RelayProblem: Error, Equatable, Sendable, Codable {
    public var schema = "watchbox.relay.problem/1"
    /// Of HTTP.
    public var status: Int
    public var what: String
    public var why: String
    /// What to do about it.
    public var hint: String

    init(_ status: Int, what: String, why: String, hint: String) {
        self.status = status
        self.what = what
        self.why = why
        self.hint = hint
    }

    static func notFound(_ why: String) -> RelayProblem {
        RelayProblem(404, what: "nothing was ended", why: why, hint: "see who is there: watchboxctl relay connections")
    }

    static let ambiguousStream = RelayProblem(
        409, what: "nothing was ended", why: "two streams of different applications are written like this",
        hint: "name the connection by its ID: watchboxctl relay connections")
}
