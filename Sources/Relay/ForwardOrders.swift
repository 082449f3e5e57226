internal import Logging
internal import NIOCore
internal import RTMP
internal import RTMPTransport

/// What is handed on to other relays, one `Forward` for each stream and target.
struct ForwardTable {
    /// In all; more are not begun.
    static let most = 256
    /// Above every connection's.
    private static let firstID: ConnectionID = 1 << 63

    let targets: [ForwardTarget]
    /// Of this relay, while it runs: 16 hexadecimal digits.
    let relay: String
    private(set) var forwards: [ConnectionID: Forward] = [:]
    private var lastID = firstID

    init(targets: [ForwardTarget], random: UInt64) {
        self.targets = targets
        let digits = String(random, radix: 16)
        relay = String(repeating: "0", count: 16 - digits.count) + digits
    }

    subscript(_ id: ConnectionID) -> Forward? { forwards[id] }

    /// A new identifier; nil when there are enough.
    mutating func newID() -> ConnectionID? {
        guard forwards.count < Self.most else { return nil }
        lastID += 1
        return lastID
    }

    mutating func insert(_ forward: Forward) { forwards[forward.id] = forward }
    mutating func remove(_ forward: Forward) { forwards[forward.id] = nil }
}

extension RelayCore {
    /// A stream that came from here must not come back.
    func hasComeBack(_ request: PublishRequest) -> Bool { request.chain.relays.contains(forwards.relay) }

    /// A publisher came: its stream goes on to all who take it.
    func beginForwards(of path: StreamPath, _ request: PublishRequest, on eventLoop: any EventLoop) {
        let chain = request.chain.adding(forwards.relay)
        for old in forwards.forwards.values where old.path == path && old.chain != chain { endForward(old) }
        guard request.chain.mayGoOn else { return }
        for (index, target) in forwards.targets.enumerated() where target.takes(path) {
            if forwards.forwards.values.contains(where: { $0.path == path && $0.number == index + 1 }) { continue }
            guard let id = forwards.newID() else {
                logger.error("a stream is not forwarded: there are enough", metadata: ["stream": "\(path)"])
                return
            }
            let forward = Forward(
                id: id, path: path, target: target, number: index + 1, chain: chain, fourCCs: request.fourCCs,
                chunkSize: chunkSize, core: self, eventLoop: eventLoop)
            forwards.insert(forward)
            forward.begin()
        }
    }

    /// It is a subscriber from now on: what is cached goes first.
    func forwardStarted(_ forward: Forward) {
        logger.info("stream is forwarded", metadata: log(forward))
        guard hub.join(forward.id, forward.path, at: Self.now) else { return }
        pump(forward)
    }

    /// - Parameter reason: nil when we ended it, or when it was told already.
    func forwardStopped(_ forward: Forward, because reason: String?) {
        forward.dropped += hub.dropped(forward.id)
        hub.finished(forward.id, at: Self.now)
        guard let reason else { return }
        logger.warning(
            "forward waits", metadata: log(forward).merging(["reason": "\(reason)"]) { old, _ in old })
    }

    func pump(_ forward: Forward) {
        let now = Self.now
        while forward.isWritable, let message = hub.dequeueMessage(for: forward.id, at: now) { forward.send(message) }
    }

    /// Streams whose publisher went for good are handed on no longer.
    func endIdleForwards() {
        for forward in forwards.forwards.values where !hub.isAlive(forward.path) { endForward(forward) }
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

    func forwardStatistics() -> [RelayStatistics.Forward] {
        forwards.forwards.values.map { forward in
            var statistics = forward.statistics
            statistics.dropped += hub.dropped(forward.id)
            return statistics
        }.sorted { ($0.stream, $0.number) < ($1.stream, $1.number) }
    }

    private func log(_ forward: Forward) -> Logger.Metadata {
        ["stream": "\(forward.path)", "forward": "\(forward.number)", "host": "\(forward.target.host)"]
    }
}
