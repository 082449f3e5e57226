internal import NIOCore
internal import RTMP
internal import RTMPTransport

/// One stream on its way to another relay: a connection as a publisher, made again for as long as the stream has a
/// publisher here. It ends with that one.
/// While it stands it is a subscriber of the stream like any other, with a queue of its own; while it does not, nothing
/// is kept for it.
///
/// Confined to the relay's event loop, which makes `@unchecked Sendable` true.
final class Forward: RTMPPublisherDelegate, @unchecked Sendable {
    typealias State = RelayStatistics.Forward.State

    private static let setDataFrame: [UInt8] = [2, 0, 13] + Array("@setDataFrame".utf8)

    let id: ConnectionID
    let path: StreamPath
    let target: ForwardTarget
    /// Number of the target, from 1.
    let number: Int
    /// What the next relay is sent, this relay included.
    let chain: RelayChain
    private(set) var state = State.connecting
    /// Lost on connections that are gone.
    var dropped = DropCount()
    private let fourCCs: [String]
    private let tls: RTMPClientTLS
    private let eventLoop: any EventLoop
    private weak var core: RelayCore?
    private var connection: RTMPPublisherConnection?
    private var backoff = ReconnectBackoff()
    private var began: UInt64 = 0
    /// Where the next relay sent this one; nil: nowhere.
    private var redirection: RTMPURL?
    /// The next relay sends this one to its own host and to those of other targets: a third party must not choose to whom
    /// this machine connects, and the key of the stream goes along.
    private var redirects: RedirectRule
    /// Somebody else got the name at the next relay.
    private var nameWasTaken = false
    private var retry: Scheduled<Void>?
    private var bytesOfDeparted: UInt64 = 0
    private var connections = 0
    /// Reported already: an outage may last for days.
    private var lastReason: String?
    private var reader: ChunkReader
    private let chunkSize: Int

    init(
        id: ConnectionID, path: StreamPath, target: ForwardTarget, number: Int, chain: RelayChain, fourCCs: [String],
        tls: RTMPClientTLS, redirectHosts: [String], chunkSize: Int, core: RelayCore, eventLoop: any EventLoop
    ) {
        self.id = id
        self.path = path
        self.target = target
        self.number = number
        self.chain = chain
        self.fourCCs = fourCCs
        self.tls = tls
        redirects = RedirectRule(allowed: redirectHosts)
        self.chunkSize = chunkSize
        self.core = core
        self.eventLoop = eventLoop
        reader = Self.reader(chunkSize)
    }

    /// For what the relay encoded itself.
    private static func reader(_ chunkSize: Int) -> ChunkReader {
        var reader = ChunkReader(limits: ChunkLimits(workWindow: .max))
        var output: [UInt8] = []
        var writer = ChunkWriter()
        writer.setChunkSize(chunkSize, to: &output)
        reader.append(output[...])
        _ = try? reader.next()
        return reader
    }

    func begin() {
        guard state != .ended, let core, core.mayReturn(self, nameWasTaken: false) else { return }
        if nameWasTaken, core.isSilent(path) { return wait(.badName) }
        nameWasTaken = false
        guard let url = redirection ?? target.url(for: path) else {
            state = .failed
            return
        }
        state = .connecting
        var session = PublisherSession.Configuration()
        session.announcesReconnect = true
        session.fourCCs = fourCCs
        session.chain = chain
        connection = RTMPPublisherConnection.connect(
            url: url, tls: tls, session: session, on: eventLoop, delegate: self)
    }

    /// Nothing more is sent. The goodbye is over when the result says so.
    func end() -> RTMPPublisherConnection? {
        state = .ended
        retry?.cancel()
        return leave()
    }

    /// The next relay does not keep up.
    func giveUp() {
        guard state == .forwarding else { return }
        close(ended(.transient))
    }

    var place: ForwardPlan.Place { ForwardPlan.Place(path: path, number: number) }

    var statistics: RelayStatistics.Forward {
        RelayStatistics.Forward(
            number: number, host: target.host, path: path, state: state, connections: connections,
            bytesSent: bytesOfDeparted + (connection?.metrics.bytesWritten ?? 0), dropped: dropped)
    }

    // MARK: Media

    var isWritable: Bool { state == .forwarding && connection?.isWritable == true }

    /// Check `isWritable` before.
    func send(_ message: RelayedMessage<ByteBuffer>) {
        guard let connection else { return }
        reader.append(Array(message.encoded.readableBytesView)[...])
        do {
            while let decoded = try reader.next() {
                // An order to the next relay, which is not handed to players.
                let prefix = message.kind == .metadata ? Self.setDataFrame : []
                connection.write(
                    decoded.type, timestamp: decoded.timestamp, prefix: prefix[...], payload: decoded.payload[...])
            }
        } catch {
            reader = Self.reader(chunkSize)
        }
        connection.flush()
    }

    // MARK: The connection

    func publisherStarted(_ publisher: RTMPPublisherConnection) {
        guard publisher === connection, state == .connecting else { return }
        state = .forwarding
        connections += 1
        began = NIODeadline.now().uptimeNanoseconds
        backoff.streamStarted(at: began)
        lastReason = nil
        core?.forwardStarted(self)
    }

    func publisherBecameWritable(_ publisher: RTMPPublisherConnection) {
        guard publisher === connection else { return }
        core?.pump(self)
    }

    func publisher(_ publisher: RTMPPublisherConnection, wasAskedToReconnectTo tcURL: String?) {
        guard publisher === connection, state == .forwarding else { return }
        let now = NIODeadline.now().uptimeNanoseconds
        guard let home = target.url(for: path) else { return }
        switch redirects.asked(toMoveTo: tcURL, from: redirection ?? home, home: home, at: now) {
        case .move(let destination):
            guard core?.mayMove(self, to: destination.place) != false else {
                if let place = destination.place { redirects.failed(place, at: now) }
                core?.forwardStays(self, because: ForwardPlan.Refusal.nameTaken.message)
                return
            }
            close(RedirectRule.pace(after: stay(at: now)), toGo: destination.place)
        case .refuse(let why, let isNews):
            core?.forwardStays(self, because: isNews ? why : nil)
        }
    }

    func publisherClosed(_ publisher: RTMPPublisherConnection, error: RTMPTransportError) {
        guard publisher === connection else { return }
        bytesOfDeparted += publisher.metrics.bytesWritten
        connection = nil
        core?.forwardStopped(self, because: error.why == lastReason ? nil : error.why)
        lastReason = error.why
        let retry = ended(error.retry)
        nameWasTaken = retry == .badName
        guard core?.mayReturn(self, nameWasTaken: nameWasTaken) == true else { return }
        wait(retry)
    }

    private func stay(at now: UInt64) -> UInt64 { state == .forwarding ? now &- began : 0 }

    /// See `RedirectRule.ended`.
    private func ended(_ retry: RetryClass) -> RetryClass {
        let now = NIODeadline.now().uptimeNanoseconds
        return redirects.ended(retry, at: redirection, after: stay(at: now), now: now)
    }

    private func close(_ retry: RetryClass, toGo place: RTMPURL? = nil) {
        let old = leave()
        Task { await old?.stop() }
        wait(retry, toGo: place)
    }

    private func leave() -> RTMPPublisherConnection? {
        defer { connection = nil }
        bytesOfDeparted += connection?.metrics.bytesWritten ?? 0
        core?.forwardStopped(self, because: nil)
        return connection
    }

    /// - Parameter place: where the next relay sent this one; elsewhere only as long as that works.
    private func wait(_ retry: RetryClass, toGo place: RTMPURL? = nil) {
        if redirection != nil, place == nil { _ = core?.mayMove(self, to: nil) }
        redirection = place
        let now = NIODeadline.now().uptimeNanoseconds
        let random = UInt64.random(in: .min ... .max)
        guard var delay = backoff.delay(after: retry, at: now, random: random) else {
            state = .failed
            return
        }
        // Long enough to see whether our publisher still sends.
        if nameWasTaken { delay = max(delay, core?.hub.limits.publisherSilence ?? 0) }
        state = .waiting
        self.retry = eventLoop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(delay))) { self.begin() }
    }
}
