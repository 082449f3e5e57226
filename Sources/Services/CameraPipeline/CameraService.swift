public import CameraModel
internal import Cryptography
internal import DeviceSource
public import ErrorCatalog
internal import Glibc
public import Logging
public import Media
public import NIOCore
internal import NanoTDF
internal import RTMP
public import RTMPTransport
public import ServiceLifecycle
public import VideoCapture
internal import VideoCodec

/// One camera, from source to relay, until it is stopped, its source ends, or a fault that only a person can put
/// right.
///
/// Its order of things: a public key of the KAS, a collection made with it, a relay that accepts the stream, and only
/// then the source, unless somebody observes it: then it runs from the start. When the relay goes, it comes back as soon as `ReconnectBackoff` lets it, with a new collection;
/// the source runs on, its frames are counted and forgotten meanwhile. There is no state in which media leave unsealed.
public final class CameraService: Service {
    /// What happens, for status and for `sd_notify`; bounded, the newest are kept. One consumer.
    public var events: AsyncStream<CameraEvent> { monitor.events }

    private let configuration: CameraConfiguration
    private let authority: (any CollectionAuthority)?
    private let monitor: CameraMonitor
    private let runner: SourceRunner
    private let isObserved: Bool
    private let pump: CameraPump
    private let frameLog: FrameLog?
    /// Nil: what is asked of the source is asked by an operator alone.
    private let bitrate: EncoderBitrate?
    private let supplySettings: CollectionSupply.Settings
    private let address: RelayAddress
    private let tls: RTMPClientTLS
    private let clear: ClearPermit?
    private let backoff: ReconnectBackoff.Configuration
    private let logger: Logger
    /// The time that is sealed into the stream; to be given what the KAS reports.
    let clock: StreamClock

    /// - Parameters:
    ///   - configuration: valid, see `CameraConfiguration.validate()`.
    ///   - source: nil for the one that the configuration names.
    ///   - authority: nil for the KAS that the configuration names.
    ///   - eventLoop: where it sends; one for many cameras of a process is enough.
    ///   - observer: sees what the source delivers, such as a recorder; nil: nobody.
    ///   - clock: what is told the time that the KAS reports.
    ///   - mustEnd: the process is to end at once: a hardware encoder will never answer, or only a new process may open the
    ///     device. Never returns.
    /// - Throws: `ConfigurationError`, or what keeps the frame log from being written.
    public convenience init(
        configuration: CameraConfiguration, source: (any MediaSource)? = nil,
        authority: (any CollectionAuthority)? = nil, logger: Logger = Logger(label: "watchbox.camera"),
        eventLoop: any EventLoop = RTMPEventLoop.shared, observer: (any FrameObserver)? = nil,
        clock: StreamClock = StreamClock(),
        mustEnd: @escaping @Sendable (CodedError) -> Never = CameraService.endProcess
    ) throws {
        try self.init(
            configuration: configuration,
            source: source ?? configuration.makeSource(logger: logger, mustEnd: mustEnd),
            authority: authority ?? KeyAccessAuthority(configuration.kas, logger: logger), clear: nil, logger: logger,
            eventLoop: eventLoop, observer: observer, clock: clock)
    }

    /// For tests against peers that cannot open NanoTDF: publishes **without encryption**. Refused by `ClearPermit`
    /// unless the environment and the relay's address allow it.
    public convenience init(
        clearForTests configuration: CameraConfiguration, environment: [String: String],
        source: (any MediaSource)? = nil, logger: Logger = Logger(label: "watchbox.camera"),
        eventLoop: any EventLoop = RTMPEventLoop.shared
    ) throws {
        let url = try RelayAddress(configuration).read()
        let permit = try ClearPermit(environment: environment, relayHost: url.host)
        logger.critical("publishing WITHOUT ENCRYPTION to \(url.host), for a test")
        try self.init(
            configuration: configuration,
            source: source ?? configuration.makeSource(logger: logger, mustEnd: CameraService.endProcess),
            authority: nil, clear: permit, logger: logger, eventLoop: eventLoop)
    }

    init(
        configuration: CameraConfiguration, source: any MediaSource, authority: (any CollectionAuthority)?,
        clear: ClearPermit?, supply: CollectionSupply.Settings? = nil,
        backoff: ReconnectBackoff.Configuration = ReconnectBackoff.Configuration(), logger: Logger,
        eventLoop: any EventLoop, observer: (any FrameObserver)? = nil, clock: StreamClock = StreamClock()
    ) throws {
        try configuration.validate()
        var logger = logger
        logger[metadataKey: "camera"] = "\(configuration.id)"
        let channel = FrameChannel(FrameQueue(configuration))
        let options = StreamSealer.Options(configuration)
        self.clock = clock
        let sealer =
            clear.map { StreamSealer(clearForTests: $0, options: options) }
            ?? StreamSealer(options: options, clock: { clock.time(at: $0) })
        address = RelayAddress(configuration)
        tls = try RTMPClientTLS(authorityFile: configuration.relay.caFile, pin: configuration.relay.publicKeyPin)
        self.clear = clear
        self.backoff = backoff
        self.configuration = configuration
        self.authority = authority
        self.logger = logger
        monitor = CameraMonitor(logger: logger)
        frameLog = try configuration.frameLog.map { path in try FrameLog(path: path) }
        runner = SourceRunner(source, into: channel, observer: observer)
        isObserved = observer != nil
        let uplink = configuration.uplink ?? CameraConfiguration.Uplink()
        bitrate =
            uplink.adapt
            ? configuration.encodedBitrate.flatMap { source.followingBitrate($0, camera: configuration.id) } : nil
        pump = CameraPump(
            eventLoop: eventLoop, channel: channel, runner: runner, sealer: sealer, needsCollection: clear == nil,
            clock: clock, monitor: monitor, frameLog: frameLog,
            follower: bitrate.map {
                UplinkFollower(
                    eventLoop: eventLoop, channel: channel, encoder: $0, uplink: uplink,
                    requestKeyFrame: { source.requestKeyFrame() })
            },
            // With the kernel's default a hundredth of packets that a radio loses costs most of the link.
            congestionControl: uplink.adapt ? "bbr" : nil)
        supplySettings = supply ?? CollectionSupply.Settings(configuration)
    }

    /// At once: every step of an orderly end could wait for the encoder as well.
    public static let endProcess: @Sendable (CodedError) -> Never = { _ in _exit(hungStatus) }

    /// Of a process that ended itself for its device's or its encoder's sake: EX_IOERR (sysexits.h).
    public static let hungStatus: Int32 = 74

    /// Ends without an error when it was stopped or the source has ended.
    public func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await self.operate()
            }
            monitor.enter(.stopped)
            monitor.finish()
        } catch {
            let sourceCode = (runner.source as? any LiveSource)?.capture.code ?? .sourceUnreadable
            monitor.enter(.failed, reason: "\(error)", code: error is MediaSourceError ? sourceCode : .noFrames)
            monitor.finish()
            throw error
        }
    }

    /// At this moment; from anywhere.
    public func statistics() async -> CameraStatistics {
        let facts = monitor.current
        var statistics = CameraStatistics(camera: configuration.id, stream: configuration.stream)
        statistics.state = facts.state
        statistics.reason = facts.reason
        statistics.code = facts.code
        statistics.connections = facts.connections
        statistics.reconnects = facts.reconnects
        statistics.attempts = facts.attempts
        statistics.headersRegistered = facts.headersRegistered
        statistics.headersUnregistered = facts.headersUnregistered
        statistics.capture = (runner.source as? any LiveSource)?.capture
        return await pump.fill(statistics)
    }

    /// What can be asked of a network camera besides its frames; nil of every other source.
    public var network: (any NetworkSourceControl)? { runner.source as? any NetworkSourceControl }

    /// As soon as the source can make one.
    public func requestKeyFrame() {
        pump.requestKeyFrame()
    }

    /// A new key from the next key frame on, which is asked for.
    public func rotateKey() {
        pump.rotate()
    }

    /// Changes the video while it is published. Where its bitrate follows the uplink, the one that is named here is the most that it has.
    ///
    /// - Throws: WB-1004 for what is out of range, WB-8006 when this source cannot change so; nothing changes then.
    public func change(_ change: VideoChange) throws(CodedError) {
        guard !change.isEmpty else { return }
        if let bitrate { return try bitrate.change(change) }
        try runner.source.ask(change, camera: configuration.id)
    }

    /// The next key frame as JPEG: what viewers see, with masks and text. For those who may look at this box itself; it
    /// never leaves by the relay.
    ///
    /// - Parameter widest: pixels; a wider frame is made smaller. Nil: as large as it is.
    /// - Throws: WB-2001 when no key frame comes in time, WB-2206 when it cannot be decoded, WB-8007 when too many ask.
    public func snapshot(
        maxWidth: Int? = nil, within limit: Duration = .seconds(8)
    ) async throws(CodedError) -> [UInt8] {
        if let capture = (runner.source as? any LiveSource)?.capture, capture.state == .waiting {
            throw CodedError(
                capture.code ?? .noFrames, "No frame of \(configuration.id)",
                why: capture.reason ?? "it waits for its camera", object: configuration.id)
        }
        let keyFrame: KeyFrameTap.KeyFrame
        do {
            keyFrame = try await runner.tap.next(within: limit) { runner.source.requestKeyFrame() }
        } catch KeyFrameTap.Refusal.tooMany {
            throw CodedError(
                .busy, "Too many ask \(configuration.id) for a frame", hint: "Try again in a second",
                object: configuration.id)
        } catch {
            let facts = monitor.current
            let reason = (runner.source as? any LiveSource)?.capture.reason ?? facts.reason
            throw CodedError(
                .noFrames, "No frame of \(configuration.id)",
                why: reason ?? "its source gives no key frame (it is \(facts.state.rawValue))",
                object: configuration.id)
        }
        defer { if let lack = SandboxShortfall.take() { logger.warning("\(lack)") } }
        return try await Snapshot.jpeg(of: keyFrame, camera: configuration.id, maxWidth: maxWidth)
    }

    /// What can be set at its camera, with its current values.
    ///
    /// - Throws: WB-8006 when its source is no camera of this machine; else what its camera waits for.
    public func controls() async throws(CodedError) -> DeviceControls {
        guard let source = runner.source as? DeviceSource else {
            throw CodedError(
                .badRequest, "\(configuration.id) has no controls", why: "its source is no camera of this machine",
                hint: "Name a camera whose source is v4l2:/dev/… or csi:…: watchboxctl camera list",
                object: configuration.id)
        }
        return try await source.controls()
    }

    // MARK: - Work

    private func operate() async throws {
        if isObserved { pump.startSource() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            if let authority {
                let supply = makeSupply(authority)
                await pump.setCollectionTaken { supply.collectionTaken($0) }
                group.addTask { await supply.run() }
            }
            let result: Result<Void, any Error>
            do { result = .success(try await publish()) } catch { result = .failure(error) }
            monitor.enter(.stopping)
            group.cancelAll()
            async let left: Void = pump.leave()
            await runner.stop()
            await left
            await frameLog?.finish()
            if let failure = frameLog?.failure { monitor.warn("the frame log is not complete: \(failure)") }
            try result.get()
        }
    }

    private func makeSupply(_ authority: any CollectionAuthority) -> CollectionSupply {
        CollectionSupply(
            settings: supplySettings, authority: authority, logger: logger,
            now: { NIODeadline.now().uptimeNanoseconds },
            stock: { [pump] madeBefore in await pump.stock(madeBefore: madeBefore) },
            report: { [pump, monitor, clock] report in
                switch report {
                case .collection(let collection): await pump.offer(collection)
                case .keyChanged: await pump.replaceCollections()
                case .noKey(let reason, let isDistrust):
                    monitor.enter(.waitingForKey, reason: reason, code: isDistrust ? .certificateRefused : .noKey)
                case .registered(let waiting, let time):
                    if let time { clock.kasSaid(time: time, at: NIODeadline.now().uptimeNanoseconds) }
                    monitor.headerRegistered(waiting: waiting)
                case .notRegistered(let failure, let waiting):
                    monitor.headerNotRegistered(waiting: waiting, failure: failure)
                }
            })
    }

    /// Streams, one after the other, until there is nothing more to publish.
    private func publish() async throws {
        var backoff = ReconnectBackoff(configuration: backoff)
        var target: RTMPURL?
        let redirects = Redirects(
            RedirectRule(allowed: configuration.relay.redirectHosts ?? []), camera: configuration.id, monitor: monitor)
        if authority != nil { monitor.enter(.starting, reason: "asking the KAS for its public key") }
        while true {
            guard case .ready = await pump.awaitCollection() else { return try sourceResult() }
            monitor.enter(.connecting)
            let home: RTMPURL
            let url: RTMPURL
            do {
                home = try address.read()
                // A file may name another relay, or another key, by now.
                target = target.flatMap { redirects.renewed($0, home: home) }
                url = target ?? home
                // Each time: a relay may send us to another of the operator's.
                try clear?.check(relayHost: url.host)
            } catch {
                let wasSentThere = target != nil
                if let target { redirects.failed(target) }
                target = nil
                // A file that is being replaced; at the beginning it is a mistake, and said at once.
                guard monitor.current.connections > 0 || wasSentThere else { throw error }
                monitor.enter(.waitingToReconnect, reason: "\(error)")
                guard case .ready = await pump.pause(nanoseconds: 5_000_000_000) else { return try sourceResult() }
                continue
            }
            let began = monitor.current.connections
            let outcome = await pump.publish(to: url, tls: tls) {
                redirects.destination(of: $0, from: url, home: home)
            }
            let now = NIODeadline.now().uptimeNanoseconds
            let facts = monitor.current
            let wasPublished = facts.connections > began
            if wasPublished { backoff.streamStarted(at: facts.publishedAt) }
            func stay(until end: UInt64) -> UInt64 {
                wasPublished && end > facts.publishedAt ? end - facts.publishedAt : 0
            }
            let refusal = redirects.takeRefusal()
            let retry: RetryClass
            switch outcome {
            case .ready, .drained, .cancelled: return try sourceResult()
            case .redirected(let destination, let askedAt):
                target = destination.place
                retry = RedirectRule.pace(after: stay(until: askedAt))
                monitor.enter(.waitingToReconnect, reason: "the relay asks for another connection")
            case .closed(let error):
                retry = redirects.ended(
                    error.retry, at: target, after: stay(until: now), goodStream: self.backoff.goodStream)
                enterWait(after: error, sentTo: target, refusal: refusal)
                target = nil
            }
            await pump.leave()
            guard let delay = backoff.delay(after: retry, at: now, random: UInt64.random(in: .min ... .max)) else {
                return try sourceResult()
            }
            if delay > 0 {
                guard case .ready = await pump.pause(nanoseconds: delay) else { return try sourceResult() }
            }
            monitor.reconnecting()
        }
    }

    /// - Parameters:
    ///   - target: where the relay had sent this camera; nil: nowhere.
    ///   - refusal: of a redirect, by this camera, on the connection that has ended.
    private func enterWait(after error: RTMPTransportError, sentTo target: RTMPURL?, refusal: CodedError?) {
        if let target {
            monitor.enter(
                .waitingToReconnect,
                reason: "\(target.authority), where the relay had sent this camera, failed: \(error)", code: error.code)
        } else if let refusal, error.code == .relayUnreachable {
            // It closed because we stayed.
            monitor.enter(
                .waitingToReconnect, reason: "\(error). \(refusal.what): \(refusal.why ?? "")", code: refusal.code)
        } else {
            monitor.enter(.waitingToReconnect, reason: "\(error)", code: error.code)
        }
    }

    private func sourceResult() throws {
        if let failure = runner.failure { throw failure }
    }
}
