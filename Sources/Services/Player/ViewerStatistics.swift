/// What a viewer can say about itself. Counts begin with the viewer and never go back.
public struct ViewerStatistics: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable, CaseIterable {
        case connecting
        /// The relay has no publisher of that name yet, or none any more.
        case waitingForStream
        /// Frames come, and their key does not.
        case waitingForKey
        case playing
        case waitingToReconnect
        case ended
    }

    /// Whether what is played is what was asked for, and live.
    public enum Verdict: String, Codable, Sendable, CaseIterable {
        /// The stream that was asked for, sealed no longer ago than the viewer accepts, whole and in order.
        case live
        /// It plays, and something about it cannot be determined: see `verdictReason`.
        case unverified
        /// An old one, and the viewer was set to accept that.
        case recording
        /// An old one: it is opened and not shown.
        case stale
        /// The key is another stream's, and is not used.
        case notThisStream
        /// The device that was asked for has not signed for it: the key is not used.
        case notThisPublisher
        /// Frames came in another order than they were sealed in; those are dropped.
        case disordered
        /// The end of the stream, or of a collection, never came.
        case truncated
    }

    public struct Track: Codable, Equatable, Sendable {
        /// Access units that were handed on.
        public var units: UInt64 = 0
        public var bytes: UInt64 = 0
        public var keyFrames: UInt64 = 0

        public init() {}
    }

    public var schema = "watchbox.viewer/1"
    public var state = State.connecting
    /// Why it is in that state, for a person.
    public var reason: String?
    /// Nil before the first frame.
    public var verdict: Verdict?
    /// Why the verdict is not `live`, for a person.
    public var verdictReason: String?
    /// Milliseconds since the newest time that the publisher sealed, by the KAS's clock; nil when it is not known.
    public var age: Int64?
    /// Units that were not shown because they are old.
    public var stale: UInt64 = 0
    /// Collections whose key was another stream's.
    public var notThisStream: UInt64 = 0
    /// Collections that the device which was asked for has not signed.
    public var notThisPublisher: UInt64 = 0
    /// `sha256//…` of the device key that signed what plays, verified here; nil when the KAS reports none.
    public var publisher: String?
    /// Items that came behind one of their medium that was sealed after them; never handed on.
    public var disordered: UInt64 = 0
    /// Ends of the stream, or of a collection, that never came.
    public var truncated: UInt64 = 0
    public var video = Track()
    public var audio = Track()
    /// Items that authenticated.
    public var opened: UInt64 = 0
    /// Items that were given up for lack of a key.
    public var noKey: UInt64 = 0
    public var authenticationFailed: UInt64 = 0
    /// Items that came twice; never handed on.
    public var replayed: UInt64 = 0
    /// Counters that were skipped: items that the relay lost.
    public var gaps: UInt64 = 0
    public var malformed: UInt64 = 0
    /// Headers that were announced, each asked for once.
    public var collections: UInt64 = 0
    /// Headers that came faster than a stream can have new ones.
    public var headersIgnored: UInt64 = 0
    /// Headers that are invalid.
    public var headersInvalid: UInt64 = 0
    /// Keys that were asked for ahead, and were there when their header came.
    public var keysAhead: UInt64 = 0
    public var rewraps: UInt64 = 0
    public var rewrapFailures: UInt64 = 0
    /// From the request to the key, nanoseconds; the longest.
    public var slowestRewrap: UInt64 = 0
    /// Messages that were no FLV body, or had no sequence header before them.
    public var unreadable: UInt64 = 0
    /// Units that an output was too slow for.
    public var outputDropped: UInt64 = 0
    /// Units that an output has no place for: audio whose format changed within a film, or was not known at its
    /// beginning.
    public var outputIgnored: UInt64 = 0
    public var reconnects: UInt64 = 0
    /// Times when the relay sent the viewer to another connection, and it went.
    public var moves: UInt64 = 0
    /// Bytes of audio, video and data messages from the relay.
    public var relayedBytes: UInt64 = 0

    public init() {}

    /// The gravest that was noticed at any time; nil when all was as it should be.
    public var finding: Verdict? {
        if notThisStream > 0 { return .notThisStream }
        if notThisPublisher > 0 { return .notThisPublisher }
        // Also when nothing came to be held back: the frame stood still.
        if stale > 0 || verdict == .stale { return .stale }
        if disordered > 0 { return .disordered }
        return truncated > 0 ? .truncated : nil
    }
}

/// Why a viewer ended before its time.
public enum ViewerError: Error, Equatable, Sendable {
    /// The relay will not let us, now or later.
    case relay(String)
    /// The stream is not encrypted, and nobody said that it may be shown.
    case clearStream
    /// The KAS refused the key.
    case denied(String)
    /// An output failed: disk full, no such directory.
    case output(String)
    /// The stream goes on in a format that an output which has begun cannot take.
    case formatChanged(String)
}

extension ViewerError: CustomStringConvertible {
    /// What happened.
    public var what: String {
        switch self {
        case .relay: "the relay does not play the stream"
        case .clearStream: "the stream is not encrypted"
        case .denied: "the key access server gives no key for this stream"
        case .output: "the output cannot be written"
        case .formatChanged: "the recording that was begun cannot take the stream's format"
        }
    }

    public var why: String {
        switch self {
        case .relay(let reason), .denied(let reason), .output(let reason), .formatChanged(let reason): reason
        case .clearStream:
            "its frames are readable by the relay, so somebody publishes without WatchBox, or in its place"
        }
    }

    public var hint: String {
        switch self {
        case .relay: "check the URL, and ask who runs the relay"
        case .clearStream: "use --allow-clear if that is what you expect"
        case .denied: "ask the owner of the stream for a token that covers it"
        case .output: "make room, or choose another path"
        case .formatChanged: "play it again, into another file; if nobody changed the camera, ask who runs the relay"
        }
    }

    public var description: String { "\(what): \(why). \(hint)" }
}
