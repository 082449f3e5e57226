internal import RTMP

/// One connection to the relay.
typealias ConnectionID = UInt64

/// All of the relay's decisions, without a socket or a clock: who publishes what, who receives it, what is kept for
/// late joiners, what is dropped for slow ones, and when a stream ends.
///
/// Duties:
/// 1. a registry of streams, bounded in number and in the length of names;
/// 2. one publisher per stream; a second one wins when the first is silent or when both show the same key;
/// 3. headers and the latest group of pictures for late joiners (`StreamCache`);
/// 4. a bounded queue per subscriber (`SubscriberQueue`);
/// 5. subscribers outlive their publisher for a grace period, and see a time that never runs backwards.
///
/// Inputs are events; each returns what the driver must do. Media do not travel in actions: what comes gathers in a
/// batch per stream (`OutputBatch`). `takeDue` gives those that must go; the driver offers each to the subscribers that
/// are idle, in one piece, and gives the rest back (`enqueue`). For these `takeReady` names the connections for which
/// something waits, and `dequeue` hands it out as fast as each can take it, so that what a slow one cannot take stays
/// here, where it can be dropped.
///
/// `Encoded` is what the driver makes of a message, once, to be shared by all who receive it.
struct StreamHub<Encoded: Sendable> {
    /// Type, output time and body of a message.
    typealias Encoder = (MessageType, UInt32, ArraySlice<UInt8>) -> Encoded

    /// A batch that is on its way to all who play a stream.
    struct Delivery {
        let items: [OutputBatch<Encoded>.Item]
        let subscribers: [Subscriber]

        /// Gives it, in one piece, to all for whom nothing waits; those who could not take it come back.
        func offer(_ joined: Encoded) -> [Subscriber] {
            subscribers.filter { subscriber in
                guard subscriber.queue.isIdle, let outlet = subscriber.outlet else { return true }
                return !outlet.offer(joined)
            }
        }
    }

    let limits: RelayLimits
    let authorization: PublishAuthorization
    private let players: PlayAuthorization
    private let encode: Encoder

    private(set) var streams: [StreamPath: Stream] = [:]
    private var publishing: [ConnectionID: StreamPath] = [:]
    private(set) var subscribers: [ConnectionID: Subscriber] = [:]
    private var ready: [ConnectionID] = []
    /// Streams whose batch is not empty.
    private var gathering: [StreamPath] = []
    private var awaited: AwaitedNames
    /// Sums that outlive their streams.
    private(set) var forgotten = RelayTotals()

    init(
        limits: RelayLimits = RelayLimits(), authorization: PublishAuthorization = .open,
        players: PlayAuthorization = .open,
        encode: @escaping Encoder
    ) {
        self.limits = limits
        self.authorization = authorization
        self.players = players
        self.encode = encode
        awaited = AwaitedNames(limits: limits.awaited)
    }

    // MARK: Publishers

    mutating func publishRequested(
        _ connection: ConnectionID, app: String, name: String, key: String?, at now: UInt64
    ) -> [Action] {
        let path: StreamPath
        do throws(StreamPath.Fault) {
            path = try StreamPath(app: app, name: name, limit: limits.nameLength)
        } catch {
            return [.rejectPublish(connection, .invalidName(error))]
        }
        guard publishing[connection] == nil, subscribers[connection] == nil else {
            return [.rejectPublish(connection, .alreadyInUse)]
        }
        guard authorization.permits(path, key: key) else { return [.rejectPublish(connection, .notAuthorised)] }
        guard streams[path]?.publisher != nil || hasPlace(for: path) else {
            return [.rejectPublish(connection, .tooManyStreams)]
        }
        var actions: [Action] = []
        var stream = streams.removeValue(forKey: path) ?? Stream(path: path)
        if let old = stream.publisher {
            let silent = now > old.lastMessage && now - old.lastMessage > limits.publisherSilence
            guard silent || sameKey(old.key, key) else {
                streams[path] = stream
                return [.rejectPublish(connection, .nameTaken)]
            }
            publishing[old.connection] = nil
            actions.append(.close(old.connection, .replaced))
        }
        handOver(stream.batch.take(), to: stream.subscribers)
        stream.publisher = Publisher(connection: connection, key: key, since: now, lastMessage: now)
        stream.lostAt = nil
        stream.cache.forget()
        stream.timeline.publisherChanged()
        stream.counters.publishers += 1
        publishing[connection] = path
        awaited.forget(path)
        actions.append(.acceptPublish(connection))
        for subscriber in stream.subscribers {
            awaited.waitsNoMore(subscriber.id)
            subscriber.queue.publisherChanged()
            if subscriber.wasSentEnd {
                subscriber.wasSentEnd = false
                actions.append(.announceStart(subscriber.id))
            }
        }
        streams[path] = stream
        return actions
    }

    /// Names that are merely waited for take no publisher's place.
    private func hasPlace(for path: StreamPath) -> Bool {
        if authorization.reserves(path) { return true }
        return publishing.values.count { !authorization.reserves($0) } < limits.streams
    }

    private func sameKey(_ old: String?, _ new: String?) -> Bool {
        guard let old, let new else { return false }
        return PublishAuthorization.constantTimeEqual(old, new)
    }

    /// A media or data message from a publisher. Anything from a connection that does not publish is ignored: it was
    /// in flight when another took its place.
    mutating func received(_ message: RTMPMessage, from connection: ConnectionID, at now: UInt64) {
        guard let path = publishing[connection], let index = streams.index(forKey: path) else { return }
        streams.values[index].publisher?.lastMessage = now
        streams.values[index].counters.bytesReceived += message.payload.count
        guard !message.payload.isEmpty else { return }
        // A stream changes in place, through its own methods: one of the hub's would hold a copy meanwhile, and each
        // message would then copy the whole group of pictures.
        let relayed: RelayedMessage<Encoded>
        switch message.type {
        case .video:
            let kind = MediaKind.video(body: message.payload[...])
            relayed = streams.values[index].media(message, kind, .video, limits, encode, at: now)
        case .audio:
            let kind = MediaKind.audio(body: message.payload[...])
            relayed = streams.values[index].media(message, kind, .audio, limits, encode, at: now)
        case .dataAMF0, .dataAMF3:
            guard message.payload.count <= limits.dataMessageBytes else { return }
            guard let data = DataMessage(message.payload, type: message.type) else {
                streams.values[index].cache.clearMetadata()
                return
            }
            let header = CachedHeader(type: .dataAMF0, payload: Array(data.body))
            relayed = streams.values[index].header(header, data.kind, message.timestamp, limits, encode)
        default:
            return
        }
        guard !streams.values[index].subscribers.isEmpty else { return }
        if streams.values[index].batch.items.isEmpty { gathering.append(path) }
        streams.values[index].batch.append(relayed, limits: limits, at: now)
    }

    // MARK: Subscribers

    mutating func playRequested(
        _ connection: ConnectionID, app: String, name: String, network: String = "",
        credential: PlayCredential = PlayCredential(), at now: UInt64
    ) -> [Action] {
        let path: StreamPath
        do throws(StreamPath.Fault) {
            path = try StreamPath(app: app, name: name, limit: limits.nameLength)
        } catch {
            return [.rejectPlay(connection, .invalidName(error))]
        }
        guard publishing[connection] == nil, subscribers[connection] == nil else {
            return [.rejectPlay(connection, .alreadyInUse)]
        }
        guard players.permits(path, credential) else { return [.rejectPlay(connection, .notAuthorised)] }
        let known = streams[path]
        if known?.publisher == nil {
            let isKnown = known != nil || authorization.reserves(path)
            guard awaited.wait(connection, for: path, from: network, isKnown: isKnown, at: now) else {
                return [.rejectPlay(connection, .tooManyAwaited)]
            }
        }
        var stream = streams.removeValue(forKey: path) ?? Stream(path: path)
        guard stream.subscribers.count(where: { !$0.isForward }) < limits.subscribersPerStream else {
            streams[path] = stream
            awaited.waitsNoMore(connection)
            return [.rejectPlay(connection, .tooManySubscribers)]
        }
        // What gathers for the others is in the cache already.
        handOver(stream.batch.take(), to: stream.subscribers)
        let subscriber = Subscriber(connection, path: path)
        stream.subscribers.append(subscriber)
        subscribers[connection] = subscriber
        streams[path] = stream
        if stream.publisher != nil { sendCache(of: stream, to: subscriber, at: now) }
        return [.acceptPlay(connection)]
    }

    /// Another relay takes the stream. Nobody asks for it, so it needs no key and takes no viewer's place. False when
    /// nobody publishes it.
    mutating func join(_ connection: ConnectionID, _ path: StreamPath, at now: UInt64) -> Bool {
        guard isPublished(path), subscribers[connection] == nil, var stream = streams.removeValue(forKey: path) else {
            return false
        }
        handOver(stream.batch.take(), to: stream.subscribers)
        let subscriber = Subscriber(connection, path: path, isForward: true)
        stream.subscribers.append(subscriber)
        subscribers[connection] = subscriber
        streams[path] = stream
        sendCache(of: stream, to: subscriber, at: now)
        return true
    }

    func isPublished(_ path: StreamPath) -> Bool { streams[path]?.publisher != nil }

    /// Nil when this connection publishes nothing.
    func published(by connection: ConnectionID) -> StreamPath? { publishing[connection] }

    /// Metadata, video header, audio header, NanoTDF header, then the group of pictures.
    private mutating func sendCache(of stream: Stream, to subscriber: Subscriber, at now: UInt64) {
        let cache = stream.cache
        let headers = cache.group.isEmpty ? cache.headers : cache.headersOfGroup
        let time = cache.group.isEmpty ? stream.timeline.latest ?? 0 : cache.groupTime
        for (kind, header) in headers.inOrder {
            let message = RelayedMessage(
                kind: kind, size: header.payload.count, encoded: encode(header.type, time, header.payload[...]))
            deliver(message, to: subscriber, at: now)
        }
        for message in cache.group { deliver(message, to: subscriber, at: now) }
    }

    private mutating func deliver(_ message: RelayedMessage<Encoded>, to subscriber: Subscriber, at now: UInt64) {
        guard subscriber.queue.enqueue(message, limits: limits, at: now), !subscriber.isSignalled else { return }
        subscriber.isSignalled = true
        ready.append(subscriber.id)
    }

    // MARK: Handing out

    /// When the next batch must go; nil when none waits.
    var nextDue: UInt64? {
        gathering.lazy.compactMap { streams[$0]?.batch.due }.min()
    }

    /// The batches that must go now.
    mutating func takeDue(at now: UInt64) -> [Delivery] {
        guard !gathering.isEmpty else { return [] }
        var deliveries: [Delivery] = []
        var later: [StreamPath] = []
        for path in gathering {
            guard let index = streams.index(forKey: path), !streams.values[index].batch.items.isEmpty else { continue }
            guard streams.values[index].batch.due <= now else {
                later.append(path)
                continue
            }
            let items = streams.values[index].batch.take()
            deliveries.append(Delivery(items: items, subscribers: streams.values[index].subscribers))
        }
        gathering = later
        return deliveries
    }

    /// For one that could not take a batch at once.
    mutating func enqueue(_ items: [OutputBatch<Encoded>.Item], for subscriber: Subscriber) {
        for item in items { deliver(item.message, to: subscriber, at: item.arrived) }
    }

    private mutating func handOver(_ items: [OutputBatch<Encoded>.Item], to subscribers: [Subscriber]) {
        guard !items.isEmpty else { return }
        for subscriber in subscribers { enqueue(items, for: subscriber) }
    }

    /// The subscribers for which something waits since the last call; for each, `dequeue` until its connection is full
    /// or nothing is left.
    mutating func takeReady() -> [ConnectionID] {
        guard !ready.isEmpty else { return [] }
        defer { ready.removeAll(keepingCapacity: true) }
        return ready
    }

    /// The next message for a subscriber whose connection has room; nil when nothing waits.
    mutating func dequeue(for connection: ConnectionID, at now: UInt64) -> Encoded? {
        dequeueMessage(for: connection, at: now)?.encoded
    }

    /// The same, with what it is.
    mutating func dequeueMessage(for connection: ConnectionID, at now: UInt64) -> RelayedMessage<Encoded>? {
        guard let subscriber = subscribers[connection] else { return nil }
        guard let message = subscriber.queue.dequeue(subscriber.transit, limits: limits, at: now) else {
            subscriber.isSignalled = false
            return nil
        }
        subscriber.transit.wrote(message.size)
        // The connection may be full with the last one: nobody would come and find the queue empty.
        if subscriber.queue.isEmpty { subscriber.isSignalled = false }
        return message
    }

    /// For logs.
    func path(of connection: ConnectionID) -> String {
        (publishing[connection] ?? subscribers[connection]?.path)?.description ?? "none"
    }

    // MARK: Ends and time

    /// The connection closed, or stopped publishing or playing.
    mutating func finished(_ connection: ConnectionID, at now: UInt64) {
        if let path = publishing.removeValue(forKey: connection) {
            guard streams[path]?.publisher?.connection == connection else { return }
            streams[path]?.publisher = nil
            streams[path]?.cache.forget()
            streams[path]?.lostAt = now
            removeIfIdle(path)
        }
        if let subscriber = subscribers.removeValue(forKey: connection) {
            awaited.waitsNoMore(connection)
            let path = subscriber.path
            streams[path]?.subscribers.removeAll { $0 === subscriber }
            if !subscriber.isForward { streams[path]?.droppedByDeparted += subscriber.queue.dropped }
            removeIfIdle(path)
        }
    }

    /// A stream that nobody publishes and nobody waits for costs nothing.
    private mutating func removeIfIdle(_ path: StreamPath) {
        guard let stream = streams[path], stream.publisher == nil, stream.subscribers.isEmpty else { return }
        streams[path] = nil
        awaited.forget(path)
        forgotten.bytesReceived += stream.counters.bytesReceived
        forgotten.framesDropped += stream.droppedByDeparted.frames
    }

    /// The youngest player, of this network or of all, whose stream nobody publishes and nobody has just lost.
    func youngestIdlePlayer(where isMember: (ConnectionID) -> Bool) -> ConnectionID? {
        var youngest: ConnectionID?
        for stream in streams.values where stream.publisher == nil && stream.lostAt == nil {
            for subscriber in stream.subscribers
            where !subscriber.isForward && subscriber.id > youngest ?? 0 && isMember(subscriber.id) {
                youngest = subscriber.id
            }
        }
        return youngest
    }

    mutating func timePassed(at now: UInt64) -> [Action] {
        var actions: [Action] = awaited.impatient(at: now).map { .close($0, .waitedInVain) }
        for (id, subscriber) in subscribers where subscriber.queue.isHopeless(limits, at: now) {
            actions.append(.close(id, .tooSlow))
            forgotten.subscribersClosed += 1
        }
        for (path, stream) in streams {
            guard let lostAt = stream.lostAt, now > lostAt, now - lostAt >= limits.grace else { continue }
            streams[path]?.lostAt = nil
            for subscriber in stream.subscribers {
                subscriber.wasSentEnd = true
                actions.append(.announceEnd(subscriber.id))
            }
        }
        return actions
    }
}
