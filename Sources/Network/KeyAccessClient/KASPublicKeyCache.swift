internal import Cryptography
public import HTTPClient
internal import KeyAccess
public import Logging
public import NanoTDF
internal import Platform
public import Settings

/// The configured KAS's public key: for whom collections are sealed.
///
/// Fresh for 300 s, asked for with its ETag after that; when the KAS does not answer, the last good one goes on for
/// 24 h, over a restart too (an hour less) when a cache file is configured. So a KAS outage does not stop a stream, nor its restart.
public struct KASPublicKeyCache: Sendable {
    private let configuration: KASConfiguration
    private let cache: KnownPublicKeyCache

    /// - Parameter client: shared with other users of the same KAS; nil for one of its own.
    public init(
        configuration: KASConfiguration, client: HTTPClient? = nil, logger: Logger = Logger(label: "watchbox.kas")
    ) {
        self.init(
            configuration: configuration, transport: client ?? configuration.makeHTTPClient(), logger: logger)
    }

    init(
        configuration: KASConfiguration, transport: any KASTransport,
        logger: Logger = Logger(label: "watchbox.kas"),
        monotonic: @escaping @Sendable () -> UInt64 = { Clocks.boot },
        wallClock: @escaping @Sendable () -> Int64 = { Clocks.wallSeconds }
    ) {
        self.configuration = configuration
        cache = KnownPublicKeyCache(
            KASConnection(configuration, transport), algorithm: .p256, file: configuration.publicKeyCacheFile,
            lifetimes: .ofStreams, logger: logger, monotonic: monotonic, wallClock: wallClock
        ) { (key) throws(KeyAccessError) in _ = try Self.recipient(key, configuration) }
    }

    /// Whom to seal for, now.
    public func recipient() async throws(KeyAccessError) -> KASRecipient {
        try Self.recipient(try await cache.key(), configuration)
    }

    /// The KAS is asked at the next use, whatever the age of the known key: it refused a header, or rolled its key.
    public func invalidate() async { await cache.invalidate() }

    /// Why the last request failed; nil when it did not. For status.
    public var lastFailure: KeyAccessError? { get async { await cache.lastFailure } }

    private static func recipient(
        _ key: KnownPublicKey, _ configuration: KASConfiguration
    ) throws(KeyAccessError) -> KASRecipient {
        guard case .ec(let point)? = try? PublicKeyPEM.load(key.publicKey) else { throw .invalidKey(.publicKey) }
        let isNamed =
            switch configuration.keyIdentifier {
            case .automatic: key.readsIdentifiers == true
            case .always: true
            case .never: false
            }
        // 32 bytes are the most that a header can carry; such a KAS tries its keys.
        let kid = isNamed ? key.kid.map { Array($0.utf8) } ?? [] : []
        do throws(NanoTDFError) {
            let locator = try ResourceLocator(url: configuration.base, keyIdentifier: kid.count <= 32 ? kid : [])
            return KASRecipient(locator: locator, publicKey: point.compressed())
        } catch {
            throw .configuration(.invalidURL(reason: "a header can name it only when it has 1 to 255 bytes"))
        }
    }
}
