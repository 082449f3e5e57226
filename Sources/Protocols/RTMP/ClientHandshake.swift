/// The client's half of the plain handshake: C0 C1 out, S0 S1 S2 in, C2 out (RTMP 1.0 §5.2).
///
/// S2 is counted, not compared with C1: a wrong echo does no harm (frames are sealed, the relay is not trusted), and
/// refusing it costs a feed.
public struct ClientHandshake: Sendable {
    public enum Action: Equatable, Sendable {
        case wait
        case write([UInt8])
        /// Write C2. `surplus` came after S2 in the same read and belongs to the chunk stream.
        case finish(write: [UInt8], surplus: ArraySlice<UInt8>)
        case close(RTMPError)
    }

    /// Random bytes in C1 and S1.
    public static let randomLength = 1528

    private enum State {
        case idle(random: [UInt8])
        case awaitingReply([UInt8])
        case finished, closed, modifying
    }

    private var state: State

    /// - Parameter random: the 1528 random bytes of C1; drawn by the caller, so that a test chooses them.
    public init(random: [UInt8]) {
        precondition(random.count == Self.randomLength)
        state = .idle(random: random)
    }

    public mutating func connected() -> Action {
        guard case .idle(let random) = state else { preconditionFailure("connected twice") }
        // Zeros at 4…7 announce the plain handshake; every server of this field takes it.
        return enter(.awaitingReply([]), .write([Handshake.version] + [UInt8](repeating: 0, count: 8) + random))
    }

    public mutating func received(_ bytes: ArraySlice<UInt8>) -> Action {
        switch state {
        case .awaitingReply(var reply):
            state = .modifying  // releases the enum's reference, so that the append does not copy
            let whole = 1 + 2 * Handshake.packetLength
            let taken = min(whole - reply.count, bytes.count)
            reply += bytes.prefix(taken)
            if let version = reply.first, version != Handshake.version {
                return enter(.closed, .close(.unsupportedVersion(version)))
            }
            guard reply.count == whole else { return enter(.awaitingReply(reply), .wait) }
            let s1 = Array(reply[1...Handshake.packetLength])
            return enter(.finished, .finish(write: s1, surplus: bytes.dropFirst(taken)))
        case .closed: return .wait  // was in flight when we closed
        case .idle, .finished, .modifying: preconditionFailure("bytes outside the handshake: a fault of the driver")
        }
    }

    private mutating func enter(_ next: State, _ action: Action) -> Action {
        state = next
        return action
    }
}

enum Handshake {
    /// C0 and S0.
    static let version: UInt8 = 3
    /// C1, C2, S1 and S2 in bytes.
    static let packetLength = 1536
}
