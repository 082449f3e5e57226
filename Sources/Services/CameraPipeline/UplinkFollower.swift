internal import CameraModel
internal import Media
internal import NIOCore
internal import RTMPTransport
internal import UplinkRate

/// Has a camera's encoder make as much as the way to the relay bears: looks at the connection and the queue ten times a second while a relay
/// takes the stream, and does what `UplinkRate` makes of it. What was learned of the way outlives a connection.
///
/// Confined to `eventLoop`, which makes `@unchecked Sendable` true.
final class UplinkFollower: @unchecked Sendable {
    private let eventLoop: any EventLoop
    private let channel: FrameChannel
    private let encoder: EncoderBitrate
    private let uplink: CameraConfiguration.Uplink
    private let requestKeyFrame: @Sendable () -> Void

    private var rate: UplinkRate
    private var known: EncoderBitrate.Current
    private var looks: RepeatedTask?
    /// No relay takes the stream, and the encoder has all of its bitrate.
    private var isReleased = false
    private var releasing: Scheduled<Void>?
    private weak var publisher: SealedPublisher?
    private var statistics = UplinkStatistics()
    /// CLOCK_MONOTONIC in nanoseconds of the newest sample.
    private var sampledAt: UInt64?

    /// Sends what waits, as far as the connection has room: what is left then waits for the link, and for nothing else.
    var send: (() -> Void)?
    /// Bytes of audio that were sent since the process began.
    var audio: (() -> UInt64)?

    private static let interval = TimeAmount.milliseconds(100)
    /// A relay that is connected to again at once finds the encoder as it was.
    private static let beforeRelease = TimeAmount.seconds(2)
    /// Nanoseconds.
    private static let sampleInterval: UInt64 = 1_000_000_000

    init(
        eventLoop: any EventLoop, channel: FrameChannel, encoder: EncoderBitrate, uplink: CameraConfiguration.Uplink,
        requestKeyFrame: @escaping @Sendable () -> Void
    ) {
        self.eventLoop = eventLoop
        self.channel = channel
        self.encoder = encoder
        self.uplink = uplink
        self.requestKeyFrame = requestKeyFrame
        known = encoder.current
        rate = UplinkRate(Self.limits(known.most, uplink))
    }

    private static func limits(_ most: Int, _ uplink: CameraConfiguration.Uplink) -> UplinkRate.Limits {
        UplinkRate.Limits(least: Double(uplink.least(of: most)), most: Double(most))
    }

    /// A relay takes the stream from now on.
    func begin(_ publisher: SealedPublisher) {
        releasing?.cancel()
        self.publisher = publisher
        statistics.congestionControl = nil
        followOperator()
        if isReleased {
            isReleased = false
            give(rate.pace.bitrate)
        }
        rate.connected()
        guard looks == nil else { return }
        looks = eventLoop.scheduleRepeatedTask(initialDelay: Self.interval, delay: Self.interval) {
            [weak self] task in
            guard let self else { return task.cancel() }
            self.look()
        }
    }

    /// The stream is over.
    func end() {
        publisher = nil
        statistics.congestionControl = nil
        releasing?.cancel()
        releasing = eventLoop.scheduleTask(in: Self.beforeRelease) { [weak self] in self?.release() }
    }

    /// Nobody is there who could be spared: what is recorded meanwhile is all that there will be.
    private func release() {
        guard publisher == nil, !isReleased else { return }
        isReleased = true
        let current = encoder.current
        if current.bitrate < current.most { _ = encoder.follow(current.most) }
    }

    private func look() {
        // Audio by itself waits for the next frame.
        if publisher != nil, channel.snapshot.duration > .zero { send?() }
        // It may have ended with that, and once more before the answer.
        guard let publisher else { return sample(at: NIODeadline.now().uptimeNanoseconds) }
        publisher.look { [weak self, weak publisher] metrics in
            guard let self, let publisher, publisher === self.publisher else { return }
            self.statistics.congestionControl = publisher.link?.congestionControl
            let now = NIODeadline.now().uptimeNanoseconds
            let queue = self.channel.snapshot
            self.take(
                LinkReading(
                    instant: now, queueDuration: UInt64(clamping: queue.duration.nanoseconds),
                    outstanding: Self.sum(metrics.bytesOutstanding, UInt64(queue.bytes)),
                    delivered: metrics.bytesDelivered, roundTrip: metrics.tcpRoundTrip,
                    leastRoundTrip: metrics.leastRoundTrip, frames: queue.counters.videoOffered,
                    audio: self.audio?() ?? 0))
            self.sample(at: now)
        }
    }

    private func take(_ reading: LinkReading) {
        followOperator()
        let decision = rate.take(reading)
        if let bitrate = decision.encoder, give(bitrate) {
            statistics.changes += 1
            statistics.lastChange = reading.instant
        }
        if decision.dropsQueue, channel.dropWaitingVideo() { requestKeyFrame() }
    }

    /// - Returns: false when the source refused it, which the rate then knows.
    @discardableResult
    private func give(_ bitrate: Int) -> Bool {
        if encoder.follow(bitrate) { return true }
        rate.change(Self.limits(known.most, uplink), encoder: encoder.current.bitrate)
        return false
    }

    /// What is configured may have changed while the camera publishes.
    private func followOperator() {
        let current = encoder.current
        guard current.revision != known.revision else { return }
        known = current
        rate.change(Self.limits(current.most, uplink), encoder: isReleased ? rate.pace.bitrate : current.bitrate)
    }

    private func sample(at now: UInt64) {
        if let sampledAt, now - sampledAt < Self.sampleInterval { return }
        sampledAt = now
        rate.use(encoder.kind)
        let excess = statistics.history.count + 1 - UplinkStatistics.maxHistory
        if excess > 0 { statistics.history.removeFirst(excess) }
        statistics.history.append(.init(target: Self.bits(rate.target), measured: measured))
    }

    /// At this moment; `queue` is what is known of the queue.
    func filled(_ queue: FrameQueue.Counters) -> UplinkStatistics {
        var statistics = statistics
        let most = encoder.current.most
        statistics.most = most
        statistics.least = uplink.least(of: most)
        statistics.target = min(Self.bits(rate.target), most)
        statistics.measured = measured
        statistics.delayMilliseconds = publisher == nil ? 0 : Int(rate.delay * 1000)
        statistics.reason = rate.reason
        statistics.drops = queue.videoOutdated
        return statistics
    }

    /// Nothing where no relay is.
    private var measured: Int { publisher == nil ? 0 : Self.bits(rate.measured) }

    private static func sum(_ one: UInt64, _ other: UInt64) -> UInt64 {
        let (sum, isOver) = one.addingReportingOverflow(other)
        return isOver ? .max : sum
    }

    private static func bits(_ rate: Double) -> Int { Int(min(max(rate, 0), 1e12)) }
}
