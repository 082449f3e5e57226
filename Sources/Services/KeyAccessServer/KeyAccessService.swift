internal import ConnectionAcceptance
internal import KeyAccess
public import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
internal import Platform
public import ServiceLifecycle

/// The key access server: HTTPS, or plain HTTP on loopback, until the service group shuts it down.
public final class KeyAccessService: Service {
    private let configuration: KeyAccessServerConfiguration
    private let endpoints: KeyAccessEndpoints
    private let logger: Logger
    private let onRunning: @Sendable (Int) -> Void
    private let connectionTimes: HTTPConnection.Times
    private let isMemoryLocked: Bool

    /// After a shutdown request, open requests get this long.
    private static let shutdownGrace = Duration.milliseconds(700)
    private static let maintenancePeriod = Duration.seconds(2)
    private static let issuerPeriod = Duration.seconds(1)
    private static let connectionPeriod = Duration.milliseconds(500)

    /// Checks the configuration and reads keys, registrations and JWKS files; binds nothing yet.
    ///
    /// - Parameters:
    ///   - onRunning: called with the port once connections are accepted.
    /// - Throws: `KeyAccessServerError` or `StateDirectoryError`; both describe what the operator can do.
    public convenience init(
        configuration: KeyAccessServerConfiguration, keyStore: KeyStore, logger: Logger,
        clock: KeyAccessClock = .system, onRunning: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        try self.init(
            configuration: configuration, keyStore: keyStore, logger: logger, clock: clock,
            connectionTimes: HTTPConnection.Times(), onRunning: onRunning)
    }

    init(
        configuration: KeyAccessServerConfiguration, keyStore: KeyStore, logger: Logger, clock: KeyAccessClock,
        connectionTimes: HTTPConnection.Times, onRunning: @escaping @Sendable (Int) -> Void
    ) throws {
        self.configuration = configuration
        self.logger = logger
        self.onRunning = onRunning
        isMemoryLocked = keyStore.isMemoryLocked
        self.connectionTimes = connectionTimes
        endpoints = try KeyAccessEndpoints(
            configuration: configuration, store: keyStore, clock: clock, logger: logger)
    }

    public func run() async throws {
        if !CoreDumps.forbid() { logger.warning("Core dumps can't be switched off; one would hold the private keys.") }
        if !isMemoryLocked {
            logger.warning("Memory can't be locked: private keys may reach a swap device. Raise LimitMEMLOCK to 2M.")
        }
        if !configuration.requiresRegisteredHeaders {
            logger.warning("Headers need no registration: whoever can reach this service can swap a stream's policy.")
        }
        if configuration.publicURL == nil, configuration.tls != nil || !configuration.isLoopback {
            logger.notice("publicURL is not set: tokens that are bound to a key (DPoP) are refused.")
        }
        if configuration.isDevelopment { logger.warning("Development mode: HS256 tokens are accepted.") }
        let table = ConnectionTable(limits: configuration.connectionLimits)
        let listener = try await bind(table)
        onRunning(listener.localAddress?.port ?? 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await listener.closeFuture.get() }
            group.addTask { [endpoints] in
                while !Task.isCancelled {
                    try await Task.sleep(for: Self.maintenancePeriod)
                    endpoints.maintain()
                }
            }
            group.addTask { [endpoints] in
                while !Task.isCancelled {
                    await endpoints.refreshIssuers()
                    try await Task.sleep(for: Self.issuerPeriod)
                }
            }
            group.addTask {
                while !Task.isCancelled {
                    try await Task.sleep(for: Self.connectionPeriod)
                    table.closeOverdue()
                }
            }
            group.addTask { try await gracefulShutdown() }
            defer {
                group.cancelAll()
                listener.close(promise: nil)
            }
            // The listener's end, or a shutdown request.
            do {
                try await group.next()
            } catch is CancellationError {}
        }
        if table.quiesce() > 0 { try? await Task.sleep(for: Self.shutdownGrace) }
        table.closeAll()
    }

    /// One line about the service, said only after a loop that serves requests and the key store have answered: for a
    /// watchdog.
    public func statusLine() async -> String {
        try? await MultiThreadedEventLoopGroup.singleton.any().submit {}.get()
        let answer = endpoints.answer(
            ServiceRequest(method: .get, path: Route.publicKey, address: "watchdog"))
        let keys = isMemoryLocked ? "gives keys" : "gives keys; its private keys are not locked in memory"
        return answer.status == 200 ? keys : "has no public key to give (\(answer.status))"
    }

    private func bind(_ table: ConnectionTable) async throws -> any Channel {
        let tls = try configuration.tls.map { try NIOSSLContext(configuration: Self.tlsConfiguration($0)) }
        return try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            // A burst of viewers waits here for a moment instead of for the second attempt of its SYNs, a second later.
            .serverChannelOption(.backlog, value: 4096)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.maxMessagesPerRead, value: 64)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(AcceptPause())
                }
            }
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { [endpoints, times = connectionTimes] channel in
                channel.eventLoop.makeCompletedFuture {
                    let connection = HTTPConnection(
                        endpoints: endpoints, table: table, address: channel.remoteAddress?.ipAddress ?? "unknown",
                        times: times)
                    try connection.enter(channel)
                    let pipeline = channel.pipeline.syncOperations
                    if let tls { try pipeline.addHandler(NIOSSLServerHandler(context: tls)) }
                    var limits = NIOHTTPDecoderLimitConfiguration()
                    limits.maxHeaderFieldSize = 16 * 1024
                    limits.maxHeaderListSize = 32 * 1024
                    limits.maxHeaderFieldCount = 100
                    // An answer is written before the next request is looked at: no assistance with pipelining is needed.
                    try pipeline.configureHTTPServerPipeline(
                        withPipeliningAssistance: false, withErrorHandling: false, withOutboundHeaderValidation: false,
                        withEncoderConfiguration: .init(), withDecoderLimitConfiguration: limits)
                    try pipeline.addHandler(connection)
                }
            }
            .bind(host: configuration.bindHost, port: configuration.port).get()
    }

    private static func tlsConfiguration(_ files: KeyAccessServerConfiguration.TLSFiles) throws -> TLSConfiguration {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(
                try PlainFile.read(files.certificateChainFile, limit: 1 << 20))
            guard !chain.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
        } catch let error as StateDirectoryError {
            throw error
        } catch {
            throw KeyAccessServerError.file(path: files.certificateChainFile, what: "it holds no PEM certificate")
        }
        let key: NIOSSLPrivateKey
        do {
            key = try NIOSSLPrivateKey(bytes: try PlainFile.readPrivateKey(files.privateKeyFile), format: .pem)
        } catch let error as StateDirectoryError {
            throw error
        } catch {
            throw KeyAccessServerError.file(path: files.privateKeyFile, what: "it holds no unencrypted PEM key")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        return configuration
    }
}
