internal import RTMP

/// A header message in the form in which it can be sent again at another time.
struct CachedHeader: Equatable, Sendable {
    var type: MessageType
    var payload: [UInt8]
}

/// The latest of each header: what a decoder and a decryptor need before the first frame.
struct StreamHeaders: Equatable, Sendable {
    var metadata: CachedHeader?
    var video: CachedHeader?
    var audio: CachedHeader?
    var ntdf: CachedHeader?

    /// In the order in which a late joiner gets them.
    var inOrder: [(kind: MediaKind, header: CachedHeader)] {
        [(.metadata, metadata), (.videoHeader, video), (.audioHeader, audio), (.ntdfHeader, ntdf)]
            .compactMap { (kind: MediaKind, header: CachedHeader?) in header.map { (kind, $0) } }
    }

    mutating func store(_ header: CachedHeader, as kind: MediaKind) {
        switch kind {
        case .metadata: metadata = header
        case .videoHeader: video = header
        case .audioHeader: audio = header
        case .ntdfHeader: ntdf = header
        case .data, .video, .audio: break
        }
    }
}

/// What a late joiner gets: the headers, and the messages since the latest key frame.
///
/// Headers come in two versions, because they change between key frames: those in force when the group of pictures
/// began go before it, later ones stand within it in their order. So a key that was rotated after the last key frame
/// never hides the older one under which the group was sealed.
struct StreamCache<Encoded: Sendable>: Sendable {
    /// The latest of each.
    private(set) var headers = StreamHeaders()
    /// Those that were in force at the key frame that `group` begins with.
    private(set) var headersOfGroup = StreamHeaders()
    /// From the latest key frame on, in order; empty when there was none, or when the group grew beyond its bounds.
    private(set) var group: [RelayedMessage<Encoded>] = []
    /// Of the group, `cost` summed up.
    private(set) var groupCost = 0
    /// When the key frame came, and what time it was given.
    private var groupBegan: UInt64 = 0
    private(set) var groupTime: UInt32 = 0

    mutating func headerArrived(_ header: CachedHeader, _ message: RelayedMessage<Encoded>, limits: RelayLimits) {
        headers.store(header, as: message.kind)
        appendToGroup(message, limits: limits)
    }

    mutating func frameArrived(
        _ message: RelayedMessage<Encoded>, time: UInt32, limits: RelayLimits, at now: UInt64
    ) {
        if message.kind.isKeyFrame {
            headersOfGroup = headers
            group.removeAll(keepingCapacity: group.capacity <= 1024)
            group.append(message)
            groupCost = message.cost
            groupBegan = now
            groupTime = time
            if groupCost > limits.groupBytes { forgetGroup() }
        } else {
            if now > groupBegan, now - groupBegan > limits.groupDuration { forgetGroup() }
            appendToGroup(message, limits: limits)
        }
    }

    mutating func clearMetadata() {
        headers.metadata = nil
    }

    /// The publisher is gone: nothing of it is given to who joins later.
    mutating func forget() {
        headers = StreamHeaders()
        headersOfGroup = StreamHeaders()
        forgetGroup()
    }

    private mutating func appendToGroup(_ message: RelayedMessage<Encoded>, limits: RelayLimits) {
        guard !group.isEmpty else { return }
        guard groupCost + message.cost <= limits.groupBytes, group.count < limits.groupMessages else {
            return forgetGroup()
        }
        group.append(message)
        groupCost += message.cost
    }

    private mutating func forgetGroup() {
        group = []
        groupCost = 0
    }
}
