internal import Logging
internal import NIOCore
internal import RTMP
internal import RTMPTransport
internal import Wire

/// What is handed on to other relays, one `Forward` for each stream and target.
struct ForwardTable {
    /// In all; more are not begun.
    static let maxCount = 256
    /// Above every connection's.
    private static let firstID: ConnectionID = 1 << 63

    /// What a publisher said of its stream.
    struct Origin {
        /// This relay included.
        let chain: RelayChain
        let fourCCs: [String]
    }

    let targets: [ForwardTarget]
    /// How the relays are trusted that streams go to with TLS.
    let tls: RTMPClientTLS
    /// Of this relay, while it runs: 16 hexadecimal digits.
    let relay: String
    private(set) var forwards: [ConnectionID: Forward] = [:]
    var plan = ForwardPlan(most: maxCount)
    /// Streams that are published here and may go on.
    private(set) var origins: [StreamPath: Origin] = [:]
    /// Those of them that do not go on, and why; bounded by the streams and the targets.
    private(set) var refusals: [ForwardPlan.Place: ForwardPlan.Refusal] = [:]
    private var lastID = firstID

    init(targets: [ForwardTarget], authorityFile: String? = nil, random: UInt64) {
        self.targets = targets
        tls = RTMPClientTLS(authorityFile: authorityFile)
        relay = Hexadecimal.encode(random)
    }

    subscript(_ id: ConnectionID) -> Forward? { forwards[id] }

    /// The places of a stream.
    func places(of path: StreamPath) -> [ForwardPlan.Place] {
        targets.indices.filter { targets[$0].takes(path) }.map { ForwardPlan.Place(path: path, number: $0 + 1) }
    }

    mutating func newID() -> ConnectionID {
        lastID += 1
        return lastID
    }

    mutating func published(_ path: StreamPath, _ origin: Origin) { origins[path] = origin }

    mutating func forget(_ path: StreamPath) {
        origins[path] = nil
        for place in places(of: path) { refusals[place] = nil }
    }

    mutating func insert(_ forward: Forward) {
        forwards[forward.id] = forward
        refusals[forward.place] = nil
    }

    mutating func remove(_ forward: Forward) {
        guard forwards.removeValue(forKey: forward.id) != nil else { return }
        plan.leave(forward.place)
    }

    /// False when it was refused before.
    mutating func refuse(_ place: ForwardPlan.Place, _ refusal: ForwardPlan.Refusal) -> Bool {
        refusals.updateValue(refusal, forKey: place) == nil
    }
}

extension RelayCore {
    /// A stream that came from here must not come back.
    func hasComeBack(_ request: PublishRequest) -> Bool { request.chain.relays.contains(forwards.relay) }

    /// A publisher came: its stream goes on to all who take it.
    func beginForwards(of path: StreamPath, _ request: PublishRequest) {
        guard !forwards.targets.isEmpty else { return }
        let chain = request.chain.adding(forwards.relay)
        for old in forwards.forwards.values where old.path == path && old.chain != chain { endForward(old) }
        forwards.forget(path)
        guard request.chain.mayGoOn else { return }
        forwards.published(path, .init(chain: chain, fourCCs: request.fourCCs))
        for place in forwards.places(of: path) { seek(place) }
    }

    private func seek(_ place: ForwardPlan.Place) {
        guard let origin = forwards.origins[place.path], !forwards.plan.holds(place), let eventLoop else { return }
        let target = forwards.targets[place.number - 1]
        guard target.url(for: place.path) != nil else { return refuse(place, .noURL) }
        let isReserved = hub.authorization.reserves(place.path)
        let name = target.name(of: place.path)
        let holder = forwards.plan.holder(of: name)
        switch forwards.plan.ask(place, name: name, isReserved: isReserved) {
        case .refused(let refusal): refuse(place, refusal)
        case .begin(let other):
            for forward in forwards.forwards.values where forward.place == other {
                endForward(forward)
                refuse(forward.place, other == holder ? .nameTaken : .tooMany)
            }
            let forward = Forward(
                id: forwards.newID(), path: place.path, target: target, number: place.number, chain: origin.chain,
                fourCCs: origin.fourCCs, tls: forwards.tls,
                redirectHosts: forwards.targets.map(\.authority), chunkSize: chunkSize, core: self, eventLoop: eventLoop
            )
            forwards.insert(forward)
            forward.begin()
        }
    }

    /// Reported once: a crowd of streams may ask for as long as they last.
    private func refuse(_ place: ForwardPlan.Place, _ refusal: ForwardPlan.Refusal) {
        guard forwards.refuse(place, refusal) else { return }
        logger.warning(
            "a stream is not forwarded",
            metadata: [
                "stream": "\(place.path)", "forward": "\(place.number)",
                "host": "\(forwards.targets[place.number - 1].host)", "reason": "\(refusal.message)",
            ])
    }

    /// It is a subscriber from now on: what is cached goes first.
    func forwardStarted(_ forward: Forward) {
        logger.info("stream is forwarded", metadata: log(forward))
        guard hub.join(forward.id, forward.path, at: Self.now) else { return }
        pump(forward)
    }

    /// - Parameter reason: nil when we ended it, or when it was reported already.
    func forwardStopped(_ forward: Forward, because reason: String?) {
        forward.dropped += hub.dropped(forward.id)
        hub.finished(forward.id, at: Self.now)
        guard let reason else { return }
        logger.warning(
            "forward waits", metadata: log(forward).merging(["reason": "\(reason)"]) { old, _ in old })
    }

    /// The name is taken there, or given back when it comes home.
    func mayMove(_ forward: Forward, to url: RTMPURL?) -> Bool {
        forwards.plan.move(forward.place, to: url.map { ForwardTarget.name(of: forward.path, at: $0) })
    }

    /// The next relay sent it elsewhere, where it does not go.
    /// - Parameter reason: nil: reported already.
    func forwardStays(_ forward: Forward, because reason: String?) {
        guard let reason else { return }
        logger.warning(
            "forward does not go where the next relay sends it",
            metadata: log(forward).merging(["reason": "\(reason)"]) { old, _ in old })
    }

    /// Its connection is gone. Without a publisher here there is nothing to come back with; and while this relay is
    /// being drained, who took the name at the next one is the publisher itself, which moved there.
    func mayReturn(_ forward: Forward, nameWasTaken: Bool) -> Bool {
        guard forwards[forward.id] === forward else { return false }
        guard hub.isPublished(forward.path), !(nameWasTaken && drain.isOn) else {
            endForward(forward)
            return false
        }
        return true
    }

    /// Who took the name at the next relay may be the publisher itself, whose old connection is dead but not yet known
    /// to be.
    func isSilent(_ path: StreamPath) -> Bool {
        guard let publisher = hub.streams[path]?.publisher else { return true }
        let now = Self.now
        return now > publisher.lastMessage && now - publisher.lastMessage > hub.limits.publisherSilence
    }

    /// One turn of the forward; the rest follows after the others'.
    func pump(_ forward: Forward) {
        guard let subscriber = hub.subscribers[forward.id] else { return }
        if send(to: forward, atMost: hub.limits.turnBytes), !subscriber.queue.isEmpty { awaitTurn(subscriber) }
    }

    /// True when it would take more.
    private func send(to forward: Forward, atMost bytes: Int) -> Bool {
        let now = Self.now
        var sent = 0
        while sent < bytes, forward.isWritable {
            guard let message = hub.dequeueMessage(for: forward.id, at: now) else { return false }
            sent += message.size
            forward.send(message)
        }
        return forward.isWritable
    }

    /// The publisher went: nothing is handed on any more, and nobody connects again in its name. The next publisher
    /// gets forwards of its own.
    func publisherLeft(_ path: StreamPath) {
        forwards.forget(path)
        for forward in forwards.forwards.values where forward.path == path {
            _ = send(to: forward, atMost: .max)
            endForward(forward)
        }
    }

    /// Those who were refused ask again when somebody left, the ones with a publish key of their own first.
    func retryForwards() {
        guard forwards.plan.hasRoomAgain else { return }
        forwards.plan.asksAgain()
        let waiting = forwards.refusals.filter { $0.value != .noURL }.keys
        for place in waiting where hub.authorization.reserves(place.path) { seek(place) }
        for place in waiting where !hub.authorization.reserves(place.path) { seek(place) }
    }

    private func endForward(_ forward: Forward) {
        forwards.remove(forward)
        let connection = forward.end()
        Task { await connection?.stop() }
    }

    /// For the end of the process.
    func endForwards() -> [RTMPPublisherConnection] {
        forwards.forwards.values.compactMap { forward in
            forwards.remove(forward)
            return forward.end()
        }
    }

    /// Those that go, and as many of those that do not.
    func forwardStatistics() -> [RelayStatistics.Forward] {
        let going = forwards.forwards.values.map { forward in
            var statistics = forward.statistics
            statistics.dropped += hub.dropped(forward.id)
            return statistics
        }
        let refused = forwards.refusals.prefix(ForwardTable.maxCount).map { place, refusal in
            RelayStatistics.Forward(
                number: place.number, host: forwards.targets[place.number - 1].host, path: place.path, state: .refused,
                reason: refusal.message)
        }
        return (going + refused).sorted { ($0.stream, $0.number) < ($1.stream, $1.number) }
    }

    private func log(_ forward: Forward) -> Logger.Metadata {
        ["stream": "\(forward.path)", "forward": "\(forward.number)", "host": "\(forward.target.host)"]
    }
}
