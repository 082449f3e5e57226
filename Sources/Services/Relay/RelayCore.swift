internal import Glibc
internal import Logging
internal import NIOCore
internal import Platform
internal import RTMP
internal import RTMPTransport

/// Turns what `StreamHub` decides into effects on connections.
///
/// Confined to the server's event loop, which makes `@unchecked Sendable` true.
final class RelayCore: RTMPServerDelegate, @unchecked Sendable {
    /// Encoded once for message stream 1, on which nearly every player plays; see `write(_:to:)`.
    fileprivate static let commonStreamID: UInt32 = 1
    /// Of format 0, with a chunk stream id below 64.
    private static let headerLength = 12
    /// How many have their turn before sockets are looked at again.
    private static let turns = 16
    private static let pause = TimeAmount.microseconds(200)

    var hub: StreamHub<ByteBuffer>
    private(set) var connections: [ConnectionID: RTMPServerConnection] = [:]
    private(set) var roster = ConnectionRoster()
    var forwards: ForwardTable
    let chunkSize: Int
    var drain = Drain()
    /// Those that were asked to go before the process ends, and who waits for that.
    var departure: (connections: Set<ConnectionID>, done: EventLoopPromise<Void>)?
    private(set) var bytesSentToDeparted: UInt64 = 0
    private(set) var refused = 0
    /// Called with what happens; nil while nothing listens.
    var onEvent: ((RelayEvent) -> Void)?
    let logger: Logger
    private var ticker: RepeatedTask?
    private(set) var eventLoop: (any EventLoop)?
    /// Hands out what waited long enough for a frame that did not come.
    private var dueTask: (at: UInt64, task: Scheduled<Void>)?
    /// Those whose turn was over before all was sent that their connection would take.
    private var unfinished: [StreamHub<ByteBuffer>.Subscriber] = []
    private let limits: RelayLimits

    init(configuration: RelayConfiguration, chunkSize: Int, logger: Logger) {
        self.logger = logger
        self.chunkSize = chunkSize
        limits = configuration.limits
        forwards = ForwardTable(
            targets: configuration.forwards, authorityFile: configuration.forwardAuthorityFile,
            random: UInt64.random(in: .min ... .max))
        // One buffer for all encodings: it grows to the largest message and is copied once into what is shared.
        var scratch: [UInt8] = []
        hub = StreamHub(
            limits: configuration.limits, authorization: configuration.authorization, players: configuration.players
        ) {
            type, time, payload in
            scratch.removeAll(keepingCapacity: scratch.capacity <= 1 << 20)
            ChunkWriter.append(
                type, timestamp: time, streamID: Self.commonStreamID, chunkStreamID: type.mediaChunkStreamID,
                chunkSize: chunkSize, payload: payload, to: &scratch)
            return ByteBuffer(bytes: scratch)
        }
    }

    func start(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        ticker = eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(250), delay: .milliseconds(250)) {
            [weak self] _ in
            guard let self else { return }
            self.perform(self.hub.timePassed(at: Self.now))
            self.drainTimePassed()
            self.retryForwards()
        }
    }

    func stop() {
        ticker?.cancel()
        dueTask?.task.cancel()
    }

    // MARK: Messages to connections and listeners

    private static let drainMessage = "this relay is being taken out of service; try again later"

    func end(_ connection: RTMPServerConnection, code: String, reason: String) {
        roster.willEnd(connection.id, because: reason)
        connection.end(code: code, description: reason)
    }

    func report(
        _ event: RelayEvent.Kind, _ id: ConnectionID? = nil, stream: String? = nil, reason: String? = nil
    ) {
        guard let onEvent else { return }
        onEvent(
            RelayEvent(
                event: event, time: Self.wallClock, connection: id, stream: stream,
                peer: id.flatMap { connections[$0] }.map(Self.peer), reason: reason))
    }

    static func peer(_ connection: RTMPServerConnection) -> String {
        let address = connection.address.contains(":") ? "[\(connection.address)]" : connection.address
        return "\(address):\(connection.port ?? 0)"
    }

    /// Seconds since 1970: links expire by the clock on the wall, and events are published with it.
    static var wallClock: Double { Double(Clocks.wallMilliseconds) / 1000 }

    static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

    // MARK: What connections say

    func connection(_ connection: RTMPServerConnection, publishRequested request: PublishRequest) {
        connections[connection.id] = connection
        guard !drain.isOn else {
            refuse(connection, "publisher refused", "\(request.app)/\(request.streamName)", Self.drainMessage)
            return connection.rejectPublish(code: "NetStream.Publish.Failed", description: Self.drainMessage)
        }
        guard !hasComeBack(request) else {
            let reason = "this stream came from this relay: relays forward to each other in a circle"
            refuse(connection, "publisher refused", "\(request.app)/\(request.streamName)", reason)
            return connection.rejectPublish(code: "NetStream.Publish.Denied", description: reason)
        }
        perform(
            hub.publishRequested(
                connection.id, app: request.app, name: request.streamName, key: request.queryValue("key"),
                at: Self.now), asked: "\(request.app)/\(request.streamName)")
        if let path = hub.published(by: connection.id) { beginForwards(of: path, request) }
        handOut()
    }

    func connection(_ connection: RTMPServerConnection, playRequested request: PlayRequest) {
        connections[connection.id] = connection
        guard !drain.isOn, connection.hasRoomToPlay else {
            let reason =
                drain.isOn ? Self.drainMessage : "this relay has the maximum number of viewers; try again later"
            refuse(connection, "player refused", "\(request.app)/\(request.streamName)", reason)
            return connection.rejectPlay(code: "NetStream.Play.Failed", description: reason)
        }
        let credential = PlayCredential(
            key: request.queryValue("key"), expires: request.queryValue("expires"),
            signature: request.queryValue("signature"), time: Int64(Self.wallClock))
        perform(
            hub.playRequested(
                connection.id, app: request.app, name: request.streamName, network: connection.network,
                credential: credential, at: Self.now), asked: "\(request.app)/\(request.streamName)")
        handOut()
    }

    func idlePlayer(from network: String?) -> UInt64? {
        hub.youngestIdlePlayer { network == nil || connections[$0]?.network == network }
    }

    func serverChangedCertificate(error: RTMPTransportError?) {
        if let error {
            logger.warning(
                "the new certificate cannot be used, the old one stays", metadata: ["reason": "\(error.why)"])
        } else {
            logger.notice("a new certificate is in use")
        }
    }

    func connection(_ connection: RTMPServerConnection, received message: RTMPMessage) {
        hub.received(message, from: connection.id, at: Self.now)
    }

    func connectionReadCompleted(_ connection: RTMPServerConnection) {
        handOut()
    }

    func connectionBecameWritable(_ connection: RTMPServerConnection) {
        pump(connection)
    }

    func connectionFinished(_ connection: RTMPServerConnection) {
        left(connection, error: nil)
    }

    private func left(_ connection: RTMPServerConnection, error: RTMPTransportError?) {
        let path = hub.published(by: connection.id)
        // What gathers goes before the end.
        if path != nil { handOut(until: .max) }
        hub.finished(connection.id, at: Self.now)
        if let path { publisherLeft(path) }
        departure?.connections.remove(connection.id)
        if departure?.connections.isEmpty == true { departed() }
        guard let entry = roster.left(connection.id) else { return }
        report(
            entry.role == .publisher ? .publisherEnded : .playerLeft, connection.id, stream: entry.stream,
            reason: entry.reason ?? error?.why)
    }

    func connectionClosed(_ connection: RTMPServerConnection, error: RTMPTransportError?) {
        left(connection, error: error)
        bytesSentToDeparted += connection.bytesWritten
        if connections.removeValue(forKey: connection.id) != nil {
            logger.info("connection ended", metadata: log(connection, ["reason": "\(error?.why ?? "orderly")"]))
        } else if let error {
            // It never got so far as to ask for anything: noise of the network.
            logger.debug("connection ended", metadata: log(connection, ["reason": "\(error.why)"]))
        }
    }

    // MARK: What the hub decides

    /// - Parameter asked: "app/name" of the request that led to it.
    private func perform(_ actions: [StreamHub<ByteBuffer>.Action], asked: String? = nil) {
        for action in actions {
            switch action {
            case .acceptPublish(let id):
                guard let connection = connections[id] else { continue }
                joined(connection, as: .publisher)
                connection.acceptPublish()
            case .rejectPublish(let id, let reason):
                guard let connection = connections[id] else { continue }
                refuse(connection, "publisher refused", asked, reason.message)
                connection.rejectPublish(code: reason.code, description: reason.message)
            case .acceptPlay(let id):
                guard let connection = connections[id] else { continue }
                joined(connection, as: .player)
                connection.acceptPlay()
                hub.subscribers[id]?.outlet = connection
                // What is cached goes out in the same write as the answer.
                pump(connection)
            case .rejectPlay(let id, let reason):
                guard let connection = connections[id] else { continue }
                refuse(connection, "player refused", asked, reason.message)
                connection.rejectPlay(code: reason.code, description: reason.message)
            case .announceEnd(let id):
                guard let connection = connections[id] else { continue }
                pump(connection)
                connection.announceEnd()
            case .announceStart(let id):
                connections[id]?.announceReturn()
            case .close(let id, let reason):
                forwards[id]?.giveUp()
                guard let connection = connections[id] else { continue }
                logger.warning("connection closed", metadata: log(connection, ["reason": "\(reason.message)"]))
                end(connection, code: reason.code, reason: reason.message)
            }
        }
    }

    private func joined(_ connection: RTMPServerConnection, as role: RelayConnectionsDocument.Role) {
        let stream = hub.path(of: connection.id)
        roster.joined(connection.id, as: role, stream: stream, at: Self.now)
        report(role == .publisher ? .publisherStarted : .playerJoined, connection.id, stream: stream)
        logger.info("\(role.rawValue) accepted", metadata: log(connection, ["stream": "\(stream)"]))
    }

    private func refuse(
        _ connection: RTMPServerConnection, _ what: Logger.Message, _ stream: String?, _ reason: String
    ) {
        refused += 1
        report(.refused, connection.id, stream: stream, reason: reason)
        logger.warning(what, metadata: log(connection, ["reason": "\(reason)"]))
    }

    private func pumpReady() {
        for id in hub.takeReady() {
            if let connection = connections[id] {
                pump(connection)
            } else if let forward = forwards[id] {
                pump(forward)
            }
        }
    }

    /// Sends what is due to all who can take it at once, and what waits for the others as far as there is room.
    /// - Parameter until: what is due then.
    private func handOut(until: UInt64? = nil) {
        for delivery in hub.takeDue(at: until ?? Self.now) {
            for subscriber in delivery.offer(Self.joined(delivery.items)) {
                hub.enqueue(delivery.items, for: subscriber)
            }
        }
        pumpReady()
        guard let due = hub.nextDue, due < dueTask?.at ?? .max, let eventLoop else { return }
        dueTask?.task.cancel()
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: .uptimeNanoseconds(due)) { [weak self] in
            self?.dueTask = nil
            self?.handOut()
        }
        dueTask = (due, task)
    }

    /// A copy of its own is cheaper than a vector of buffers in each of a thousand writes.
    private static func joined(_ items: [OutputBatch<ByteBuffer>.Item]) -> ByteBuffer {
        guard items.count > 1 else { return items.first?.message.encoded ?? ByteBuffer() }
        var all = ByteBuffer()
        all.reserveCapacity(items.reduce(0) { $0 + $1.message.encoded.readableBytes })
        for item in items { all.writeImmutableBuffer(item.message.encoded) }
        return all
    }

    /// Hands over what waits, as far as there is room, in one write. Who has more to catch up on than one turn gives
    /// gets the rest after the others: of a thousand who join at once, each has its first frame before any has all.
    private func pump(_ connection: RTMPServerConnection) {
        guard let subscriber = hub.subscribers[connection.id] else { return connection.flush() }
        let now = Self.now
        if subscriber.queue.isSlow(limits, at: now) {
            subscriber.transit.observe(written: connection.bytesWritten, held: connection.bytesHeld, at: now)
        }
        let end = connection.bytesWritten + UInt64(limits.turnBytes)
        while connection.isWritable, connection.bytesWritten < end {
            guard let chunks = hub.dequeue(for: connection.id, at: now) else { return connection.flush() }
            write(chunks, to: connection)
        }
        connection.flush()
        if connection.isWritable, !subscriber.queue.isEmpty { awaitTurn(subscriber) }
    }

    func awaitTurn(_ subscriber: StreamHub<ByteBuffer>.Subscriber) {
        guard !subscriber.awaitsTurn else { return }
        subscriber.awaitsTurn = true
        if unfinished.isEmpty { scheduleTurns() }
        unfinished.append(subscriber)
    }

    /// By the clock: what is merely executed runs before the loop looks at a socket again.
    private func scheduleTurns() {
        eventLoop?.assumeIsolated().scheduleTask(in: Self.pause) { [weak self] in self?.takeTurns() }
    }

    /// One more turn for some of those who had to stop, before the loop looks after everybody else again.
    private func takeTurns() {
        let turn = unfinished.prefix(Self.turns)
        unfinished.removeFirst(turn.count)
        let others = !unfinished.isEmpty
        for subscriber in turn {
            subscriber.awaitsTurn = false
            if let connection = connections[subscriber.id] {
                pump(connection)
            } else if let forward = forwards[subscriber.id] {
                pump(forward)
            }
        }
        if others { scheduleTurns() }
    }

    private func write(_ chunks: ByteBuffer, to connection: RTMPServerConnection) {
        guard connection.streamID != Self.commonStreamID else { return connection.write(chunks) }
        let (header, body) = Self.readdressed(chunks, to: connection.streamID)
        connection.write(header)
        connection.write(body)
    }

    /// A message for another message stream: a header of its own, and the rest, which stays shared.
    static func readdressed(_ chunks: ByteBuffer, to streamID: UInt32) -> (header: ByteBuffer, body: ByteBuffer) {
        var body = chunks
        var header = body.readSlice(length: headerLength) ?? ByteBuffer()
        // Format 0 on a one-byte chunk stream id: the message stream id stands in bytes 8 to 11 of the first chunk.
        header.setInteger(streamID, at: header.readerIndex + 8, endianness: .little)
        return (header, body)
    }

    func log(_ connection: RTMPServerConnection, _ more: Logger.Metadata) -> Logger.Metadata {
        more.merging(["peer": "\(Self.peer(connection))"]) { old, _ in old }
    }
}

extension RTMPServerConnection: SubscriberOutlet {
    func offer(_ encoded: ByteBuffer) -> Bool {
        streamID == RelayCore.commonStreamID && writeAtOnce(encoded)
    }
}
