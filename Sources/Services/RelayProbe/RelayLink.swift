public import RTMPTransport

/// What the way to a relay is like.
public struct RelayLink: Equatable, Sendable {
    public struct Upload: Equatable, Sendable {
        /// Acknowledged by the relay's kernel.
        public var bytes: UInt64
        public var milliseconds: Double
        public var bitsPerSecond: Double
        /// It was over too soon to say more.
        public var isAtLeast: Bool
    }

    public enum Outcome: Equatable, Sendable {
        /// The relay took a stream; how fast, where that was measured.
        case published(Upload?)
        /// It is not to be reached, is not trusted, refuses the stream, or ended it.
        case failed(RTMPTransportError)
    }

    public var outcome: Outcome
    /// Of its connection, also of one that failed after TLS was made.
    public var facts: RTMPLinkFacts

    public init(outcome: Outcome, facts: RTMPLinkFacts) {
        self.outcome = outcome
        self.facts = facts
    }
}
