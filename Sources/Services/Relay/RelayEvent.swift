/// Something that happened at a relay, for its operator: it names peers, but no key, token or query.
public struct RelayEvent: Equatable, Sendable, Codable {
    public enum Kind: String, Sendable, Codable {
        case publisherStarted
        case publisherEnded
        case playerJoined
        case playerLeft
        /// Somebody asked to publish or to play, and may not.
        case refused
        /// The operator ended a connection.
        case kicked
        /// The relay accepts no client any more and sends away those that are there.
        case draining
        /// Nobody is left, or the time is over.
        case drained
        /// The last event for a listener that was too slow.
        case closed
    }

    public var schema = "watchbox.relay.event/1"
    public var event: Kind
    /// Seconds since 1970.
    public var time: Double
    /// As in `RelayConnectionsDocument`.
    public var connection: UInt64?
    /// "app/name".
    public var stream: String?
    /// Address and port.
    public var peer: String?
    /// As text, where there is something to say.
    public var reason: String?
}
