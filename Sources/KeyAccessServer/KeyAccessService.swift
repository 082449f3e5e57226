internal import Hummingbird
internal import HummingbirdCore
internal import HummingbirdTLS
internal import KeyAccess
public import Logging
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
public import ServiceLifecycle

/// The key access server: HTTPS, or plain HTTP on loopback, until the service group shuts it down.
public final class KeyAccessService: Service {
    private let configuration: KeyAccessServerConfiguration
    private let endpoints: KeyAccessEndpoints
    private let logger: Logger
    private let onRunning: @Sendable (Int) -> Void

    /// After a shutdown request, open requests get this long.
    private static let shutdownGrace = Duration.milliseconds(700)
    private static let maintenancePeriod = Duration.seconds(2)

    /// Checks the configuration and reads keys, registrations and JWKS files; binds nothing yet.
    ///
    /// - Parameters:
    ///   - onRunning: called with the port once connections are accepted.
    /// - Throws: `KeyAccessServerError` or `StateDirectoryError`; both describe what the operator can do.
    public init(
        configuration: KeyAccessServerConfiguration, keyStore: KeyStore, logger: Logger,
        clock: KeyAccessClock = .system, onRunning: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws {
        self.configuration = configuration
        self.logger = logger
        self.onRunning = onRunning
        endpoints = try KeyAccessEndpoints(
            configuration: configuration, store: keyStore, clock: clock, logger: logger)
    }

    public func run() async throws {
        if !CoreDumps.forbid() { logger.warning("Core dumps can't be switched off; one would hold the private keys.") }
        var serverLogger = logger
        // At debug level the HTTP library logs errors with their values, and those may quote a request.
        if serverLogger.logLevel < .info { serverLogger.logLevel = .info }
        let application = Application(
            responder: KeyAccessResponder(endpoints: endpoints), server: try server(),
            configuration: ApplicationConfiguration(
                address: .hostname(configuration.bindHost, port: configuration.port), serverName: "WatchBox",
                availableConnectionsDelegate: MaximumAvailableConnections(configuration.maximumConnections)),
            onServerRunning: { [onRunning] channel in onRunning(channel.localAddress?.port ?? 0) },
            logger: serverLogger)
        if !configuration.requiresRegisteredHeaders {
            logger.warning("Headers need no registration: whoever can reach this service can swap a stream's policy.")
        }
        if configuration.isDevelopment { logger.warning("Development mode: HS256 tokens are accepted.") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            group.addTask { [endpoints] in
                while !Task.isCancelled {
                    try await Task.sleep(for: Self.maintenancePeriod)
                    endpoints.maintain()
                }
            }
            group.addTask {
                try await gracefulShutdown()
                try await Task.sleep(for: Self.shutdownGrace)
            }
            defer { group.cancelAll() }
            // The server's end, its failure, or the end of the grace after a shutdown request.
            do {
                try await group.next()
            } catch is CancellationError {}
        }
    }

    /// One line about the service, said only after a loop that serves requests and the key store have answered: for a
    /// watchdog.
    public func statusLine() async -> String {
        try? await MultiThreadedEventLoopGroup.singleton.any().submit {}.get()
        let answer = endpoints.answer(
            ServiceRequest(method: .get, path: Route.publicKey, address: "watchdog"))
        return answer.status == 200 ? "gives keys" : "has no public key to give (\(answer.status))"
    }

    private func server() throws -> HTTPServerBuilder {
        var decoder = HTTP1Channel.Configuration.DecoderConfiguration()
        decoder.maxHeaderFieldSize = 16 * 1024
        decoder.maxHeaderListSize = 32 * 1024
        decoder.maxHeaderFieldCount = 100
        let http = HTTPServerBuilder.http1(
            configuration: .init(idleTimeout: .seconds(30), httpDecoderConfiguration: decoder))
        guard let tls = configuration.tls else { return http }
        return try .tls(http, tlsConfiguration: try Self.tlsConfiguration(tls))
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
