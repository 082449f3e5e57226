internal import Cryptography
public import HTTPClient
internal import KeyAccess
public import Logging
internal import Platform
public import Settings

/// The RSA key of a KAS, for which archives are wrapped.
public struct KASArchiveKey: Equatable, Sendable {
    /// The base URL that the KAS was asked at.
    public var url: String
    /// The KAS's name of the key; nil when it gives none.
    public var kid: String?
    /// SubjectPublicKeyInfo.
    public var publicKeyPEM: String

    /// Asks the configured KAS; no token is sent.
    ///
    /// - Parameter client: shared with other users of the same KAS; nil for one of its own.
    public static func fetch(
        _ configuration: KASConfiguration, client: HTTPClient? = nil
    ) async throws(KeyAccessError) -> KASArchiveKey {
        try await fetch(configuration, transport: client ?? configuration.makeHTTPClient())
    }

    static func fetch(
        _ configuration: KASConfiguration, transport: any KASTransport
    ) async throws(KeyAccessError) -> KASArchiveKey {
        // Whoever asks once reads in the error what a log would say.
        let silent = Logger(label: "watchbox.kas") { _ in SwiftLogNoOpLogHandler() }
        return try await KASArchiveKeyCache(
            configuration: configuration, file: nil, transport: transport, logger: silent
        ).key()
    }
}

extension KASArchiveKey {
    init(_ known: KnownPublicKey) throws(KeyAccessError) {
        guard case .rsa(let key)? = try? PublicKeyPEM.load(known.publicKey), let pem = try? key.spkiPEM() else {
            throw .invalidKey(.archivePublicKey)
        }
        url = known.url
        kid = known.kid
        publicKeyPEM = pem
    }
}

/// The same, for whoever goes on for years: fresh for an hour, and good for as long as the KAS does not answer, over a restart too.
public struct KASArchiveKeyCache: Sendable {
    private let cache: KnownPublicKeyCache

    /// - Parameters:
    ///   - file: keeps the last good key; nil: none does.
    ///   - client: shared with other users of the same KAS; nil for one of its own.
    public init(
        configuration: KASConfiguration, file: String?, client: HTTPClient? = nil,
        logger: Logger = Logger(label: "watchbox.kas")
    ) {
        self.init(
            configuration: configuration, file: file, transport: client ?? configuration.makeHTTPClient(),
            logger: logger)
    }

    init(
        configuration: KASConfiguration, file: String?, transport: any KASTransport,
        logger: Logger = Logger(label: "watchbox.kas"),
        monotonic: @escaping @Sendable () -> UInt64 = { Clocks.boot },
        wallClock: @escaping @Sendable () -> Int64 = { Clocks.wallSeconds }
    ) {
        cache = KnownPublicKeyCache(
            KASConnection(configuration, transport), algorithm: .rsa2048, file: file, lifetimes: .ofArchives,
            logger: logger, monotonic: monotonic, wallClock: wallClock
        ) { (key) throws(KeyAccessError) in _ = try KASArchiveKey(key) }
    }

    /// Whom archives are wrapped for, now.
    public func key() async throws(KeyAccessError) -> KASArchiveKey {
        try KASArchiveKey(try await cache.key())
    }
}
