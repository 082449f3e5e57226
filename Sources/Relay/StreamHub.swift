internal import RTMP

/// One connection to the relay.
typealias ConnectionID = UInt64

/// The relay's whole judgement, without a socket or a clock: who publishes what, who receives it, what is kept for
/// late joiners, what is dropped for slow ones, and when a stream ends.
///
/// Duties:
/// 1. a registry of streams, bounded in number and in the length of names;
/// 2. one publisher per stream; a second one wins when the first is silent or when both show the same key;
/// 3. headers and the latest group of pictures for late joiners (`StreamCache`);
/// 4. a bounded queue per subscriber (`SubscriberQueue`);
/// 5. subscribers outlive their publisher for a grace period, and see a time that never runs backwards.
///
/// Inputs are events; each returns what the driver must do. Media do not travel in actions: `takeReady` names the
/// connections for which something waits, and `dequeue` hands it out as fast as each can take it, so that what a slow
/// one cannot take stays here, where it can be dropped.
///
/// `Encoded` is what the driver makes of a message, once, to be shared by all who receive it.
struct StreamHub<Encoded: Sendable> {
    /// Type, output time and body of a message.
    typealias Encoder = (MessageType, UInt32, ArraySlice<UInt8>) -> Encoded

    enum Action: Equatable, Sendable {
        case acceptPublish(ConnectionID)
        case rejectPublish(ConnectionID, PublishRejection)
        case acceptPlay(ConnectionID)
        case rejectPlay(ConnectionID, PlayRejection)
        /// StreamEOF and UnpublishNotify; the connection stays open.
        case announceEnd(ConnectionID)
        /// StreamBegin and PublishNotify to one that was told of the end, or that waits.
        case announceStart(ConnectionID)
        case close(ConnectionID, CloseReason)
    }

    enum PublishRejection: Equatable, Sendable {
        /// Another publisher holds the name and is alive.
        case nameTaken
        case notAuthorised
        case invalidName(StreamPath.Fault)
        /// The relay holds as many streams as it may.
        case tooManyStreams
        /// This connection publishes or plays already.
        case alreadyInUse
    }

    enum PlayRejection: Equatable, Sendable {
        case invalidName(StreamPath.Fault)
        case tooManyStreams
        case tooManySubscribers
        case alreadyInUse
    }

    enum CloseReason: Equatable, Sendable {
        /// A publisher with a better claim took the name.
        case replaced
        /// A subscriber that is too far behind.
        case tooSlow
    }

    struct Publisher {
        let connection: ConnectionID
        /// The stream key that it showed; nil when it showed none.
        let key: String?
        let since: UInt64
        var lastMessage: UInt64
    }

    struct Stream {
        let path: StreamPath
        var publisher: Publisher?
        /// When the last publisher went; nil while one is there, and once the subscribers were told.
        var lostAt: UInt64?
        var subscribers: [ConnectionID] = []
        var cache = StreamCache<Encoded>()
        var timeline = StreamTimeline()
        var counters = StreamCounters()
        /// What departed subscribers lost.
        var droppedByDeparted = DropCount()

        mutating func media(
            _ message: RTMPMessage, _ kind: MediaKind, _ track: StreamTimeline.Track, _ limits: RelayLimits,
            _ encode: Encoder, at now: UInt64
        ) -> RelayedMessage<Encoded> {
            guard !kind.isHeader else {
                let header = CachedHeader(type: message.type, payload: message.payload)
                return self.header(header, kind, message.timestamp, limits, encode)
            }
            if track == .video { counters.videoFrames += 1 } else { counters.audioFrames += 1 }
            let time = timeline.frame(message.timestamp, track, at: now)
            let relayed = RelayedMessage(
                kind: kind, size: message.payload.count, encoded: encode(message.type, time, message.payload[...]))
            cache.frameArrived(relayed, time: time, limits: limits, at: now)
            return relayed
        }

        mutating func header(
            _ header: CachedHeader, _ kind: MediaKind, _ time: UInt32, _ limits: RelayLimits, _ encode: Encoder
        ) -> RelayedMessage<Encoded> {
            let encoded = encode(header.type, timeline.header(time), header.payload[...])
            let relayed = RelayedMessage(kind: kind, size: header.payload.count, encoded: encoded)
            cache.headerArrived(header, relayed, limits: limits)
            return relayed
        }
    }

    struct Subscriber {
        let path: StreamPath
        var queue = SubscriberQueue<Encoded>()
        /// It stands in the ready list, or it waits for room in its connection.
        var isSignalled = false
        /// It was told that the stream ended.
        var wasToldEnd = false
    }

    let limits: RelayLimits
    let authorization: PublishAuthorization
    private let encode: Encoder

    private(set) var streams: [StreamPath: Stream] = [:]
    private var publishing: [ConnectionID: StreamPath] = [:]
    private(set) var subscribers: [ConnectionID: Subscriber] = [:]
    private var ready: [ConnectionID] = []
    /// Sums that outlive their streams.
    private(set) var forgotten = RelayTotals()

    init(
        limits: RelayLimits = RelayLimits(), authorization: PublishAuthorization = .open,
        encode: @escaping Encoder
    ) {
        self.limits = limits
        self.authorization = authorization
        self.encode = encode
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
        guard streams[path] != nil || streams.count < limits.streams else {
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
        stream.publisher = Publisher(connection: connection, key: key, since: now, lastMessage: now)
        stream.lostAt = nil
        stream.cache.forget()
        stream.timeline.publisherChanged()
        stream.counters.publishers += 1
        publishing[connection] = path
        actions.append(.acceptPublish(connection))
        for id in stream.subscribers {
            subscribers[id]?.queue.publisherChanged()
            if subscribers[id]?.wasToldEnd == true {
                subscribers[id]?.wasToldEnd = false
                actions.append(.announceStart(id))
            }
        }
        streams[path] = stream
        return actions
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
        for id in streams.values[index].subscribers { deliver(relayed, to: id, at: now) }
    }

    // MARK: Subscribers

    mutating func playRequested(
        _ connection: ConnectionID, app: String, name: String, at now: UInt64
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
        guard streams[path] != nil || streams.count < limits.streams else {
            return [.rejectPlay(connection, .tooManyStreams)]
        }
        var stream = streams.removeValue(forKey: path) ?? Stream(path: path)
        guard stream.subscribers.count < limits.subscribersPerStream else {
            streams[path] = stream
            return [.rejectPlay(connection, .tooManySubscribers)]
        }
        stream.subscribers.append(connection)
        subscribers[connection] = Subscriber(path: path)
        streams[path] = stream
        if stream.publisher != nil { sendCache(of: stream, to: connection, at: now) }
        return [.acceptPlay(connection)]
    }

    /// Metadata, video header, audio header, NanoTDF header, then the group of pictures.
    private mutating func sendCache(of stream: Stream, to connection: ConnectionID, at now: UInt64) {
        let cache = stream.cache
        let headers = cache.group.isEmpty ? cache.headers : cache.headersOfGroup
        let time = cache.group.isEmpty ? stream.timeline.latest ?? 0 : cache.groupTime
        for (kind, header) in headers.inOrder {
            let message = RelayedMessage(
                kind: kind, size: header.payload.count, encoded: encode(header.type, time, header.payload[...]))
            deliver(message, to: connection, at: now)
        }
        for message in cache.group { deliver(message, to: connection, at: now) }
    }

    private mutating func deliver(_ message: RelayedMessage<Encoded>, to id: ConnectionID, at now: UInt64) {
        guard let index = subscribers.index(forKey: id) else { return }
        guard subscribers.values[index].queue.enqueue(message, limits: limits, at: now) else { return }
        guard !subscribers.values[index].isSignalled else { return }
        subscribers.values[index].isSignalled = true
        ready.append(id)
    }

    /// The subscribers for which something waits since the last call; for each, `dequeue` until its connection is full
    /// or nothing is left.
    mutating func takeReady() -> [ConnectionID] {
        guard !ready.isEmpty else { return [] }
        defer { ready.removeAll(keepingCapacity: true) }
        return ready
    }

    /// The next message for a subscriber whose connection has room; nil when nothing waits.
    mutating func dequeue(for connection: ConnectionID) -> Encoded? {
        guard let index = subscribers.index(forKey: connection) else { return nil }
        guard let encoded = subscribers.values[index].queue.dequeue() else {
            subscribers.values[index].isSignalled = false
            return nil
        }
        return encoded
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
            let path = subscriber.path
            streams[path]?.subscribers.removeAll { $0 == connection }
            streams[path]?.droppedByDeparted += subscriber.queue.dropped
            removeIfIdle(path)
        }
    }

    /// A stream that nobody publishes and nobody waits for costs nothing.
    private mutating func removeIfIdle(_ path: StreamPath) {
        guard let stream = streams[path], stream.publisher == nil, stream.subscribers.isEmpty else { return }
        streams[path] = nil
        forgotten.bytesReceived += stream.counters.bytesReceived
        forgotten.framesDropped += stream.droppedByDeparted.frames
    }

    mutating func timePassed(at now: UInt64) -> [Action] {
        var actions: [Action] = []
        for (id, subscriber) in subscribers where subscriber.queue.isHopeless(limits, at: now) {
            actions.append(.close(id, .tooSlow))
            forgotten.subscribersClosed += 1
        }
        for (path, stream) in streams {
            guard let lostAt = stream.lostAt, now > lostAt, now - lostAt >= limits.grace else { continue }
            streams[path]?.lostAt = nil
            for id in stream.subscribers {
                subscribers[id]?.wasToldEnd = true
                actions.append(.announceEnd(id))
            }
        }
        return actions
    }
}

/// What one stream has carried.
struct StreamCounters: Equatable, Sendable {
    var bytesReceived = 0
    var videoFrames = 0
    var audioFrames = 0
    /// How many publishers it has had.
    var publishers = 0
}

/// What the relay keeps of streams that are gone.
struct RelayTotals: Equatable, Sendable {
    var bytesReceived = 0
    var framesDropped = 0
    var subscribersClosed = 0
}
