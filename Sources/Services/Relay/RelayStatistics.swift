/// A relay at one instant. Holds no keys and no addresses of viewers.
public struct RelayStatistics: Equatable, Sendable, Codable {
    public struct Stream: Equatable, Sendable, Codable {
        /// "app/name", which is ambiguous when the name holds a slash.
        public var path: String
        public var app: String
        public var name: String
        public var isPublished: Bool
        /// Of the present publisher, in seconds.
        public var publishedFor: Double?
        /// Publishers that it has had since it came into the registry.
        public var publishers: Int
        public var subscribers: Int
        public var bytesReceived: Int
        public var videoFrames: Int
        public var audioFrames: Int
        /// What is kept for late joiners, each message with 256 bytes more than its payload.
        public var groupBytes: Int
        public var groupMessages: Int
        public var hasNTDFHeader: Bool
        /// Of all its subscribers, departed ones included.
        public var dropped: DropCount
        /// Messages that wait for subscribers.
        public var queuedMessages: Int
    }

    /// A stream on its way to another relay.
    public struct Forward: Equatable, Sendable, Codable {
        public enum State: String, Sendable, Codable {
            case connecting
            case forwarding
            /// For the next attempt.
            case waiting
            /// There will be none.
            case failed
            /// It was not begun; `reason` says why.
            case refused
            case ended
        }

        /// Of the target, in the order of the configuration, from 1.
        public var number: Int
        /// Scheme, host and port: the rest of a target may be a secret.
        public var host: String
        /// "app/name", which is ambiguous when the name holds a slash.
        public var stream: String
        public var app: String
        public var name: String
        public var state: State
        /// Why it was refused.
        public var reason: String?
        /// That were accepted, the present one included.
        public var connections: Int
        public var bytesSent: UInt64
        public var dropped: DropCount

        init(
            number: Int, host: String, path: StreamPath, state: State, reason: String? = nil, connections: Int = 0,
            bytesSent: UInt64 = 0, dropped: DropCount = DropCount()
        ) {
            self.number = number
            self.host = host
            stream = path.description
            app = path.app
            name = path.name
            self.state = state
            self.reason = reason
            self.connections = connections
            self.bytesSent = bytesSent
            self.dropped = dropped
        }
    }

    public var streams: [Stream] = []
    /// Those that were refused included, 256 of them at most.
    public var forwards: [Forward] = []
    /// How many were refused.
    public var forwardsRefused = 0
    public var publishers = 0
    public var subscribers = 0
    /// Since the start, streams that are gone included.
    public var bytesReceived = 0
    public var framesDropped = 0
    /// Subscribers that were closed because they were too far behind.
    public var subscribersClosed = 0
    /// Requests to publish or to play that were refused.
    public var refused = 0
    /// Connections that publish, play, or asked to.
    public var connections = 0
    public var bytesSent = 0

    init() {}
}

extension StreamHub {
    func statistics(at now: UInt64) -> RelayStatistics {
        var statistics = RelayStatistics()
        for stream in streams.values {
            var dropped = stream.droppedByDeparted
            var queued = 0
            let players = stream.subscribers.filter { !$0.isForward }
            for subscriber in players {
                dropped += subscriber.queue.dropped
                queued += subscriber.queue.count
            }
            statistics.streams.append(
                RelayStatistics.Stream(
                    path: stream.path.description, app: stream.path.app, name: stream.path.name,
                    isPublished: stream.publisher != nil,
                    publishedFor: stream.publisher.map { now > $0.since ? Double(now - $0.since) / 1e9 : 0 },
                    publishers: stream.counters.publishers,
                    subscribers: players.count,
                    bytesReceived: stream.counters.bytesReceived,
                    videoFrames: stream.counters.videoFrames,
                    audioFrames: stream.counters.audioFrames,
                    groupBytes: stream.cache.groupCost,
                    groupMessages: stream.cache.group.count,
                    hasNTDFHeader: stream.cache.headers.ntdf != nil,
                    dropped: dropped,
                    queuedMessages: queued))
            statistics.publishers += stream.publisher == nil ? 0 : 1
            statistics.subscribers += players.count
            statistics.bytesReceived += stream.counters.bytesReceived
            statistics.framesDropped += dropped.frames
        }
        statistics.bytesReceived += forgotten.bytesReceived
        statistics.framesDropped += forgotten.framesDropped
        statistics.subscribersClosed = forgotten.subscribersClosed
        statistics.streams.sort { $0.path < $1.path }
        return statistics
    }

    /// What a connected subscriber has lost so far.
    func dropped(_ connection: ConnectionID) -> DropCount {
        subscribers[connection]?.queue.dropped ?? DropCount()
    }
}
