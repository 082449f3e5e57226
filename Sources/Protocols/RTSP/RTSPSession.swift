/// A viewer's side of one connection to a camera, from OPTIONS to TEARDOWN (RFC 2326).
///
/// Its duties:
/// 1. OPTIONS without credentials, DESCRIBE, a SETUP for each medium that is selected, PLAY; each answer within its
///    deadline, all of it within one;
/// 2. the login: the strongest scheme that camera and settings allow, answered once, so that no account is locked;
/// 3. packets and messages apart, whatever a read cuts;
/// 4. keeping the session alive at half its timeout, by a request that the camera takes;
/// 5. an orderly end: TEARDOWN before every end of a session that the camera knows of.
///
/// It does no I/O: its owner writes what `.write` holds, in order, and calls `ticked` at `nextDeadline`. All times are
/// nanoseconds of one clock that never goes back. After `.redirected`, `.failed` or `.ended` nothing happens any more.
public struct RTSPSession: Sendable {
    enum Step: Equatable {
        case idle, options, describe
        /// Place in `selection`.
        case awaitingPorts(Int), setUp(Int)
        case play, playing, over
    }

    /// A request that waits for its answer.
    struct Outstanding {
        var cseq: UInt32
        var request: OutgoingRequest
        var isKeepAlive: Bool
        /// The challenge that its login answered; nil when it carries none.
        var challenge: Challenge?
        /// How often it was sent before, each time with another login.
        var attempts: Int
        var deadline: UInt64
    }

    /// A medium that the camera agreed to send.
    struct Track {
        var media: Int
        var url: String
        var control: String?
        var delivery: MediaTransport.Delivery
    }

    /// Unanswered keep-alives that are remembered.
    static let maxOutstanding = 8
    /// Requests of the camera that are answered within a second.
    static let maxServerRequests = 32
    /// Seconds that a session lives without a request when the camera does not say (RFC 2326 §12.37).
    static let defaultTimeout = 60
    /// Nanoseconds: media that came so long ago still flow. Cameras at low rates send a frame a second.
    static let mediaTimeout: UInt64 = 3_000_000_000

    let configuration: Configuration
    let userAgent: String
    var step = Step.idle
    var reader = ConnectionReader()
    var authenticator: Authenticator
    var cseq: UInt32 = 0
    var outstanding: [Outstanding] = []
    var sessionID: String?
    /// Of the first SETUP.
    var firstSessionID: String?
    var description: SessionDescription?
    /// What DESCRIBE's answer named as the base of controls.
    var base: String?
    /// Where requests for all media together go.
    var aggregate: RTSPURL
    var selection: [Int] = []
    /// Of UDP: the ports of the medium that is set up.
    var clientPorts: (rtp: UInt16, rtcp: UInt16) = (0, 0)
    var tracks: [Track] = []
    /// When the newest packet of a medium came.
    var mediaAt: UInt64?
    /// Whether PLAY says where to begin.
    var playsWithRange = true
    var setUpDeadline: UInt64 = 0
    var keepAliveAt: UInt64 = 0
    var getParameterWorks = false
    /// The camera refuses the login for keep-alives that it takes for everything else: they go without, so that no
    /// wrong login is counted.
    var keepsAliveWithoutLogin = false
    var serverRequestWindow: (start: UInt64, count: Int) = (0, 0)

    public internal(set) var facts = Facts()

    public init(_ configuration: Configuration) {
        self.configuration = configuration
        userAgent = CameraText.printable(configuration.userAgent, limit: 128)
        aggregate = configuration.url
        authenticator = Authenticator(
            credentials: configuration.credentials, allowsBasic: configuration.allowsBasic || configuration.isEncrypted,
            digest: configuration.digest, makeClientNonce: configuration.makeClientNonce)
    }

    /// PLAY was answered and nothing ended the session yet.
    public var isPlaying: Bool { step == .playing }

    /// Nothing happens any more.
    public var isOver: Bool { step == .over }

    /// When `ticked` must be called at the latest; nil before the connection and after the end.
    public var nextDeadline: UInt64? {
        switch step {
        case .idle, .over: nil
        case .playing: keepAliveAt
        default: outstanding.reduce(setUpDeadline) { min($0, $1.deadline) }
        }
    }

    // MARK: Inputs

    /// The transport (with its TLS) is established.
    public mutating func connected(at now: UInt64) -> [Action] {
        guard step == .idle else { return [] }
        setUpDeadline = now + configuration.setUpTimeout
        step = .options
        var actions: [Action] = []
        send(OutgoingRequest(method: "OPTIONS", url: configuration.url.description), at: now, &actions)
        return actions
    }

    /// Bytes of the connection. Packets that lie whole in `bytes` come back as slices of it: no byte of them is copied,
    /// and they keep its storage alive.
    public mutating func received(_ bytes: ArraySlice<UInt8>, at now: UInt64) -> [Action] {
        guard step != .idle, step != .over else { return [] }
        var actions: [Action] = []
        actions.reserveCapacity(bytes.count / 1024 + 2)
        var input = bytes
        do throws(RTSPFailure) {
            while step != .over, let item = try reader.next(&input) {
                switch item {
                case .frame(let channel, let payload): takeFrame(channel, payload, at: now, &actions)
                case .message(let message): take(message, at: now, &actions)
                }
            }
        } catch {
            fail(error, at: now, &actions)
        }
        facts.discardedBytes = reader.discarded
        return actions
    }

    /// The peer ended the connection, or the transport lost it.
    public mutating func connectionClosed(at now: UInt64) -> [Action] {
        guard step != .idle, step != .over else { return [] }
        if outstanding.contains(where: { $0.request.method == "GET_PARAMETER" }), !getParameterWorks {
            facts.getParameterRefused = true
        }
        let isNotRTSP = !reader.hasMessage && reader.isInsideItem
        let method = step == .playing ? nil : outstanding.first?.request.method
        // Some cameras close where others answer 401. A login that was shown, and taken for nothing yet, was refused.
        let tried = outstanding.first?.challenge?.scheme
        let isLoginOpen = step != .playing && authenticator.accepted == nil
        step = .over
        if !isNotRTSP, isLoginOpen, let method, let tried {
            return [.failed(.closedAtLogin(method: method, scheme: tried.name))]
        }
        return [.failed(isNotRTSP ? .notRTSP : .closed(method: method))]
    }

    /// A packet of a medium came beside the connection, as datagrams do.
    public mutating func mediaArrived(at now: UInt64) {
        mediaAt = max(mediaAt ?? 0, now)
    }

    /// The answer to `.needsPorts`.
    public mutating func portsBound(media: Int, rtp: UInt16, rtcp: UInt16, at now: UInt64) -> [Action] {
        guard case .awaitingPorts(let place) = step, selection[place] == media else { return [] }
        clientPorts = (rtp, rtcp)
        var actions: [Action] = []
        requestSetUp(place, transport: TransportHeader.udp(rtp: rtp, rtcp: rtcp), at: now, &actions)
        return actions
    }

    /// Time has passed: deadlines of answers, and the next keep-alive.
    public mutating func ticked(at now: UInt64) -> [Action] {
        var actions: [Action] = []
        switch step {
        case .idle, .over: break
        case .playing:
            if now >= keepAliveAt { keepAlive(at: now, &actions) }
        default:
            if let deadline = nextDeadline, now >= deadline {
                fail(.timeout(method: outstanding.first?.request.method ?? "SETUP"), at: now, &actions)
            }
        }
        return actions
    }

    /// Ends the session from our side; the answer to TEARDOWN is not waited for.
    public mutating func tearDown(at now: UInt64) -> [Action] {
        guard step != .over else { return [] }
        var actions: [Action] = []
        end(.ended, at: now, &actions)
        return actions
    }

    /// A packet of ours (a receiver report) as an interleaved frame; nil when this medium does not come that way, or
    /// the packet is too long for one.
    public func frameToSend(media: Int, isControl: Bool, _ bytes: [UInt8]) -> [UInt8]? {
        guard step != .over, bytes.count <= 0xFFFF, let track = tracks.first(where: { $0.media == media }),
            case .interleaved(let rtp, let rtcp) = track.delivery
        else { return nil }
        let length = UInt16(bytes.count)
        return [
            UInt8(ascii: "$"), isControl ? rtcp : rtp, UInt8(length >> 8), UInt8(truncatingIfNeeded: length),
        ] + bytes
    }

    // MARK: Media

    private mutating func takeFrame(
        _ channel: UInt8, _ payload: ArraySlice<UInt8>, at now: UInt64, _ actions: inout [Action]
    ) {
        let owner = reader.owners[Int(channel)]
        guard owner >= 0 else {
            facts.unknownChannelPackets += 1
            return
        }
        if owner & 1 == 0 { mediaArrived(at: now) }
        if step != .playing { facts.earlyPackets += 1 }
        actions.append(.media(index: Int(owner >> 1), isControl: owner & 1 == 1, payload))
    }

    // MARK: The end

    mutating func fail(_ failure: RTSPFailure, at now: UInt64, _ actions: inout [Action]) {
        end(.failed(failure), at: now, &actions)
    }

    mutating func end(_ last: Action, at now: UInt64, _ actions: inout [Action]) {
        guard step != .over else { return }
        if sessionID != nil || !tracks.isEmpty {
            send(OutgoingRequest(method: "TEARDOWN", url: aggregate.description), at: now, &actions)
        }
        step = .over
        outstanding = []
        actions.append(last)
    }
}
