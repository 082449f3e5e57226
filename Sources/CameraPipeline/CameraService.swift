public import CameraModel
internal import Cryptography
internal import ErrorCatalog
public import Logging
public import Media
public import NIOCore
internal import NanoTDF
internal import RTMP
public import RTMPTransport
public import ServiceLifecycle

/// One camera, from source to relay, until it is stopped, its source ends, or a fault that only a person can put
/// right.
///
/// Its order of things: a public key of the KAS, a collection made with it, a relay that accepts the stream, and only
/// then the source. When the relay goes, it comes back as soon as `ReconnectBackoff` lets it, with a new collection;
/// the source runs on, its frames are counted and forgotten meanwhile. There is no state in which media leave unsealed.
public final class CameraService: Service {
    /// What happens, for status and for `sd_notify`; bounded, the newest are kept. One consumer.
    public var events: AsyncStream<CameraEvent> { monitor.events }

    private let configuration: CameraConfiguration
    private let authority: (any CollectionAuthority)?
    private let monitor: CameraMonitor
    private let runner: SourceRunner
    private let pump: CameraPump
    private let frameLog: FrameLog?
    private let supplySettings: CollectionSupply.Settings
    private let address: RelayAddress
    private let clear: ClearPermit?
    private let backoff: ReconnectBackoff.Configuration
    private let logger: Logger

    /// - Parameters:
    ///   - configuration: valid, see `CameraConfiguration.validate()`.
    ///   - source: nil for the one that the configuration names.
    ///   - authority: nil for the KAS that the configuration names.
    ///   - eventLoop: where it sends; one for many cameras of a process is enough.
    /// - Throws: `ConfigurationError`, or what keeps the frame log from being written.
    public convenience init(
        configuration: CameraConfiguration, source: (any MediaSource)? = nil,
        authority: (any CollectionAuthority)? = nil, logger: Logger = Logger(label: "watchbox.camera"),
        eventLoop: any EventLoop = RTMPEventLoop.shared
    ) throws {
        try self.init(
            configuration: configuration, source: source,
            authority: authority ?? KeyAccessAuthority(configuration.kas, logger: logger), clear: nil, logger: logger,
            eventLoop: eventLoop)
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
            configuration: configuration, source: source, authority: nil, clear: permit, logger: logger,
            eventLoop: eventLoop)
    }

    init(
        configuration: CameraConfiguration, source: (any MediaSource)?, authority: (any CollectionAuthority)?,
        clear: ClearPermit?, supply: CollectionSupply.Settings? = nil,
        backoff: ReconnectBackoff.Configuration = ReconnectBackoff.Configuration(), logger: Logger,
        eventLoop: any EventLoop
    ) throws {
        try configuration.validate()
        var logger = logger
        logger[metadataKey: "camera"] = "\(configuration.id)"
        let channel = FrameChannel(FrameQueue(configuration))
        let options = StreamSealer.Options(configuration)
        let sealer = clear.map { StreamSealer(clearForTests: $0, options: options) } ?? StreamSealer(options: options)
        address = RelayAddress(configuration)
        self.clear = clear
        self.backoff = backoff
        self.configuration = configuration
        self.authority = authority
        self.logger = logger
        monitor = CameraMonitor(logger: logger)
        frameLog = try configuration.frameLog.map { path in try FrameLog(path: path) }
        runner = SourceRunner(source ?? configuration.makeSource(), into: channel)
        pump = CameraPump(
            eventLoop: eventLoop, channel: channel, runner: runner, sealer: sealer, needsCollection: clear == nil,
            monitor: monitor, frameLog: frameLog)
        supplySettings = supply ?? CollectionSupply.Settings(configuration)
    }

    /// Ends without an error when it was stopped or the source has ended.
    public func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                try await self.operate()
            }
            monitor.enter(.stopped)
            monitor.finish()
        } catch {
            monitor.enter(.failed, reason: "\(error)", code: error is MediaSourceError ? .sourceUnreadable : .noFrames)
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
        return await pump.fill(statistics)
    }

    /// As soon as the source can make one.
    public func requestKeyFrame() {
        pump.requestKeyFrame()
    }

    /// A new key from the next key frame on, which is asked for.
    public func rotateKey() {
        pump.rotate()
    }

    // MARK: - Work

    /// Nanoseconds of streaming after which a redirect is followed without a pause.
    private static let shortestStay: UInt64 = 2_000_000_000

    private func operate() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            if let authority {
                let supply = makeSupply(authority)
                await pump.setCollectionTaken { supply.collectionTaken() }
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
            report: { [pump, monitor] report in
                switch report {
                case .collection(let collection): await pump.offer(collection)
                case .keyChanged: await pump.replaceCollections()
                case .noKey(let reason): monitor.enter(.waitingForKey, reason: reason, code: .noKey)
                case .registered(let waiting): monitor.headerRegistered(waiting: waiting)
                case .notRegistered(let reason, let waiting):
                    monitor.headerNotRegistered(waiting: waiting, reason: reason)
                }
            })
    }

    /// Streams, one after the other, until there is nothing more to publish.
    private func publish() async throws {
        var backoff = ReconnectBackoff(configuration: backoff)
        var target: RTMPURL?
        if authority != nil { monitor.enter(.starting, reason: "asking the KAS for its public key") }
        while true {
            guard case .ready = await pump.awaitCollection() else { return try sourceResult() }
            monitor.enter(.connecting)
            let url: RTMPURL
            do {
                url = try target ?? address.read()
                // Each time: a file may name another relay by now, and a relay may send us anywhere.
                try clear?.check(relayHost: url.host)
            } catch {
                target = nil
                // A file that is being replaced; at the beginning it is a mistake, and said at once.
                guard monitor.current.connections > 0 else { throw error }
                monitor.enter(.waitingToReconnect, reason: "\(error)")
                guard case .ready = await pump.pause(nanoseconds: 5_000_000_000) else { return try sourceResult() }
                continue
            }
            let began = monitor.current.connections
            let outcome = await pump.publish(to: url, tls: RTMPClientTLS(authorityFile: configuration.relay.caFile))
            let now = NIODeadline.now().uptimeNanoseconds
            if monitor.current.connections > began { backoff.streamStarted(at: monitor.current.publishedAt) }
            let retry: RetryClass
            switch outcome {
            case .ready, .drained, .cancelled: return try sourceResult()
            case .redirected(let tcURL):
                // Elsewhere only as long as that works.
                target = tcURL.flatMap { url.redirected(to: $0) }
                // A relay that sends everybody away at once must not be asked in a tight loop.
                let lasted = now > monitor.current.publishedAt ? now - monitor.current.publishedAt : 0
                retry = lasted >= Self.shortestStay ? .immediately : .transient
                monitor.enter(.waitingToReconnect, reason: "the relay asks for another connection")
            case .closed(let error):
                target = nil
                retry = error.retry
                monitor.enter(.waitingToReconnect, reason: "\(error)", code: error.code)
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

    private func sourceResult() throws {
        if let failure = runner.failure { throw failure }
    }
}
