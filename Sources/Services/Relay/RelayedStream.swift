internal import RTMP

extension StreamHub {
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
        /// When the last publisher went; nil while one is there, and once the subscribers were informed.
        var lostAt: UInt64?
        var subscribers: [Subscriber] = []
        var batch = OutputBatch<Encoded>()
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
