internal import Archive
public import CameraModel
public import CameraPipeline
internal import ErrorCatalog
internal import KeyAccessClient
public import Logging
public import Media
internal import NanoTDF
internal import Platform
public import ServiceLifecycle
internal import Synchronization
internal import TDF
internal import TDFCryptography

/// Records one camera: takes what its source delivers, beside the stream to the relay, and writes it into archives that only the KAS's
/// key opens. What the disk does holds up neither the source nor the stream.
public final class Recorder: Service, FrameObserver {
    private struct Shared {
        var statistics = RecordingStatistics()
        /// Monotonic, nanoseconds: since when the writer does what may wait for the disk; nil: it waits for work.
        var busySince: UInt64?
        var recipient: TDFRecipient?
        var failure: (reason: String, code: ErrorCode)?
        /// Nil: all that comes is recorded.
        var gate: EventGate?
        /// What became of the stream to the relay since the writer looked.
        var live: [(isLive: Bool, instant: UInt64)] = []
    }

    /// Changes that wait for the writer: while a disk hangs for long, some outages in between are not marked.
    private static let maxLiveChanges = 64

    /// What waits for the disk, at most: some seconds of the fastest cameras.
    private static let limits = FrameQueue.Limits(
        duration: MediaTime(milliseconds: 60_000), bytes: 16 << 20, units: 8192)
    /// Nanoseconds between two looks at what is due without a frame.
    private static let tick: UInt64 = 1_000_000_000
    /// Nanoseconds after which a disk that does not answer is told.
    private static let patience: UInt64 = 15_000_000_000
    /// For the last frames of the source, once the camera is to stop.
    private static let lastFrames = Duration.milliseconds(500)
    /// For the end of the file after them: what does not end in time is ended by the next start.
    private static let endLimit = Duration.milliseconds(2500)

    private let settings: RecordingWriter.Settings
    private let system: RecordingSystem
    private let keys: @Sendable () async throws(KeyAccessError) -> TDFRecipient
    private let queue = RecordingQueue(Recorder.limits)
    private let shared = Mutex(Shared())
    private let logger: Logger

    /// - Parameters:
    ///   - recording: of the camera.
    ///   - configuration: the rest of it; valid.
    ///   - clock: knows whether the system's clock is right.
    /// - Throws: for a recovery key that is none: without it somebody would rely on what is not there.
    public convenience init(
        _ recording: CameraConfiguration.Recording, of configuration: CameraConfiguration, clock: StreamClock,
        logger: Logger = Logger(label: "watchbox.recording")
    ) throws(ConfigurationError) {
        let recoveryKey: RecoveryKey?
        do throws(RecoveryKey.Fault) {
            recoveryKey = try recording.recoveryKey.map { (text) throws(RecoveryKey.Fault) in try RecoveryKey(text) }
        } catch {
            throw ConfigurationError(problems: [
                ConfigurationProblem(
                    field: "recording.recoveryKey", reason: "\(error)",
                    hint: "Use a public RSA key of 2048 to 4096 bits, as PEM or its Base64")
            ])
        }
        if let recoveryKey {
            logger.notice(
                "recordings open with a recovery key as well", metadata: ["key": "\(recoveryKey.fingerprint)"])
        }
        let cache = KASArchiveKeyCache(
            configuration: configuration.kas, file: recording.keyCacheFile, logger: logger)
        self.init(
            RecordingWriter.Settings(
                directory: RecordingDirectory(recording.directory),
                policy: PlaintextPolicy(
                    stream: configuration.stream, dataAttributes: configuration.policy.dataAttributes,
                    dissemination: configuration.policy.dissem),
                recoveryKey: recoveryKey,
                retention: Retention(
                    maxBytes: recording.maxBytes, maxAge: Int64((recording.maxDays * 86_400_000).rounded()),
                    minFree: recording.minFreeBytes),
                occasions: recording.occasions.map { RecordingWriter.Occasions($0) }),
            system: RecordingSystem(clock),
            keys: { () async throws(KeyAccessError) in
                let key = try await cache.key()
                return TDFRecipient(url: key.url, kid: key.kid, publicKeyPEM: key.publicKeyPEM)
            }, logger: logger)
    }

    init(
        _ settings: RecordingWriter.Settings, system: RecordingSystem = RecordingSystem(StreamClock()),
        keys: @escaping @Sendable () async throws(KeyAccessError) -> TDFRecipient,
        logger: Logger = Logger(label: "watchbox.recording")
    ) {
        self.settings = settings
        self.system = system
        self.keys = keys
        self.logger = logger
        shared.withLock { $0.gate = settings.occasions.map { EventGate($0.gate) } }
    }

    // MARK: - From the source's threads

    public func observed(_ event: MediaEvent) {
        queue.offer(event)
    }

    public func ended() {
        queue.end()
    }

    public func published(_ isLive: Bool, from instant: UInt64) {
        shared.withLock { shared in
            // The first and the last say most.
            if shared.live.count >= Self.maxLiveChanges { shared.live.removeLast(2) }
            shared.live.append((isLive, instant))
        }
    }

    // MARK: - What it is recorded for

    /// The camera reports something; nothing where it is recorded all the time. From any thread.
    public func sensed(_ event: SensorEvent) {
        decide { $0.sensed(event, at: $1) }
    }

    /// Somebody wants what happens now. From any thread.
    ///
    /// - Parameter duration: from now on, at most an hour; nil: as after an event.
    /// - Returns: false where it is recorded all the time: there is nothing to mark.
    @discardableResult
    public func mark(for duration: Duration? = nil) -> Bool {
        decide { $0.mark(for: duration.map { UInt64(min(max(0, $0 / .nanoseconds(1)), 1e15)) }, at: $1) }
    }

    /// - Returns: whether there is anything to decide.
    @discardableResult
    private func decide(_ body: (_ gate: inout EventGate, _ now: UInt64) -> Void) -> Bool {
        let now = system.monotonic()
        let (hasGate, hasOpened) = shared.withLock { shared in
            guard var gate = shared.gate else { return (false, false) }
            let wasOpen = gate.isOpen(at: now)
            body(&gate, now)
            shared.gate = gate
            return (true, !wasOpen && gate.isOpen(at: now))
        }
        // Some cameras repeat what they see many times in a second: that is soon enough with the next frames.
        if hasOpened { queue.wake() }
        return hasGate
    }

    // MARK: - The service

    /// At this moment; from anywhere.
    public var statistics: RecordingStatistics {
        let now = system.monotonic()
        var (statistics, busySince) = shared.withLock { ($0.statistics, $0.busySince) }
        statistics.droppedFrames += queue.dropped
        if let busySince, now > busySince, now - busySince >= Self.patience {
            statistics.state = .failing
            statistics.code = .recordingFailed
            statistics.reason = "the disk has not answered for \((now - busySince) / 1_000_000_000) s"
        }
        return statistics
    }

    /// Until graceful shutdown; then what was recorded is on the disk, or is found there by the next start.
    public func run() async throws {
        let ending = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let hasThread = OwnThread.start {
            self.write()
            ending.continuation.finish()
        }
        guard hasThread else {
            shared.withLock { shared in
                shared.statistics.state = .failing
                shared.statistics.code = .recordingFailed
                shared.statistics.reason = "no thread can be made"
            }
            logger.error("nothing is recorded: no thread can be made")
            // The stream has nothing to do with it.
            return await Self.untilShutdown()
        }
        // A KAS that does not answer holds up no end.
        let renewal = Task { await self.renewKey() }
        await Self.untilShutdown()
        renewal.cancel()
        // The source's last frames come first, where it still has some.
        let limit = Task {
            try? await Task.sleep(for: Self.lastFrames)
            self.queue.end()
            try? await Task.sleep(for: Self.endLimit)
            ending.continuation.finish()
        }
        // Also when this task was cancelled: that ends a wait, not the recording.
        await Task { for await _ in ending.stream {} }.value
        limit.cancel()
    }

    private static func untilShutdown() async {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
        }
    }

    /// Asks for the key from time to time: the cache decides when the KAS is really asked.
    private func renewKey() async {
        while !Task.isCancelled {
            var pause = Duration.seconds(60)
            do throws(KeyAccessError) {
                let recipient = try await keys()
                shared.withLock {
                    $0.recipient = recipient
                    $0.failure = nil
                }
            } catch {
                let isDistrust = error.isDistrust
                shared.withLock { $0.failure = ("\(error)", isDistrust ? .certificateRefused : .noKey) }
                if shared.withLock({ $0.recipient }) == nil { pause = .seconds(5) }
            }
            try? await Task.sleep(for: pause)
        }
    }

    /// The writer's thread.
    private func write() {
        let writer = RecordingWriter(settings, system: system)
        shared.withLock { $0.busySince = system.monotonic() }
        writer.start()
        var selection = settings.occasions.map { FrameSelection($0.preRoll) }
        var reported: ErrorCode?
        var lastEvent = LastEvent()
        while true {
            shared.withLock { $0.busySince = nil }
            queue.wait(min(Self.tick, writer.untilFlush ?? Self.tick))
            let changes: [(isLive: Bool, instant: UInt64)]
            (writer.recipient, writer.recipientFailure, changes) = shared.withLock { shared in
                shared.busySince = system.monotonic()
                defer { shared.live = [] }
                return (shared.recipient, shared.failure, shared.live)
            }
            for (isLive, instant) in changes { writer.live.published(isLive, from: instant) }
            var (events, hasEnded) = queue.take()
            // Each is let go of when it is written.
            events.reverse()
            let gate = currentGate()
            let now = system.monotonic()
            while var event = events.popLast() {
                if let gate, var frames = selection.take() {
                    let step = frames.take(&event, at: now, canBegin: writer.canBegin, isOpen: gate.isOpen)
                    perform(step, of: event, &frames, with: writer)
                    selection = consume frames
                } else {
                    write(event, with: writer)
                }
            }
            if let gate, var frames = selection.take() {
                let step = frames.tick(at: now, canBegin: writer.canBegin, isOpen: gate.isOpen)
                perform(step, of: nil, &frames, with: writer)
                if hasEnded { frames.end() }
                selection = consume frames
            }
            if hasEnded { writer.end() } else { writer.tick() }
            var statistics = writer.statistics
            statistics.droppedFrames += selection?.lost ?? 0
            statistics.causes = causes
            statistics.lastEvent = lastEvent.event(gate?.last, wall: system.wall(), monotonic: system.monotonic())
            if statistics.code != reported {
                reported = statistics.code
                if let code = reported {
                    logger.warning("recording: \(statistics.reason ?? "it fails")", metadata: ["code": "\(code)"])
                } else {
                    logger.notice("recordings go on")
                }
            }
            shared.withLock { $0.statistics = statistics }
            if hasEnded { return shared.withLock { $0.busySince = nil } }
        }
    }

    /// With what the schedule says now.
    private func currentGate() -> EventGate? {
        let schedule = settings.occasions?.schedule ?? []
        guard !schedule.isEmpty else { return shared.withLock { $0.gate } }
        // While nobody vouches for the time it is recorded rather than not.
        let time = system.isClockRight() ? system.weekTime() : nil
        let isInside = time.map { time in schedule.contains { $0.contains(day: time.day, minute: time.minute) } }
        let now = system.monotonic()
        return shared.withLock { shared in
            shared.gate?.schedule(isInside ?? true, at: now)
            return shared.gate
        }
    }

    /// What the camera is recorded for; nil: all the time.
    private var causes: [RecordingStatistics.Event.Cause]? {
        settings.occasions.map { occasions in
            (occasions.gate.takesSensors ? [.motion, .tamper, .digitalInput] : []) + [.mark]
                + (occasions.schedule.isEmpty ? [] : [.schedule])
        }
    }

    /// - Parameter event: that the step is about; nil: none.
    private func perform(
        _ step: FrameSelection.Step, of event: MediaEvent?, _ frames: inout FrameSelection, with writer: RecordingWriter
    ) {
        switch step {
        case .hold: if let event { writer.hold(event) }
        // Each is let go of when it is written.
        case .begin: while let event = frames.next() { write(event, with: writer) }
        case .write: if let event { writer.take(event) }
        case .pause(let next): writer.pause(before: next)
        }
        shared.withLock { $0.busySince = system.monotonic() }
    }

    private func write(_ event: MediaEvent, with writer: RecordingWriter) {
        writer.take(event)
        shared.withLock { $0.busySince = system.monotonic() }
    }
}

extension RecordingWriter.Occasions {
    init(_ occasions: CameraConfiguration.Recording.Occasions) {
        self.init(
            gate: .init(takesSensors: occasions.sensors, after: UInt64(occasions.after * 1e9)),
            preRoll: .init(duration: UInt64(occasions.before * 1e9)), schedule: occasions.schedule)
    }
}
