/// The server's half of the handshake: C0 C1 in, S0 S1 S2 out at once, C2 in (RTMP 1.0 §5.2).
///
/// A C1 with a valid digest is answered with digests (`DigestHandshake`): Flash players, and rtmpdump and FFmpeg in
/// their footsteps, insist on it. Any other C1 is echoed. C2 is counted, not compared.
public struct ServerHandshake: Sendable {
    public enum Action: Equatable, Sendable {
        case wait
        case write([UInt8])
        /// Write (nothing, or S0 S1 S2 when C2 came along with C1). `surplus` belongs to the chunk stream.
        case finish(write: [UInt8], surplus: ArraySlice<UInt8>)
        case close(RTMPError)
    }

    private enum State {
        case awaitingC1([UInt8], random: [UInt8])
        case awaitingC2(missing: Int)
        case finished, closed, modifying
    }

    private var state: State
    private let digests: RTMPDigests

    /// - Parameter random: 1528 random bytes for S1; drawn by the caller, so that a test chooses them.
    public init(random: [UInt8], digests: RTMPDigests) {
        precondition(random.count == ClientHandshake.randomLength)
        state = .awaitingC1([], random: random)
        self.digests = digests
    }

    public mutating func received(_ bytes: ArraySlice<UInt8>) -> Action {
        switch state {
        case .awaitingC1(var request, let random):
            state = .modifying  // releases the enum's reference, so that the append does not copy
            let whole = 1 + Handshake.packetLength
            let taken = min(whole - request.count, bytes.count)
            request += bytes.prefix(taken)
            if let version = request.first, version != Handshake.version {
                return enter(.closed, .close(.unsupportedVersion(version)))
            }
            guard request.count == whole else { return enter(.awaitingC1(request, random: random), .wait) }
            let reply = reply(to: Array(request.dropFirst()), random: random)
            let surplus = bytes.dropFirst(taken)
            guard surplus.count >= Handshake.packetLength else {
                return enter(.awaitingC2(missing: Handshake.packetLength - surplus.count), .write(reply))
            }
            return enter(.finished, .finish(write: reply, surplus: surplus.dropFirst(Handshake.packetLength)))
        case .awaitingC2(let missing):
            guard bytes.count >= missing else {
                return enter(.awaitingC2(missing: missing - bytes.count), .wait)
            }
            return enter(.finished, .finish(write: [], surplus: bytes.dropFirst(missing)))
        case .closed: return .wait  // was in flight when we closed
        case .finished, .modifying: preconditionFailure("bytes outside the handshake: a fault of the driver")
        }
    }

    private func reply(to c1: [UInt8], random: [UInt8]) -> [UInt8] {
        if let digest = DigestHandshake(c1: c1, hmac: digests.hmacSHA256) {
            return [Handshake.version] + digest.s1(random: random) + digest.s2(echo: c1)
        }
        return [Handshake.version] + [UInt8](repeating: 0, count: 8) + random + c1
    }

    private mutating func enter(_ next: State, _ action: Action) -> Action {
        state = next
        return action
    }
}
