internal import Cryptography
public import Logging
internal import Media
internal import NIOCore
internal import NanoTDF
public import RTMP
public import RTMPTransport

/// Plays one stream: relay → key from the KAS → opened access units → outputs; reconnects until it is told to end.
///
/// Everything that changes is confined to `eventLoop`; this makes `@unchecked Sendable` true.
public final class Viewer: @unchecked Sendable {
    /// Keys that are asked for at the same time; a relay that announces more headers waits.
    private static let mostKeyRequests = 4
    /// A refused key ends the viewer only when nothing has been opened for so long, in nanoseconds.
    private static let denialPatience: UInt64 = 5_000_000_000

    private let configuration: ViewerConfiguration
    private let logger: Logger
    private let states: StateReporter
    private let eventLoop = RTMPEventLoop.shared
    private let output: OutputThread
    private let finished: EventLoopPromise<ViewerError?>

    private var session: ViewerSession
    private var statistics = ViewerStatistics()
    private var player: RTMPPlayerConnection?
    private var backoff = ReconnectBackoff()
    private var keyRequests: [(hash: [UInt8], task: Task<Void, Never>)] = []
    private var tick: RepeatedTask?
    private var reconnect: Scheduled<Void>?
    private var firstUnit: UInt64?
    private var lastUnit: UInt64 = 0
    /// When the wait for the keys of an ended stream is over.
    private var drainEnd: UInt64?
    private var isFinished = false

    /// - Parameters:
    ///   - sinks: outputs; they are handed over to a thread of the viewer's.
    ///   - onState: told on each change of the state, on a thread that it may block; then it misses states, never the latest.
    /// - Throws: when the recording cannot be created.
    public init(
        configuration: ViewerConfiguration, sinks: sending [any MediaSink], logger: Logger,
        onState: @escaping @Sendable (ViewerStatistics) -> Void = { _ in }
    ) throws(ViewerError) {
        // What throws comes first: a promise that is made must be kept.
        var recorder: RelayRecorder?
        if let path = configuration.recordingPath { recorder = try RelayRecorder(path: path) }
        self.configuration = configuration
        self.logger = logger
        states = StateReporter(onState)
        session = ViewerSession(
            crypto: OpenSSLCrypto(), hold: configuration.hold, allowsClear: configuration.allowsClear)
        let finished = eventLoop.makePromise(of: ViewerError?.self)
        self.finished = finished
        let end = OutputEnd()
        output = OutputThread(
            sinks: sinks, recorder: recorder, limit: configuration.outputBacklog, ended: { end.viewer?.end($0) })
        end.viewer = self
    }

    /// Plays until the stream's end, the time limit, `stop()`, cancellation, or an error.
    public func run() async throws(ViewerError) -> ViewerStatistics {
        eventLoop.execute {
            self.tick = self.eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(50), delay: .milliseconds(50)) {
                _ in self.timePassed()
            }
            self.connect()
        }
        let error = await withTaskCancellationHandler {
            (try? await finished.futureResult.get()) ?? nil
        } onCancel: {
            stop()
        }
        let player = (try? await eventLoop.submit { self.player }.get()) ?? nil
        await player?.stop()
        do {
            try await output.finish()
        } catch let outputError {
            await states.finish()
            throw error ?? outputError
        }
        await states.finish()
        if let error { throw error }
        return await report()
    }

    /// From anywhere.
    public func stop() {
        end(nil)
    }

    /// Where it stands; from anywhere.
    public func report() async -> ViewerStatistics {
        (try? await eventLoop.submit {
            self.session.report(into: &self.statistics)
            self.statistics.outputDropped = self.output.droppedUnits
            self.statistics.outputIgnored = self.output.ignoredUnits
            return self.statistics
        }.get()) ?? ViewerStatistics()
    }

    // MARK: On the event loop

    private func end(_ error: ViewerError?) {
        eventLoop.execute {
            guard !self.isFinished else { return }
            self.isFinished = true
            self.tick?.cancel()
            self.reconnect?.cancel()
            for request in self.keyRequests { request.task.cancel() }
            self.keyRequests = []
            self.enter(.ended, error?.why)
            self.output.abandon()
            self.finished.succeed(error)
        }
    }

    private func enter(_ state: ViewerStatistics.State, _ reason: String? = nil) {
        guard statistics.state != state || statistics.reason != reason else { return }
        statistics.state = state
        statistics.reason = reason
        session.report(into: &statistics)
        states.report(statistics)
    }

    private func connect() {
        guard !isFinished else { return }
        enter(.connecting)
        player = RTMPPlayerConnection.connect(
            url: configuration.url, tls: configuration.tls, on: eventLoop, delegate: self)
    }

    private func timePassed() {
        let now = NIODeadline.now().uptimeNanoseconds
        perform(session.timePassed(at: now))
        // Not `now - firstUnit`: what was just delivered may be younger than `now`.
        if let firstUnit, let duration = configuration.duration, now >= firstUnit + duration { end(nil) }
    }

    private func perform(_ actions: [ViewerSession.Action]) {
        for action in actions {
            switch action {
            case .requestKey(let header, let hash): requestKey(header, hash)
            case .deliver(let event, let provenance): deliver(event, provenance)
            case .refuseClear: end(.clearStream)
            }
        }
    }

    private func deliver(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?) {
        guard !isFinished else { return }
        if case .accessUnit(let unit) = event {
            unitCame()
            if unit.track.isVideo {
                statistics.video.count(unit)
            } else {
                statistics.audio.count(unit)
            }
            enter(.playing)
        }
        output.deliver(event, provenance)
    }

    private func unitCame() {
        lastUnit = NIODeadline.now().uptimeNanoseconds
        firstUnit = firstUnit ?? lastUnit
    }

    private func requestKey(_ header: [UInt8], _ hash: [UInt8]) {
        guard let provider = configuration.provider else {
            perform(session.keyFailed(forHeader: hash, at: NIODeadline.now().uptimeNanoseconds))
            return
        }
        statistics.collections += 1
        if keyRequests.count >= Self.mostKeyRequests {
            let oldest = keyRequests.removeFirst()
            oldest.task.cancel()
            perform(session.keyFailed(forHeader: oldest.hash, at: NIODeadline.now().uptimeNanoseconds))
        }
        let eventLoop = eventLoop
        // Ends with its answer, its last retry, or the viewer (`end` cancels it).
        let task = Task {
            var request = KeyRequest()
            while !Task.isCancelled {
                let begin = NIODeadline.now()
                do throws(KeyRefusal) {
                    let key = try await provider.key(forHeader: header)
                    let took = UInt64((NIODeadline.now() - begin).nanoseconds)
                    eventLoop.execute { self.keyArrived(key, hash, after: took) }
                    return
                } catch {
                    if Task.isCancelled { return }
                    let refusal = error
                    guard let delay = request.refused(refusal.kind) else {
                        eventLoop.execute { self.keyRefused(refusal, hash) }
                        return
                    }
                    eventLoop.execute { self.keyDelayed(refusal) }
                    try? await Task.sleep(for: .nanoseconds(delay))
                }
            }
        }
        keyRequests.append((hash, task))
    }

    private func keyArrived(_ key: CollectionKey, _ hash: [UInt8], after nanoseconds: UInt64) {
        guard !isFinished else { return }
        keyRequests.removeAll { $0.hash == hash }
        statistics.rewraps += 1
        statistics.slowestRewrap = max(statistics.slowestRewrap, nanoseconds)
        perform(session.keyArrived(key, forHeader: hash, at: NIODeadline.now().uptimeNanoseconds))
    }

    private func keyDelayed(_ refusal: KeyRefusal) {
        guard !isFinished else { return }
        statistics.rewrapFailures += 1
        logger.warning("no key yet", metadata: ["reason": "\(refusal.reason)"])
        if statistics.state != .playing { enter(.waitingForKey, refusal.reason) }
    }

    private func keyRefused(_ refusal: KeyRefusal, _ hash: [UInt8]) {
        guard !isFinished else { return }
        keyRequests.removeAll { $0.hash == hash }
        statistics.rewrapFailures += 1
        let now = NIODeadline.now().uptimeNanoseconds
        perform(session.keyFailed(forHeader: hash, at: now))
        // A relay can announce headers of its own; a stream that still opens is not ended by them.
        if firstUnit == nil || now >= lastUnit + Self.denialPatience { end(.denied(refusal.reason)) }
    }
}

extension Viewer: RTMPPlayerDelegate {
    public func playerStarted(_ player: RTMPPlayerConnection) {
        backoff.streamStarted(at: NIODeadline.now().uptimeNanoseconds)
        session.streamStarted()
        if statistics.state != .playing { enter(.waitingForStream) }
    }

    public func player(_ player: RTMPPlayerConnection, received message: RTMPMessage) {
        guard !isFinished else { return }
        statistics.relayedBytes += UInt64(message.payload.count)
        output.record(
            type: message.type.rawValue, timestamp: message.timestamp, body: message.payload)
        guard !configuration.isKeyless else {
            if message.type != .dataAMF0 {
                unitCame()
                enter(.playing)
            }
            return
        }
        let now = NIODeadline.now().uptimeNanoseconds
        perform(
            session.received(
                type: message.type.rawValue, timestamp: message.timestamp, body: message.payload[...], at: now))
        if statistics.state == .waitingForStream, session.isWaitingForKey { enter(.waitingForKey) }
    }

    public func playerStreamEnded(_ player: RTMPPlayerConnection) {
        guard !isFinished else { return }
        if configuration.untilStreamEnds, firstUnit != nil || session.hasFrames {
            drainThenEnd()
        } else {
            enter(.waitingForStream, "the publisher has left")
        }
    }

    /// Items that wait for a key that is on its way still belong to the stream. They wait no longer than items do, also
    /// when a relay that has ended the stream sends more of them.
    private func drainThenEnd() {
        let now = NIODeadline.now().uptimeNanoseconds
        let deadline = drainEnd ?? now + configuration.hold.duration
        drainEnd = deadline
        guard session.isWaitingForKey, !keyRequests.isEmpty, now < deadline else { return end(nil) }
        eventLoop.scheduleTask(in: .milliseconds(100)) { self.drainThenEnd() }
    }

    public func playerClosed(_ player: RTMPPlayerConnection, error: RTMPTransportError) {
        self.player = nil
        guard !isFinished else { return }
        let now = NIODeadline.now().uptimeNanoseconds
        if case .session(.authenticationFailed) = error.cause { return end(.relay(error.why)) }
        // Files do not mend themselves while we wait.
        if case .tlsConfiguration = error.cause { return end(.relay("\(error.what): \(error.why)")) }
        guard let delay = backoff.delay(after: error.retry, at: now, random: UInt64.random(in: 0 ... .max)) else {
            return end(.relay(error.why))
        }
        statistics.reconnects += 1
        enter(.waitingToReconnect, "\(error.what): \(error.why)")
        reconnect = eventLoop.scheduleTask(in: .nanoseconds(Int64(min(delay, 1 << 40)))) { self.connect() }
    }
}

/// Breaks the circle between the viewer and the outputs that it makes; set once, before anything runs.
private final class OutputEnd: @unchecked Sendable {
    weak var viewer: Viewer?
}

extension ViewerStatistics.Track {
    mutating func count(_ unit: AccessUnit) {
        units += 1
        bytes += UInt64(unit.data.count)
        if unit.isKeyFrame { keyFrames += 1 }
    }
}
