public import Media

/// Encoded frames between a source and the sealer: the only place where a camera process waits for a slow relay, and
/// the only place where it gives frames up.
///
/// Duties:
/// 1. Bounded. Video in time (`Limits.duration` of decode time), everything in bytes and in number.
/// 2. What does not fit is dropped **before** it is sealed: whole video frames, from the oldest one up to the next key
///    frame, so that a decoder never sees a hole inside a group of pictures. When no key frame is waiting, everything
///    up to the next one that the source delivers goes, and the source is asked for one.
/// 3. Audio is never dropped for congestion; only the hard bounds on bytes and number touch it, oldest first, after
///    all video has gone.
/// 4. Formats stay in order with the units that need them. A format that no unit used is superseded by the next.
/// 5. Every unit that came in is counted exactly once: taken, dropped, flushed, or still waiting.
///
/// While no relay listens (`close()` … `open()`) a live queue keeps formats only: frames would be stale, and the next
/// stream begins with a key frame of its own. A back-pressured queue (a file published as fast as the relay takes it)
/// keeps everything; its driver stops the source while `isFull`.
///
/// No clock and no locks; the driver owns both.
public struct FrameQueue: Sendable {
    /// What the queue does when the relay is slower than the source.
    public enum Discipline: Equatable, Sendable {
        /// Real time: drop, and stay current.
        case live
        /// The driver blocks the source while `isFull`; nothing is dropped for congestion.
        case backPressured
    }

    public struct Limits: Equatable, Sendable {
        /// Decode time between the oldest and the newest waiting video frame.
        public var duration: MediaTime
        /// Of media payload. A single unit above it is still accepted when nothing else waits.
        public var bytes: Int
        /// Access units.
        public var units: Int

        public init(duration: MediaTime = MediaTime(milliseconds: 2000), bytes: Int = 16 << 20, units: Int = 4096) {
            self.duration = duration
            self.bytes = max(1, bytes)
            self.units = max(2, units)
        }
    }

    /// Exact: `offered == taken + dropped + flushed + waiting`, per medium.
    public struct Counters: Equatable, Sendable {
        public var videoOffered: UInt64 = 0
        public var audioOffered: UInt64 = 0
        public var videoTaken: UInt64 = 0
        public var audioTaken: UInt64 = 0
        /// Given up for congestion, or because a key frame had to come first.
        public var videoDropped: UInt64 = 0
        /// Of `videoDropped`: given up by `dropWaitingVideo()`, and those that came from then to the next key frame.
        public var videoOutdated: UInt64 = 0
        /// Given up at the hard bound.
        public var audioDropped: UInt64 = 0
        /// Given up because there was no relay.
        public var videoFlushed: UInt64 = 0
        public var audioFlushed: UInt64 = 0
        public var keyFrameRequests: UInt64 = 0

        /// CLOCK_MONOTONIC in nanoseconds of the newest units.
        public var videoCaptured: UInt64?
        public var audioCaptured: UInt64?
        public var unchangedFrames = UnchangedFrames()

        public init() {}
    }

    public enum Action: Equatable, Sendable {
        case none
        /// Ask the source for a key frame: nothing can go on without one.
        case requestKeyFrame
    }

    public let discipline: Discipline
    public let limits: Limits
    public private(set) var counters = Counters()
    /// Bytes of media payload waiting.
    public private(set) var bytes = 0
    /// Units waiting.
    public private(set) var units = 0
    /// A relay listens; `next()` hands out.
    public private(set) var isOpen = false

    private var ring = MediaEventRing()
    private var waitingVideo = 0
    private var newestVideoTime = MediaTime.zero

    /// The next video frame that is accepted must be one that a decoder can begin with.
    private var awaitingKeyFrame = true
    /// Decode time of the first frame refused since the last request, so that a lost request is repeated.
    private var requestedAt: MediaTime?
    /// The key frame that is awaited is for those that were too old to be sent.
    private var resumesAfterOutdated = false

    /// The formats that a stream which begins now must begin with, as far as they have left the queue.
    private var takenVideoFormat: VideoFormat?
    private var takenAudioFormat: AudioFormat?

    private let comparesFrames: Bool

    /// - Parameter comparesFrames: `Counters.unchangedFrames` is counted.
    public init(limits: Limits = Limits(), discipline: Discipline = .live, comparesFrames: Bool = true) {
        self.limits = limits
        self.discipline = discipline
        self.comparesFrames = comparesFrames
    }

    /// The driver of a back-pressured queue stops its source while this is true.
    public var isFull: Bool { units >= limits.units || bytes >= limits.bytes }

    public var isEmpty: Bool { ring.isEmpty }

    /// Decode time between the oldest and the newest waiting video frame; zero with fewer than two.
    public var waitingDuration: MediaTime {
        guard waitingVideo > 1, let oldest = oldestVideoTime else { return .zero }
        return newestVideoTime > oldest ? newestVideoTime - oldest : .zero
    }

    /// The source delivered something.
    public mutating func offer(_ event: MediaEvent) -> Action {
        switch event {
        case .videoFormat, .audioFormat:
            ring.append(event)
            if ring.count > 1 { supersedeUnusedFormats() }
            return .none
        case .accessUnit(let unit):
            return unit.track.isVideo ? offerVideo(unit, event) : offerAudio(unit, event)
        }
    }

    /// The oldest waiting event; nil when there is none or no relay listens.
    public mutating func next() -> MediaEvent? {
        guard isOpen, let event = ring.popFirst() else { return nil }
        switch event {
        case .videoFormat(let format): takenVideoFormat = format
        case .audioFormat(let format): takenAudioFormat = format
        case .accessUnit(let unit):
            forget(unit)
            if unit.track.isVideo { counters.videoTaken += 1 } else { counters.audioTaken += 1 }
        }
        return event
    }

    /// What `next()` would hand out.
    public var upcoming: MediaEvent? { isOpen && !ring.isEmpty ? ring[0] : nil }

    /// A relay listens from now on, and knows nothing: the formats come first, video resumes at a key frame.
    public mutating func open() -> Action {
        guard !isOpen else { return .none }
        isOpen = true
        var front: [MediaEvent] = []
        if let takenVideoFormat { front.append(.videoFormat(takenVideoFormat)) }
        if let takenAudioFormat { front.append(.audioFormat(takenAudioFormat)) }
        var droppedAll = false
        if discipline == .backPressured {
            // What was sealed of the group of pictures before is lost to the new stream; its rest is of no use.
            droppedAll = dropVideo(upToNextKeyFrameBehind: -1)
        }
        if !front.isEmpty {
            for event in front + ring.takeAll() { ring.append(event) }
            supersedeUnusedFormats()
        }
        if discipline == .live || droppedAll { awaitingKeyFrame = true }
        guard awaitingKeyFrame, counters.videoOffered > 0 else { return .none }
        return request(at: newestVideoTime)
    }

    /// The relay is gone.
    public mutating func close() {
        isOpen = false
        guard discipline == .live else { return }
        for event in ring.takeAll() {
            if case .accessUnit(let unit) = event {
                forget(unit)
                if unit.track.isVideo { counters.videoFlushed += 1 } else { counters.audioFlushed += 1 }
            } else {
                ring.append(event)
            }
        }
        supersedeUnusedFormats()
        awaitingKeyFrame = true
        resumesAfterOutdated = false
    }

    /// What waits is too old to be worth sending: all video goes, and comes back with the next key frame. Audio and formats stay, in their
    /// order.
    public mutating func dropWaitingVideo() -> Action {
        guard discipline == .live, waitingVideo > 0 else { return .none }
        let before = counters.videoDropped
        _ = dropVideo(upToNextKeyFrameBehind: .max)
        counters.videoOutdated += counters.videoDropped - before
        awaitingKeyFrame = true
        resumesAfterOutdated = true
        return request(at: newestVideoTime)
    }

    // MARK: - Coming in

    private mutating func offerVideo(_ unit: AccessUnit, _ event: MediaEvent) -> Action {
        counters.videoOffered += 1
        counters.videoCaptured = unit.captureInstant
        if comparesFrames { counters.unchangedFrames.offered(unit) }
        guard isOpen || discipline == .backPressured else {
            counters.videoFlushed += 1
            return .none
        }
        if awaitingKeyFrame {
            guard unit.isKeyFrame else {
                counters.videoDropped += 1
                if resumesAfterOutdated { counters.videoOutdated += 1 }
                return repeatRequest(at: unit.decodeTime)
            }
            awaitingKeyFrame = false
            resumesAfterOutdated = false
            requestedAt = nil
        }
        append(unit, event)
        waitingVideo += 1
        newestVideoTime = unit.decodeTime
        guard discipline == .live else { return .none }
        return relieve()
    }

    private mutating func offerAudio(_ unit: AccessUnit, _ event: MediaEvent) -> Action {
        counters.audioOffered += 1
        counters.audioCaptured = unit.captureInstant
        guard isOpen || discipline == .backPressured else {
            counters.audioFlushed += 1
            return .none
        }
        append(unit, event)
        guard discipline == .live else { return .none }
        return relieve()
    }

    private mutating func append(_ unit: AccessUnit, _ event: MediaEvent) {
        ring.append(event)
        units += 1
        bytes += unit.data.count
    }

    private mutating func forget(_ unit: AccessUnit) {
        units -= 1
        bytes -= unit.data.count
        if unit.track.isVideo { waitingVideo -= 1 }
    }

    // MARK: - Giving up

    private var exceedsHardBound: Bool { units > 1 && (units > limits.units || bytes > limits.bytes) }

    private mutating func relieve() -> Action {
        guard exceedsHardBound || waitingDuration > limits.duration else { return .none }
        var action = Action.none
        while waitingVideo > 0, exceedsHardBound || waitingDuration > limits.duration {
            if dropVideo(upToNextKeyFrameBehind: 0) {
                awaitingKeyFrame = true
                action = request(at: newestVideoTime)
            }
        }
        while exceedsHardBound { dropOldestAudio() }
        return action
    }

    /// Drops video from the oldest frame to the first key frame whose place among the waiting video frames is greater
    /// than `position`; all of it when there is none.
    /// - Returns: no key frame was left to resume at.
    private mutating func dropVideo(upToNextKeyFrameBehind position: Int) -> Bool {
        var resumed = false
        var place = -1
        for event in ring.takeAll() {
            if !resumed, case .accessUnit(let unit) = event, unit.track.isVideo {
                place += 1
                resumed = place > position && unit.isKeyFrame
                if !resumed {
                    forget(unit)
                    counters.videoDropped += 1
                    continue
                }
            }
            ring.append(event)
        }
        supersedeUnusedFormats()
        return !resumed
    }

    private mutating func dropOldestAudio() {
        var dropped = false
        for event in ring.takeAll() {
            if !dropped, case .accessUnit(let unit) = event, !unit.track.isVideo {
                dropped = true
                forget(unit)
                counters.audioDropped += 1
            } else {
                ring.append(event)
            }
        }
        precondition(dropped, "over a bound of two units or more with neither video nor audio waiting")
    }

    /// Of several formats of one medium with no unit of it between them only the last one matters.
    private mutating func supersedeUnusedFormats() {
        var videoDecided = false
        var audioDecided = false
        var kept: [MediaEvent] = []
        kept.reserveCapacity(ring.count)
        for event in ring.takeAll().reversed() {
            switch event {
            case .accessUnit(let unit): if unit.track.isVideo { videoDecided = false } else { audioDecided = false }
            case .videoFormat:
                if videoDecided { continue }
                videoDecided = true
            case .audioFormat:
                if audioDecided { continue }
                audioDecided = true
            }
            kept.append(event)
        }
        for event in kept.reversed() { ring.append(event) }
    }

    // MARK: - Key frame requests

    private static let maxSilence = MediaTime(milliseconds: 2000)

    private mutating func request(at time: MediaTime) -> Action {
        requestedAt = time
        counters.keyFrameRequests += 1
        return .requestKeyFrame
    }

    /// Once per two seconds of refused video, or `limits.duration` where that is less: the encoder may have lost the first
    /// request.
    private mutating func repeatRequest(at time: MediaTime) -> Action {
        if let requestedAt, time >= requestedAt, time - requestedAt < min(limits.duration, Self.maxSilence) {
            return .none
        }
        return request(at: time)
    }

    private var oldestVideoTime: MediaTime? {
        for index in 0..<ring.count {
            if case .accessUnit(let unit) = ring[index], unit.track.isVideo { return unit.decodeTime }
        }
        return nil
    }
}
