internal import CameraModel
internal import Cryptography
internal import ErrorCatalog
internal import Glibc
internal import HTTPClient
internal import HTTPVideo
internal import Platform
internal import RTP
internal import RTSP

/// One attempt at a camera that sends JPEG images over HTTP, until it ends. What is reported of it is what is reported of an
/// RTSP session with MJPEG. Used by one thread, which it blocks.
final class HTTPPull: CameraPull {
    private(set) var options: StreamPull.Options
    private let wakeup: Wakeup
    private let handle: (StreamPull.Event, UInt64) -> Void
    private let isOver: () -> Bool

    private var connection: RawConnection?
    private var session: HTTPVideoSession
    private var output = StreamPull.Output()
    private var buffer = [UInt8](repeating: 0, count: StreamPull.bufferSize)
    /// Of a stream; a frame that is asked for has its deadline.
    private var watch: FreezeWatch?
    private var choice: MediaChoice?
    private var isPolled = false
    private var clock = StreamClock(clockRate: clockRate, policy: .arrival)
    private var measure = FrameRate()
    private var hasBegun = false
    private var hasMore = false
    private var tickedAt: UInt64 = 0

    private static let clockRate = 90_000
    private static let maxPending = 64 << 10

    /// - Parameters:
    ///   - handle: is called on the running thread.
    ///   - isOver: whether enough has come.
    init(
        _ options: StreamPull.Options, wakeup: Wakeup, isOver: @escaping () -> Bool = { false },
        handle: @escaping (StreamPull.Event, UInt64) -> Void
    ) {
        self.options = options
        self.wakeup = wakeup
        self.handle = handle
        self.isOver = isOver
        measure.known = options.knownRate
        session = Self.session(options)
    }

    private static func session(_ options: StreamPull.Options) -> HTTPVideoSession {
        var configuration = HTTPVideoSession.Configuration(
            url: options.url, credentials: options.credentials, userAgent: "WatchBox",
            digest: { algorithm, bytes in
                switch algorithm {
                case .md5: Digest.md5(bytes)
                case .sha256: Digest.sha256(bytes)
                }
            }, makeClientNonce: { StreamPull.randomText(32) })
        configuration.allowsBasic = options.allowsBasic
        if options.showsOneLogin { configuration.maxLogins = 1 }
        configuration.interval = UInt64(1e9 / min(max(options.snapshotRate, 0.1), 30))
        return HTTPVideoSession(configuration)
    }

    // MARK: - Facts

    var authentication: String { session.facts.authentication }
    var server: String? { session.facts.server }
    var hasAudio: Bool { false }
    var knownGroup: UInt64 { 0 }
    /// How often frames are asked for says nothing about a stream.
    var knownRate: Double? { isPolled ? nil : measure.known }
    var receiveBuffer: Int? { nil }
    var isGetParameterRefused: Bool { false }

    var counters: PullCounters {
        var counters = PullCounters()
        counters.packets = session.facts.frames
        counters.damaged = session.facts.damaged
        return counters
    }

    func reportTiming(_ network: inout NetworkStatistics) {
        network.videoTiming = .init(basis: .arrival)
        network.audioTiming = nil
    }

    // MARK: - Running

    func run() throws(PullFault) {
        defer { connection = nil }
        try connect()
        while !wakeup.isStopped, !isOver() {
            try workTimers(at: Clocks.monotonic)
            try wait()
            try read()
        }
    }

    private func connect() throws(PullFault) {
        // Cameras with room for one viewer have to see the end of the connection before.
        connection = nil
        output = StreamPull.Output()
        hasMore = false
        try options.checkLogin(at: session.place, from: options.url)
        let made = try RawConnection.toCamera(session.place, options, wakeup: wakeup) { pin in
            handle(.certificateSeen(pin: pin), Clocks.monotonic)
            // For the connections that follow.
            options.pin = pin
        }
        connection = made
        if !hasBegun {
            hasBegun = true
            handle(.connected(address: made.peerAddress, pin: made.pin), Clocks.monotonic)
        }
        try perform(session.connected(at: Clocks.monotonic), at: Clocks.monotonic)
    }

    private func perform(_ actions: [HTTPVideoSession.Action], at now: UInt64) throws(PullFault) {
        for action in actions {
            switch action {
            case .write(let bytes):
                output.append(bytes)
                try flush()
            case .reconnect: try connect()
            case .close:
                connection = nil
                output = StreamPull.Output()
            case .playing(let isPolled): playing(isPolled: isPolled, at: now)
            case .frame(let jpeg): took(jpeg, at: now)
            case .unchanged: break
            case .failed(let failure): throw PullFault(failure, isLive: session.facts.frames > 0)
            }
        }
    }

    private func playing(isPolled: Bool, at now: UInt64) {
        watch = isPolled ? nil : FreezeWatch(rate: nil, at: now)
        // A camera that changes its ways is decoded and encoded as before.
        guard choice == nil else { return }
        self.isPolled = isPolled
        if isPolled { measure.known = min(max(options.snapshotRate, 1), 30) }
        let choice = MediaChoice(
            index: 0, kind: .mjpeg, format: .jpeg, payloadType: 26, clockRate: Self.clockRate,
            frameRate: measure.known)
        self.choice = choice
        handle(.described(MediaSelection(video: choice)), now)
        handle(.playing, now)
    }

    private func took(_ jpeg: [UInt8], at now: UInt64) {
        watch?.frameArrived(at: now, isKeyFrame: true)
        guard var choice, let rate = measure.took(at: now) else { return }
        choice.frameRate = rate
        // It wraps as those of RTP do.
        let timestamp = Self.timestamp(at: now)
        guard let placement = clock.place(timestamp, arrival: now) else { return }
        let encoded = EncodedUnit(timestamp: timestamp, arrival: now, data: jpeg, isKeyFrame: true)
        handle(.unit(choice, MediaTrack.Unit(encoded: encoded, placement: placement)), now)
    }

    static func timestamp(at now: UInt64) -> UInt32 {
        let (seconds, rest) = now.quotientAndRemainder(dividingBy: 1_000_000_000)
        let ticks = seconds &* UInt64(clockRate) &+ rest * UInt64(clockRate) / 1_000_000_000
        return UInt32(truncatingIfNeeded: ticks)
    }

    // MARK: - Time

    private func workTimers(at now: UInt64) throws(PullFault) {
        if let deadline = session.nextDeadline, deadline <= now { try perform(session.ticked(at: now), at: now) }
        if let finding = watch?.finding(at: now) {
            switch finding {
            case .silent:
                throw PullFault(
                    .streamFrozen,
                    "the camera began its stream, and no whole frame came within "
                        + "\(FreezeWatch.usualGroup / 1_000_000_000) s", ending: .stalled)
            case .noKeyFrame, .frozen: throw PullFault(.frozen, hasAudio: false)
            }
        }
        if now >= tickedAt &+ StreamPull.tickInterval {
            tickedAt = now
            handle(.ticked, now)
        }
    }

    private func wait() throws(PullFault) {
        guard !hasMore else { return }
        let now = Clocks.monotonic
        var longest = StreamPull.tickInterval
        if let deadline = session.nextDeadline { longest = min(longest, deadline > now ? deadline - now : 0) }
        if let watch { longest = min(longest, watch.nextDeadline > now ? watch.nextDeadline - now : 0) }
        if output.isStuck { longest = min(longest, StreamPull.trackInterval) }
        let writing = output.waits() ? POLLOUT : 0
        var waited = [
            pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: connection?.descriptor ?? -1, events: Int16(POLLIN | writing), revents: 0),
        ]
        guard poll(&waited, nfds_t(waited.count), Wakeup.milliseconds(longest)) > 0 else { return }
        if waited[0].revents != 0 { wakeup.drain() }
        if waited[1].revents & Int16(POLLOUT) != 0 { try flush(isWritable: true) }
        // The frame has begun: more of it comes in the next few milliseconds.
        if watch != nil, waited[1].revents & Int16(POLLIN) != 0 { StreamPull.sleep(ReadPace.burst) }
    }

    private func read() throws(PullFault) {
        let now = Clocks.monotonic
        hasMore = false
        // A camera that sends faster than it is read must not keep the timers from working.
        for round in 0..<16 {
            guard let connection else { return }
            var count: Int?
            do throws(HTTPClientError) {
                count = try connection.receive(into: &buffer)
            } catch {
                if case .connectionLost = error { count = 0 } else { throw PullFault(error) }
            }
            guard let count else { return }
            guard count > 0 else {
                self.connection = nil
                output = StreamPull.Output()
                try perform(session.connectionClosed(at: now), at: now)
                return
            }
            try perform(session.received(buffer[0..<count], at: now), at: now)
            hasMore = round == 15
        }
    }

    // MARK: - Sending

    private func flush(isWritable: Bool = false) throws(PullFault) {
        guard let connection, !output.isEmpty else { return }
        do throws(HTTPClientError) {
            if isWritable { try output.flushWritable(to: connection) } else { try output.flush(to: connection) }
        } catch {
            // A connection that was kept may have been closed meanwhile: reading from it shows that.
            output = StreamPull.Output()
        }
        guard output.pending.count <= Self.maxPending else {
            throw PullFault(.cameraTimeout, "the camera does not read what is sent to it")
        }
    }
}

/// How many frames a second a camera sends that promises nothing: an encoder needs to know before the first one.
struct FrameRate: Equatable, Sendable {
    /// Nil until it is known.
    var known: Double?
    private var first: UInt64?
    private var count = 0

    /// Several frames may wait in a camera when its stream begins.
    static let minTime: UInt64 = 400_000_000
    private static let rates = 1.0...60.0

    /// - Returns: the rate; nil while this frame is needed to find it out.
    mutating func took(at now: UInt64) -> Double? {
        if let known { return known }
        guard let first else {
            self.first = now
            return nil
        }
        count += 1
        guard now >= first &+ Self.minTime else { return nil }
        let rate = Double(count) / (Double(now - first) / 1e9)
        known = min(max(rate, Self.rates.lowerBound), Self.rates.upperBound)
        return known
    }
}
