internal import Cryptography
internal import Glibc
internal import KeyAccessClient
public import Logging
internal import Media
internal import NIOCore
internal import NanoTDF
internal import NanoTDFCryptography
internal import Platform
public import RTMP
public import RTMPTransport

/// Plays one stream: relay → key from the KAS → opened access units → outputs; reconnects until it is asked to end.
///
/// Everything that changes is confined to `eventLoop`; this makes `@unchecked Sendable` true.
public final class Viewer: @unchecked Sendable {
    /// Keys that are asked for at the same time; a relay that announces more headers waits.
    private static let maxKeyRequests = 4
    /// A viewer that has opened nothing for so long, in nanoseconds, is not playing.
    private static let silence: UInt64 = 1_000_000_000
    /// AMF0: a string of 10 bytes.
    private static let metadataName: [UInt8] = [2, 0, 10] + Array("onMetaData".utf8)

    private let configuration: ViewerConfiguration
    private let logger: Logger
    private let states: StateReporter
    private let eventLoop = RTMPEventLoop.shared
    private let output: OutputThread
    private let finished: EventLoopPromise<ViewerError?>

    private var session: ViewerSession
    private var statistics = ViewerStatistics()
    private var player: RTMPPlayerConnection?
    /// Where a relay sent us with `player`; nil: home.
    private var place: RTMPURL?
    /// When `player` began, or its relay last sent us on.
    private var stayBegan: UInt64 = 0
    /// When `player` had its last message.
    private var lastMessage: UInt64 = 0
    private var move: Move?
    private var redirects: RedirectRule
    private var backoff = ReconnectBackoff()
    private var keyRequests: [(hash: [UInt8], request: KeyRequest, task: Task<Void, Never>)] = []
    private var keysAhead = KeysAhead()
    private var keyAhead: Task<Void, Never>?
    private var tick: RepeatedTask?
    private var sleep = SleepWatch()
    private var reconnect: Scheduled<Void>?
    private var firstUnit: UInt64?
    private var lastUnit: UInt64 = 0
    /// When the wait for the keys of an ended stream is over.
    private var drainEnd: UInt64?
    private var isFinished = false

    /// Where the relay sent us. It takes over with its first message; until then the old connection plays on.
    private struct Move {
        /// Nil: home.
        let place: RTMPURL?
        let begins: UInt64
        /// Nil before that.
        var player: RTMPPlayerConnection?
        /// The old relay has announced the end of the stream meanwhile: its publisher moves as well, or has left.
        var hasEnded = false
    }

    /// - Parameters:
    ///   - sinks: outputs; they are handed over to a thread of the viewer's.
    ///   - onState: called on each change of the state, on a thread that it may block; then it misses states, never the latest.
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
        redirects = RedirectRule(allowed: configuration.redirectHosts)
        states = StateReporter(onState)
        session = ViewerSession(
            crypto: OpenSSLCrypto(), hold: configuration.hold, allowsClear: configuration.allowsClear,
            judging: configuration.judging)
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
        let players = (try? await eventLoop.submit { [self.player, self.move?.player] }.get()) ?? []
        for player in players { await player?.stop() }
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

    private func end(_ error: ViewerError?, isStreamOver: Bool = false) {
        eventLoop.execute {
            guard !self.isFinished else { return }
            self.isFinished = true
            let now = NIODeadline.now().uptimeNanoseconds
            self.session.finish(isStreamOver: isStreamOver, at: now)
            self.takeVerdict(at: now)
            self.keyAhead?.cancel()
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

    /// States are reported when the verdict changes, not with each millisecond of age.
    private func takeVerdict(at now: UInt64) {
        guard let verdict = session.verdict(at: now) else { return }
        let isNew = statistics.verdict != verdict.verdict
        statistics.verdict = verdict.verdict
        statistics.verdictReason = verdict.reason
        statistics.age = verdict.age
        guard isNew, !isFinished else { return }
        session.report(into: &statistics)
        states.report(statistics)
    }

    private func connect() {
        guard !isFinished else { return }
        enter(.connecting)
        place = nil
        stayBegan = NIODeadline.now().uptimeNanoseconds
        player = connection(to: configuration.url)
    }

    private func connection(to url: RTMPURL) -> RTMPPlayerConnection {
        var session = PlayerSession.Configuration()
        session.announcesReconnect = true
        return RTMPPlayerConnection.connect(
            url: url, tls: configuration.tls, session: session, on: eventLoop, delegate: self)
    }

    /// Nanoseconds for which something came.
    private var stay: UInt64 { lastMessage > stayBegan ? lastMessage - stayBegan : 0 }

    /// The latest place that the relay named counts.
    private func follow(_ place: RTMPURL?, at now: UInt64) {
        if let move {
            guard move.place != place else { return }
            leave(move.player)
        }
        guard
            let delay = backoff.delay(
                after: RedirectRule.pace(after: stay), at: now, random: UInt64.random(in: 0 ... .max))
        else { return }
        stayBegan = now
        move = Move(place: place, begins: now + delay, hasEnded: move?.hasEnded ?? false)
        moveOn(at: now)
    }

    /// Something must come from where the relay sent us, soon and for as long as we stay: its publisher may be at home
    /// again.
    private func moveOn(at now: UInt64) {
        guard !isFinished else { return }
        if let move {
            if move.player == nil, now >= move.begins {
                self.move?.player = connection(to: move.place ?? configuration.url)
            } else if now >= move.begins &+ configuration.redirectTimeout {
                moveFailed("nothing came from where the relay sent us", at: now)
            }
        } else if let place, let player, now >= lastMessage &+ configuration.redirectTimeout {
            leave(player)
            self.player = nil
            session.connectionLost(at: now)
            let retry = redirects.ended(.transient, at: place, after: stay, now: now)
            goHome(after: retry, "nothing comes any more from where the relay sent us", at: now)
        }
    }

    /// The first message on the connection that the relay sent us to. What was opened of the running group of pictures
    /// comes again and is passed over; keys stay.
    private func takeOver(_ move: Move) {
        leave(player)
        player = move.player
        place = move.place
        self.move = nil
        statistics.moves += 1
        let now = NIODeadline.now().uptimeNanoseconds
        stayBegan = now
        session.connectionLost(at: now)
        session.streamStarted(at: now)
        backoff.streamStarted(at: now)
    }

    /// There is no stream where the relay sent us, whatever the reason: home is not to blame.
    private func moveFailed(_ why: String, at now: UInt64) {
        guard let move else { return }
        self.move = nil
        leave(move.player)
        if let place = move.place { redirects.failed(place, at: now) }
        if move.hasEnded { streamEnded(at: now) }
        if player == nil { goHome(after: .transient, why, at: now) }
    }

    private func leave(_ player: RTMPPlayerConnection?) {
        if let player { Task { await player.stop() } }
    }

    private func goHome(after retry: RetryClass, _ why: String, at now: UInt64) {
        // The stream is over.
        guard drainEnd == nil else { return }
        guard let delay = backoff.delay(after: retry, at: now, random: UInt64.random(in: 0 ... .max)) else {
            return end(.relay(why))
        }
        statistics.reconnects += 1
        enter(.waitingToReconnect, why)
        reconnect = eventLoop.scheduleTask(in: .nanoseconds(Int64(min(delay, 1 << 40)))) { self.connect() }
    }

    private func timePassed() {
        let now = NIODeadline.now().uptimeNanoseconds
        session.slept(milliseconds: sleep.sinceLastLook())
        session.clockReads(Clocks.wallMilliseconds, at: now)
        perform(session.timePassed(at: now))
        takeVerdict(at: now)
        moveOn(at: now)
        // Not `now - firstUnit`: what was just delivered may be younger than `now`.
        if let firstUnit, let duration = configuration.duration, now >= firstUnit + duration { end(nil) }
    }

    private func perform(_ actions: [ViewerSession.Action]) {
        for action in actions {
            switch action {
            case .requestKey(let header, let hash): requestKey(header, hash)
            case .prepareKey(let header, let rotation): prepareKey(header, rotation)
            case .withhold: withheld()
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

    /// The time of a viewer that shows nothing is limited as well.
    private func withheld() {
        guard !isFinished else { return }
        unitCame()
        takeVerdict(at: lastUnit)
        enter(.waitingForStream, "what the relay plays is old")
    }

    private func unitCame() {
        lastUnit = NIODeadline.now().uptimeNanoseconds
        firstUnit = firstUnit ?? lastUnit
    }

    private func requestKey(_ header: [UInt8], _ hash: [UInt8]) {
        let now = NIODeadline.now().uptimeNanoseconds
        guard let provider = configuration.provider else {
            perform(session.keyFailed(forHeader: hash, at: now))
            return
        }
        statistics.collections += 1
        if let ready = keysAhead.take(hash) {
            statistics.keysAhead += 1
            keyArrived(ready.grant, hash, receivedAt: ready.receivedAt)
            return
        }
        makeRoom(at: now)
        let eventLoop = eventLoop
        // Ends with its answer, its last retry, or the viewer (`end` cancels it).
        let task = Task {
            while !Task.isCancelled {
                let begin = NIODeadline.now()
                do throws(KeyRefusal) {
                    let grant = try await provider.key(forHeader: header)
                    let took = UInt64((NIODeadline.now() - begin).nanoseconds)
                    eventLoop.execute { self.keyCame(grant, hash, after: took) }
                    return
                } catch {
                    if Task.isCancelled { return }
                    let refusal = error
                    let pause = try? await eventLoop.submit { self.keyRefused(refusal, hash) }.get()
                    guard let pause = pause ?? nil else { return }
                    try? await Task.sleep(for: .nanoseconds(pause))
                }
            }
        }
        keyRequests.append((hash, KeyRequest(at: now), task))
    }

    private func makeRoom(at now: UInt64) {
        guard keyRequests.count >= Self.maxKeyRequests,
            let index = KeyRequest.dispensable(of: keyRequests.map(\.request), at: now)
        else { return }
        let request = keyRequests.remove(at: index)
        request.task.cancel()
        perform(session.keyFailed(forHeader: request.hash, at: now))
    }

    private func keyCame(_ grant: CollectionGrant, _ hash: [UInt8], after nanoseconds: UInt64) {
        guard !isFinished else { return }
        statistics.rewraps += 1
        statistics.slowestRewrap = max(statistics.slowestRewrap, nanoseconds)
        keyArrived(grant, hash, receivedAt: NIODeadline.now().uptimeNanoseconds)
    }

    private func keyArrived(_ grant: CollectionGrant, _ hash: [UInt8], receivedAt: UInt64) {
        keyRequests.removeAll { $0.hash == hash }
        let now = NIODeadline.now().uptimeNanoseconds
        perform(
            session.keyArrived(
                grant.key, facts: grant.facts, publisher: grant.publisher, receivedAt: receivedAt, forHeader: hash,
                at: now))
        takeVerdict(at: now)
        guard statistics.verdict == .notThisStream || statistics.verdict == .notThisPublisher, !isFinished else {
            return
        }
        // What is there is not shown; the time limit counts all the same.
        firstUnit = firstUnit ?? now
        enter(.waitingForStream, statistics.verdictReason)
    }

    /// - Returns: nanoseconds until the next try; nil for none.
    private func keyRefused(_ refusal: KeyRefusal, _ hash: [UInt8]) -> UInt64? {
        guard !isFinished, let index = keyRequests.firstIndex(where: { $0.hash == hash }) else { return nil }
        statistics.rewrapFailures += 1
        let now = NIODeadline.now().uptimeNanoseconds
        let pause = keyRequests[index].request.refused(
            refusal.kind, hasPlayed: firstUnit != nil, at: now, random: UInt64.random(in: 0 ... .max))
        if refusal.kind == .denied { session.keyRefused(forHeader: hash) }
        guard let pause else {
            keyRequests.remove(at: index)
            perform(session.keyFailed(forHeader: hash, at: now))
            // A relay can announce headers of its own; they do not end a viewer that waits for the genuine one's key.
            if keyRequests.isEmpty { end(.denied(refusal.reason)) }
            return nil
        }
        logger.warning("no key yet", metadata: ["reason": "\(refusal.reason)"])
        if statistics.state != .playing || now >= lastUnit + Self.silence { enter(.waitingForKey, refusal.reason) }
        return pause
    }

    /// Asks for the key of the collection that comes next, at a moment of its own.
    private func prepareKey(_ header: [UInt8], _ rotation: Double) {
        guard let provider = configuration.provider else { return }
        let hash = Digest.sha256(header)
        guard
            let delay = keysAhead.announced(
                hash, rotation: rotation, at: NIODeadline.now().uptimeNanoseconds,
                random: UInt64.random(in: 0 ... .max))
        else { return }
        keyAhead?.cancel()
        let eventLoop = eventLoop
        // One try: when the header comes, its key is asked for anyway.
        keyAhead = Task {
            try? await Task.sleep(for: .nanoseconds(delay))
            guard !Task.isCancelled, let grant = try? await provider.key(forHeader: header) else { return }
            eventLoop.execute {
                guard !self.isFinished else { return }
                self.statistics.rewraps += 1
                self.keysAhead.arrived(grant, forHeader: hash, at: NIODeadline.now().uptimeNanoseconds)
            }
        }
    }
}

extension Viewer: RTMPPlayerDelegate {
    public func playerStarted(_ player: RTMPPlayerConnection) {
        guard player === self.player else { return }
        let now = NIODeadline.now().uptimeNanoseconds
        stayBegan = now
        move?.hasEnded = false
        backoff.streamStarted(at: now)
        session.streamStarted(at: now)
        if statistics.state != .playing { enter(.waitingForStream) }
    }

    public func player(_ player: RTMPPlayerConnection, wasAskedToReconnectTo tcURL: String?) {
        guard player === self.player, !isFinished else { return }
        let now = NIODeadline.now().uptimeNanoseconds
        switch redirects.asked(toMoveTo: tcURL, from: place ?? configuration.url, home: configuration.url, at: now) {
        case .move(let destination): follow(destination.place, at: now)
        case .refuse(let why, let isNews):
            if isNews {
                logger.warning("the relay sends us elsewhere, which is not followed", metadata: ["why": "\(why)"])
            }
        }
    }

    public func player(_ player: RTMPPlayerConnection, received message: RTMPMessage) {
        guard !isFinished else { return }
        if let move, player === move.player {
            // The relay's own |RtmpSampleAccess comes before there is a stream.
            guard message.type != .dataAMF0 || message.payload.starts(with: Self.metadataName) else { return }
            takeOver(move)
        }
        guard player === self.player else { return }
        let now = NIODeadline.now().uptimeNanoseconds
        lastMessage = now
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
        perform(
            session.received(
                type: message.type.rawValue, timestamp: message.timestamp, body: message.payload[...], at: now))
        if statistics.state == .waitingForStream, session.isWaitingForKey { enter(.waitingForKey) }
    }

    public func playerStreamEnded(_ player: RTMPPlayerConnection) {
        guard !isFinished, player === self.player else { return }
        if move != nil {
            move?.hasEnded = true
            return enter(.waitingForStream, "the relay sent the stream elsewhere")
        }
        streamEnded(at: NIODeadline.now().uptimeNanoseconds)
    }

    private func streamEnded(at now: UInt64) {
        if configuration.untilStreamEnds, firstUnit != nil || session.hasFrames {
            drainThenEnd()
        } else {
            session.streamEnded(at: now)
            takeVerdict(at: now)
            enter(.waitingForStream, "the publisher has left")
        }
    }

    /// Items that wait for a key that is on its way still belong to the stream. They wait no longer than items do, also
    /// when a relay that has ended the stream sends more of them.
    private func drainThenEnd() {
        let now = NIODeadline.now().uptimeNanoseconds
        let deadline = drainEnd ?? now + configuration.hold.duration
        drainEnd = deadline
        guard session.isWaitingForKey, !keyRequests.isEmpty, now < deadline else {
            return end(nil, isStreamOver: true)
        }
        eventLoop.scheduleTask(in: .milliseconds(100)) { self.drainThenEnd() }
    }

    public func playerClosed(_ player: RTMPPlayerConnection, error: RTMPTransportError) {
        guard !isFinished else { return }
        let now = NIODeadline.now().uptimeNanoseconds
        let why = "\(error.what): \(error.why)"
        if let move, player === move.player { return moveFailed(why, at: now) }
        guard player === self.player else { return }
        self.player = nil
        session.connectionLost(at: now)
        // The one that it sent us to is on its way.
        if move != nil { return enter(.waitingForStream, "the relay sent us to another connection") }
        if place == nil {
            if case .session(.authenticationFailed) = error.cause { return end(.relay(error.why)) }
            // Files do not repair themselves while we wait.
            if case .tlsConfiguration = error.cause { return end(.relay(why)) }
        }
        goHome(after: redirects.ended(error.retry, at: place, after: stay, now: now), why, at: now)
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
