/// Where a session was when it ended.
public enum SessionPhase: String, Equatable, Sendable {
    case handshake, connect, createStream, publish, play
    /// Media flows or may flow.
    case streaming
}

/// What the owner of a session does after it ended.
public enum RetryClass: Equatable, Sendable {
    /// We ended it ourselves.
    case never
    /// At once, with the hints of `RTMPSessionError.continueOnNewConnection`.
    case immediately
    /// With back-off.
    case transient
    /// With back-off: the relay still holds our old connection.
    case badName
    /// After minutes: an operator must act.
    case authentication
}

/// Why a session ended. Connection scope. Codes come from the peer, but are cut to letters, digits, dots and dashes;
/// nothing here holds an address, a key or a password.
public enum RTMPSessionError: Error, Equatable, Sendable {
    /// `stop` was called.
    case stopped
    /// The peer did not answer within the deadline of the phase.
    case timedOut(SessionPhase)
    /// The peer ended the connection, or the transport lost it.
    case peerClosed(SessionPhase)
    /// The peer's bytes are not RTMP that we accept.
    case protocolViolation(RTMPError)
    /// The name is taken.
    case badName
    /// The peer wants other credentials, or any. The code is `needauth`, `authfailed` or that of the status.
    case authenticationFailed(code: String)
    /// The peer refused `connect`, `createStream`, `publish` or `play`.
    case rejected(code: String)
    /// The stream is not there (yet).
    case streamNotFound
    /// The peer ended the stream with this status.
    case endedByPeer(code: String)
    /// Pings stay unanswered: the relay is dead, although its kernel may still take bytes.
    case pingUnanswered(nanoseconds: UInt64)
    /// Nothing that we sent was acknowledged by the peer's TCP for so long.
    case stalled(nanoseconds: UInt64)
    /// The peer wants another connection: an authentication step, or no `fourCcList`.
    case continueOnNewConnection(ConnectHints)
    /// A client sent more commands, or other ones, than a session has.
    case commandFlood
    /// The peer makes us answer and reads none of it: so many bytes wait.
    case answersUnread(bytes: Int)

    public var retry: RetryClass {
        switch self {
        case .stopped: .never
        case .continueOnNewConnection: .immediately
        case .badName: .badName
        case .authenticationFailed: .authentication
        case .timedOut, .peerClosed, .protocolViolation, .rejected, .streamNotFound, .endedByPeer, .pingUnanswered,
            .stalled, .commandFlood, .answersUnread:
            .transient
        }
    }
}

extension RTMPSessionError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .stopped: "stopped"
        case .timedOut(let phase): "no answer from the peer (\(phase.rawValue))"
        case .peerClosed(let phase): "the peer closed the connection (\(phase.rawValue))"
        case .protocolViolation(let error): "\(error)"
        case .badName: "the stream name is taken: another publisher, or our last connection, still holds it"
        case .authenticationFailed(let code):
            "the relay refuses our credentials (\(code)): check user, password, token and stream key"
        case .rejected(let code): "the peer refused (\(code))"
        case .streamNotFound: "there is no such stream yet"
        case .endedByPeer(let code): "the peer ended the stream (\(code))"
        case .pingUnanswered(let time): "no answer to pings for \(time / 1_000_000) ms"
        case .stalled(let time): "nothing sent was acknowledged for \(time / 1_000_000) ms"
        case .continueOnNewConnection: "the relay asks for another connection"
        case .commandFlood: "too many commands"
        case .answersUnread(let bytes): "the peer does not read our answers (\(bytes >> 10) KiB wait)"
        }
    }
}

/// A status code of the peer, made fit for logs and labels.
enum StatusCode {
    static let maxLength = 64

    static func sanitized(_ code: String) -> String {
        let kept = code.unicodeScalars.prefix(maxLength).filter { scalar in
            scalar.isASCII
                && (scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                    || scalar == "." || scalar == "-" || scalar == "_")
        }
        return kept.isEmpty ? "none" : String(String.UnicodeScalarView(kept))
    }
}
