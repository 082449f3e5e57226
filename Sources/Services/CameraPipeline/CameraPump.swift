internal import CameraModel
internal import Media
internal import NIOCore
internal import NanoTDF
internal import RTMP
internal import RTMPTransport

/// The frame path on the event loop: takes units from the queue while the connection has room, seals each at that
/// moment, and writes it. What does not fit waits in the queue, where it can still be dropped.
///
/// Also the one place where a camera waits, for the end of a stream, for its next attempt, for a collection: each wait
/// ends at once when the camera is stopped or its source has ended.
///
/// Confined to `eventLoop`, which makes `@unchecked Sendable` true; the members that say so hop there.
final class CameraPump: @unchecked Sendable {
    /// Why a wait ended.
    enum Outcome: Sendable {
        /// What was waited for is there: the time is over, the collection is ready.
        case ready
        /// The connection ended, or never came to be.
        case closed(RTMPTransportError)
        /// The relay wants us elsewhere, or again, and may want it; it asked at this CLOCK_MONOTONIC, in nanoseconds.
        case redirected(to: RedirectRule.Destination, askedAt: UInt64)
        /// The source has ended and everything was sent.
        case drained
        case cancelled

        /// The relay is still there, and is informed that the stream ends here.
        var isOrderly: Bool {
            switch self {
            case .redirected, .drained, .cancelled: true
            case .ready, .closed: false
            }
        }
    }

    let eventLoop: any EventLoop
    private let channel: FrameChannel
    private let runner: SourceRunner
    private let monitor: CameraMonitor
    private let frameLog: FrameLog?
    private let needsCollection: Bool
    private let clock: StreamClock
    /// Nil: the bitrate stays as it is.
    private let follower: UplinkFollower?
    private let congestionControl: String?

    private var sealer: StreamSealer
    private var publisher: SealedPublisher?
    private var isStreaming = false
    /// The relay wants us elsewhere, and a key frame to move at is awaited.
    private var move: Move?
    /// The queue stayed open for the next relay: it begins with the key frame that we moved at.
    private var holdsQueue = false
    private var isCancelled = false
    private var waiter: CheckedContinuation<Outcome, Never>?
    private var timer: Scheduled<Void>?
    /// The wait is for a collection, not for a stream or a time.
    private var awaitsCollection = false
    /// The sealer took a collection: the supply is to make another.
    private var collectionTaken: (@Sendable (_ headerHash: [UInt8]) -> Void)?
    /// Says where to go when the relay asks; nil: stay.
    private var redirect: (@Sendable (_ tcURL: String?) -> RedirectRule.Destination?)?
    private struct Move {
        var destination: RedirectRule.Destination
        let askedAt: UInt64
        let deadline: Scheduled<Void>

        var outcome: Outcome { .redirected(to: destination, askedAt: askedAt) }
    }

    /// How long a relay that sends us away goes on being sent to, without a key frame to move at.
    private static let longestGoodbye = TimeAmount.seconds(2)

    /// Nanoseconds: frames that are missing for so long make a gap.
    private static let shortestGap: UInt64 = 2_000_000_000

    /// Frames get to the relay.
    private var isLive = false
    /// CLOCK_MONOTONIC: capture of the first of these.
    private var liveSince: UInt64 = 0
    /// CLOCK_MONOTONIC: capture of the last video frame that was sent.
    private var lastVideo: UInt64 = 0
    private var lastSent: UInt64?
    private var lastAcknowledged: UInt64?
    private var acknowledgedBytes: UInt64 = 0
    private var reportedDrops: UInt64 = 0
    private var forcedKeyFrames: UInt64 = 0

    init(
        eventLoop: any EventLoop, channel: FrameChannel, runner: SourceRunner, sealer: StreamSealer,
        needsCollection: Bool, clock: StreamClock, monitor: CameraMonitor, frameLog: FrameLog?,
        follower: UplinkFollower? = nil, congestionControl: String? = nil
    ) {
        self.eventLoop = eventLoop
        self.channel = channel
        self.runner = runner
        self.sealer = sealer
        self.needsCollection = needsCollection
        self.clock = clock
        self.monitor = monitor
        self.frameLog = frameLog
        self.follower = follower
        self.congestionControl = congestionControl
        follower?.send = { [weak self] in self?.pump() }
        follower?.audio = { [weak self] in self?.sealer.counters.audio.bytes ?? 0 }
    }

    // MARK: - From anywhere

    /// Starts the source, once: the first relay does, or whoever wants its frames without one.
    func startSource() {
        runner.start { [eventLoop] in eventLoop.execute { self.pump() } }
    }

    /// Publishes to `url` until the stream ends, for whatever reason. Call `leave` afterwards.
    ///
    /// - Parameter redirect: where to go when the relay asks for another connection; nil: stay. On the event loop.
    func publish(
        to url: RTMPURL, tls: RTMPClientTLS,
        redirect: @escaping @Sendable (_ tcURL: String?) -> RedirectRule.Destination? = { _ in nil }
    ) async -> Outcome {
        await wait {
            self.redirect = redirect
            self.publisher = SealedPublisher.connect(
                url: url, tls: tls, congestionControl: self.congestionControl, on: self.eventLoop, delegate: self)
        }
    }

    /// Says goodbye to the relay; within 1 s.
    func leave() async {
        let publisher = try? await eventLoop.submit { () -> SealedPublisher? in
            defer { self.publisher = nil }
            return self.publisher
        }.get()
        await publisher?.stop()
    }

    /// Until `delay` is over; less when there is nothing left to reconnect for.
    func pause(nanoseconds delay: UInt64) async -> Outcome {
        await wait {
            self.timer = self.eventLoop.scheduleTask(in: .nanoseconds(Int64(clamping: delay))) {
                self.resume(.ready)
            }
        }
    }

    /// Until a collection is ready; at once when there is one.
    func awaitCollection() async -> Outcome {
        await wait {
            self.awaitsCollection = true
            if !self.needsCollection || self.sealer.preparedCount > 0 { self.resume(.ready) }
        }
    }

    func setCollectionTaken(_ action: @escaping @Sendable (_ headerHash: [UInt8]) -> Void) async {
        try? await eventLoop.submit { self.collectionTaken = action }.get()
    }

    func offer(_ collection: PreparedCollection) async {
        try? await eventLoop.submit {
            if self.sealer.offer(collection) { self.runner.source.requestKeyFrame() }
            if self.awaitsCollection { self.resume(.ready) }
        }.get()
    }

    /// Forgets the collections that have waited since before `madeBefore`.
    func stock(madeBefore: UInt64) async -> CollectionSupply.Stock {
        let stock = try? await eventLoop.submit {
            let discarded = self.sealer.discardPrepared(madeBefore: madeBefore)
            return CollectionSupply.Stock(ready: self.sealer.preparedCount, discarded: discarded)
        }.get()
        return stock ?? CollectionSupply.Stock(ready: Int.max)
    }

    /// The KAS has a new key.
    func replaceCollections() async {
        try? await eventLoop.submit {
            self.sealer.discardPrepared()
            self.sealer.forceRotation()
            self.forcedKeyFrames += 1
            self.runner.source.requestKeyFrame()
        }.get()
    }

    /// A new collection from the next key frame on, which is asked for.
    func rotate() {
        eventLoop.execute {
            self.sealer.forceRotation()
            self.forcedKeyFrames += 1
            self.runner.source.requestKeyFrame()
        }
    }

    /// For a viewer that has just come, or an operator.
    func requestKeyFrame() {
        eventLoop.execute {
            self.forcedKeyFrames += 1
            self.runner.source.requestKeyFrame()
        }
    }

    func fill(_ statistics: CameraStatistics) async -> CameraStatistics {
        (try? await eventLoop.submit { self.filled(statistics) }.get()) ?? statistics
    }

    // MARK: - Waiting

    private func wait(_ begin: @escaping @Sendable () -> Void) async -> Outcome {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                eventLoop.execute {
                    precondition(self.waiter == nil, "two waits at once: a fault of the service")
                    self.waiter = continuation
                    if self.isCancelled { return self.resume(.cancelled) }
                    if self.channel.isDrained { return self.resume(.drained) }
                    begin()
                }
            }
        } onCancel: {
            eventLoop.execute {
                self.isCancelled = true
                self.resume(.cancelled)
            }
        }
    }

    private func resume(_ outcome: Outcome) {
        guard let waiter else { return }
        self.waiter = nil
        awaitsCollection = false
        timer?.cancel()
        timer = nil
        move?.deadline.cancel()
        move = nil
        if isStreaming {
            isStreaming = false
            follower?.end()
            if outcome.isOrderly, let publisher, sealer.finish() {
                publisher.write(sealer.entry)
                publisher.flush()
            }
            if !holdsQueue {
                endLive(until: outcome.isOrderly ? .max : publisher?.deliveredUntil ?? 0)
                channel.close()
            }
            sealer.end()
        } else if case .closed = outcome, holdsQueue {
            // No relay is there, and what waits grows old.
            holdsQueue = false
            channel.close()
        }
        waiter.resume(returning: outcome)
    }

    /// Frames do not get to the relay any more; what waits has not got there.
    ///
    /// - Parameter instant: up to which what was sent is known to have.
    private func endLive(until instant: UInt64) {
        guard isLive else { return }
        isLive = false
        let now = NIODeadline.now().uptimeNanoseconds
        var end = min(instant, now)
        if case .accessUnit(let waiting)? = channel.upcoming { end = min(end, waiting.captureInstant ?? end) }
        // Before its first frame there were the greetings alone.
        runner.published(false, from: max(end, liveSince))
    }

    /// A frame was sent: whether it is the first one, or follows others that were dropped.
    private func follow(_ event: MediaEvent, at now: UInt64, dropped: Bool) {
        guard case .accessUnit(let access) = event, access.track.isVideo || !sealer.hasVideo else { return }
        let captured = min(access.captureInstant ?? now, now)
        defer { if access.track.isVideo { lastVideo = captured } }
        if isLive {
            guard dropped, captured > lastVideo, captured - lastVideo > Self.shortestGap else { return }
            runner.published(false, from: lastVideo)
        }
        isLive = true
        liveSince = captured
        runner.published(true, from: captured)
    }

    // MARK: - The frame path

    /// Sends what waits, as far as the connection has room.
    private func pump() {
        guard isStreaming, let publisher else {
            // The source has ended while there was no relay.
            if channel.isDrained { resume(.drained) }
            return
        }
        while publisher.isWritable {
            if let move, let event = channel.upcoming, sealer.canBegin(with: event) {
                publisher.flush()
                holdsQueue = true
                // With that frame it goes on, if another relay takes it.
                endLive(until: .max)
                return resume(move.outcome)
            }
            guard let event = channel.next() else { break }
            let now = NIODeadline.now().uptimeNanoseconds
            switch sealer.seal(event, at: now) {
            case .noted: break
            case .send(let unit):
                publisher.write(sealer.entry)
                sent(unit, event, at: now)
            case .dropped(_, let requestKeyFrame):
                if requestKeyFrame { runner.source.requestKeyFrame() }
            }
        }
        publisher.flush()
        if channel.isDrained { resume(.drained) }
    }

    private func sent(_ unit: SealedUnit, _ event: MediaEvent, at now: UInt64) {
        lastSent = now
        let dropped = unit.isKeyFrame ? channel.snapshot.counters.videoDropped : reportedDrops
        follow(event, at: now, dropped: dropped > reportedDrops)
        if let frameLog, case .accessUnit(let access) = event {
            frameLog.append(
                FrameLog.Record(unit: unit, data: access.data, captured: access.captureInstant, sealed: now))
        }
        guard unit.isKeyFrame, unit.track.isVideo || unit.beginsCollection else { return }
        if unit.beginsCollection {
            if let collection = sealer.currentCollection { collectionTaken?(collection.sealer.headerHash) }
            if let name = unit.collection { monitor.report(.collectionStarted(name)) }
        }
        if dropped > reportedDrops { monitor.report(.framesDropped(video: dropped - reportedDrops)) }
        reportedDrops = dropped
    }

    private func filled(_ statistics: CameraStatistics) -> CameraStatistics {
        var statistics = statistics
        let queue = channel.snapshot
        let sealed = sealer.counters
        statistics.video.delivered = queue.counters.videoOffered
        statistics.video.lastCaptured = queue.counters.videoCaptured
        statistics.video.unchangedFrames = queue.counters.unchangedFrames.count
        statistics.audio.lastCaptured = queue.counters.audioCaptured
        statistics.video.sealed = sealed.video.sealed
        statistics.video.dropped = queue.counters.videoDropped + queue.counters.videoFlushed + sealed.video.dropped
        if let source = runner.source as? any SkippingSource {
            let late = UInt64(clamping: source.skippedFrames)
            statistics.video.late = late
            statistics.video.dropped += late
        }
        statistics.video.refused = sealed.video.refused
        statistics.video.bytes = sealed.video.bytes
        statistics.audio.delivered = queue.counters.audioOffered
        statistics.audio.sealed = sealed.audio.sealed
        statistics.audio.dropped = queue.counters.audioDropped + queue.counters.audioFlushed + sealed.audio.dropped
        statistics.audio.refused = sealed.audio.refused
        statistics.audio.bytes = sealed.audio.bytes
        statistics.queue.units = queue.units
        statistics.queue.bytes = queue.bytes
        statistics.queue.milliseconds = queue.duration.milliseconds
        statistics.keyFramesRequested = queue.counters.keyFrameRequests + sealed.keyFrameRequests + forcedKeyFrames
        statistics.collections = sealed.collections
        statistics.rotations = sealed.rotations
        statistics.rotationsDeferred = sealed.rotationsDeferred
        statistics.overheadBytes = sealed.overheadBytes
        statistics.collection = sealer.currentCollection?.name
        statistics.itemsInCollection = sealer.currentCollection?.sealer.itemCount ?? 0
        statistics.lastSent = lastSent
        statistics.clock =
            switch clock.time(at: NIODeadline.now().uptimeNanoseconds) {
            case .unset: .unset
            case .system: .system
            case .keyAccess: .keyAccess
            }
        if let metrics = publisher?.metrics {
            statistics.roundTripNanoseconds = metrics.pingRoundTrip ?? metrics.tcpRoundTrip
            if metrics.bytesAcknowledged > acknowledgedBytes {
                lastAcknowledged = NIODeadline.now().uptimeNanoseconds
            }
            acknowledgedBytes = metrics.bytesAcknowledged
        }
        statistics.lastAcknowledged = lastAcknowledged
        statistics.uplink = follower?.filled(queue.counters)
        return statistics
    }
}

extension CameraPump: SealedPublisherDelegate {
    func publisherStarted(_ publisher: SealedPublisher) {
        guard publisher === self.publisher, waiter != nil else { return }
        isStreaming = true
        acknowledgedBytes = 0
        // It has just answered: what the connection before this one last showed is of no account.
        lastAcknowledged = NIODeadline.now().uptimeNanoseconds
        holdsQueue = false
        sealer.begin()
        monitor.published(at: NIODeadline.now().uptimeNanoseconds)
        if channel.open() { runner.source.requestKeyFrame() }
        follower?.begin(publisher)
        startSource()
        pump()
    }

    func publisherBecameWritable(_ publisher: SealedPublisher) {
        guard publisher === self.publisher else { return }
        pump()
    }

    func publisher(_ publisher: SealedPublisher, wasAskedToReconnectTo tcURL: String?) {
        guard publisher === self.publisher, waiter != nil, let destination = redirect?(tcURL) else { return }
        let now = NIODeadline.now().uptimeNanoseconds
        guard isStreaming else { return resume(.redirected(to: destination, askedAt: now)) }
        // The last request counts, and the first one's deadline.
        guard move == nil else {
            move?.destination = destination
            return
        }
        move = Move(
            destination: destination, askedAt: now,
            deadline: eventLoop.scheduleTask(in: Self.longestGoodbye) {
                if let move = self.move { self.resume(move.outcome) }
            })
        forcedKeyFrames += 1
        runner.source.requestKeyFrame()
        pump()
    }

    func publisherClosed(_ publisher: SealedPublisher, error: RTMPTransportError) {
        guard publisher === self.publisher else { return }
        if isStreaming { endLive(until: publisher.deliveredUntil ?? 0) }
        self.publisher = nil
        // A relay that has sent us away need not wait for our goodbye.
        resume(move?.outcome ?? .closed(error))
    }
}
