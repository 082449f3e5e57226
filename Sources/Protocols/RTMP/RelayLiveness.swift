/// When a client session pings and when it calls its peer dead. All times in nanoseconds.
public struct LivenessRules: Equatable, Sendable {
    /// Between pings while media flows. With a driver that looks every 250 ms, a relay that freezes right after an
    /// answer is called dead within 5 s: 1.75 s to the next ping, 0.25 s until TCP has delivered it, 2.5 s without an
    /// answer, 0.25 s to the next look.
    public var pingInterval: UInt64 = 1_700_000_000
    /// Between pings while nothing flows.
    public var idlePingInterval: UInt64 = 10_000_000_000
    /// A ping unanswered for so long and nothing acknowledged for `silentTransport`: dead.
    public var unansweredWithoutProgress: UInt64 = 3_000_000_000
    public var silentTransport: UInt64 = 2_000_000_000
    /// A ping that is known to be in the peer's kernel, unanswered for so long: dead. No link can be blamed for that.
    public var unansweredAfterDelivery: UInt64 = 2_500_000_000
    /// A ping unanswered for so long: dead, whatever TCP says.
    public var unanswered: UInt64 = 8_000_000_000
    /// Nothing acknowledged for so long although bytes are outstanding: dead.
    public var stalledTransport: UInt64 = 4_000_000_000

    public init() {}
}

/// Decides whether the peer of a client session is alive, from pings and from the progress that TCP reports.
///
/// Kernel buffers hide a dead relay from a publisher for seconds; a ping's answer proves that everything sent before it
/// was read. A congested link answers late, but its TCP still acknowledges: so both are weighed. A peer that has never
/// answered a ping is assessed by TCP alone.
struct RelayLiveness: Sendable {
    private struct Ping {
        let value: UInt32
        let sent: UInt64
        /// Bytes that had been written when it was on its way; nil until the driver looked.
        var end: UInt64?
        /// When the peer's TCP was seen to have it.
        var delivered: UInt64?
    }

    /// Pings that may be outstanding; the first one is the evidence and stays.
    private static let maxOutstanding = 16

    private let rules: LivenessRules
    private var lastPing: UInt64?
    private var outstanding: [Ping] = []
    private var counter: UInt32 = 0
    /// Since the last ping.
    private var mediaFlowed = false
    /// The peer has answered a ping on this connection. While false, only TCP's rules apply, and status says so.
    private(set) var answersPings = false
    /// After the peer's FIN no answer can come.
    private var isHalfClosed = false
    /// When TCP last made progress; nil when the driver never reported any.
    private var lastProgress: UInt64?
    /// When the last ping was sent that was answered.
    private var lastAnswered: UInt64?
    /// Since when bytes have waited for TCP's acknowledgement without progress.
    private var outstandingSince: UInt64?

    init(rules: LivenessRules) {
        self.rules = rules
    }

    /// All that was written up to then the peer has read: what its kernel has, a program that hangs may never read. Nil: there are no answers,
    /// or none any more, since nobody asks behind the peer's FIN.
    var readUntil: UInt64? { isHalfClosed ? nil : lastAnswered }

    mutating func mediaWritten() { mediaFlowed = true }

    mutating func bytesWritten(at now: UInt64) {
        if outstandingSince == nil { outstandingSince = now }
    }

    mutating func bytesAcknowledged(someOutstanding: Bool, at now: UInt64) {
        lastProgress = now
        outstandingSince = someOutstanding ? now : nil
    }

    /// What the driver reads from TCP: bytes handed to it and bytes that the peer's kernel has, both since the
    /// beginning.
    mutating func transportObserved(acknowledged: UInt64, written: UInt64, at now: UInt64) {
        for index in outstanding.indices {
            let end = outstanding[index].end ?? written
            outstanding[index].end = end
            if outstanding[index].delivered == nil, acknowledged >= end { outstanding[index].delivered = now }
        }
    }

    mutating func peerHalfClosed() {
        isHalfClosed = true
        outstanding = []
    }

    /// The value of a ping that is to be sent now; nil while the last one is young enough.
    mutating func duePing(at now: UInt64) -> UInt32? {
        let interval = mediaFlowed ? rules.pingInterval : rules.idlePingInterval
        if let lastPing, now.elapsed(since: lastPing) < interval { return nil }
        return nextPing(at: now)
    }

    /// The value of a ping that is to be sent now, however young the last one is; nil after the peer's FIN.
    mutating func nextPing(at now: UInt64) -> UInt32? {
        guard !isHalfClosed else { return nil }
        lastPing = now
        mediaFlowed = false
        counter &+= 1
        if outstanding.count == Self.maxOutstanding { outstanding.remove(at: 1) }
        outstanding.append(Ping(value: counter, sent: now))
        return counter
    }

    /// The round trip in nanoseconds; nil when the value is not one of ours.
    mutating func pingAnswered(_ value: UInt32, at now: UInt64) -> UInt64? {
        guard let index = outstanding.firstIndex(where: { $0.value == value }) else { return nil }
        let sent = outstanding[index].sent
        outstanding.removeSubrange(...index)  // TCP keeps order: the earlier ones were read as well
        answersPings = true
        lastAnswered = max(lastAnswered ?? 0, sent)
        return now.elapsed(since: sent)
    }

    func verdict(at now: UInt64) -> RTMPSessionError? {
        if answersPings, let oldest = outstanding.first {
            let waiting = now.elapsed(since: oldest.sent)
            if let delivered = oldest.delivered, now.elapsed(since: delivered) >= rules.unansweredAfterDelivery {
                return .pingUnanswered(nanoseconds: waiting)
            }
            if waiting >= rules.unanswered { return .pingUnanswered(nanoseconds: waiting) }
            if let lastProgress, waiting >= rules.unansweredWithoutProgress,
                now.elapsed(since: lastProgress) >= rules.silentTransport
            {
                return .pingUnanswered(nanoseconds: waiting)
            }
        }
        if lastProgress != nil, let outstandingSince {
            let waiting = now.elapsed(since: outstandingSince)
            if waiting >= rules.stalledTransport { return .stalled(nanoseconds: waiting) }
        }
        return nil
    }
}

extension UInt64 {
    /// Nanoseconds from `earlier` to this instant; 0 when it is not later.
    func elapsed(since earlier: UInt64) -> UInt64 {
        self > earlier ? self - earlier : 0
    }
}
