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
public actor KASPublicKeyCache {
    /// A request is given this long when a key for the case of its failure is at hand.
    static let timeout: Duration = .seconds(3)

    private let connection: KASConnection
    private let file: PublicKeyFile?
    private let logger: Logger
    private let monotonic: @Sendable () -> UInt64
    private let wallClock: @Sendable () -> Int64
    private var state = PublicKeyState()
    private var isFileRead = false
    /// What the file says; nil when it has nothing that can be read, or was not written.
    private var kept: KnownPublicKey?
    /// The request that is under way: everybody who asks meanwhile waits for the same one.
    private var underWay: Task<Result<KASRecipient, KeyAccessError>, Never>?

    /// Why the last request failed; nil when it did not. For status.
    public private(set) var lastFailure: KeyAccessError?

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
        connection = KASConnection(configuration, transport)
        file = configuration.publicKeyCacheFile.map(PublicKeyFile.init(path:))
        self.logger = logger
        self.monotonic = monotonic
        self.wallClock = wallClock
    }

    /// Whom to seal for, now.
    public func recipient() async throws(KeyAccessError) -> KASRecipient {
        if let underWay { return try await underWay.value.get() }
        readFileOnce()
        switch state.decide(at: monotonic()) {
        case .use(let key): return try recipient(key)
        case .ask(let etag, let fallback):
            let task = Task { await self.ask(etag: etag, fallback: fallback) }
            underWay = task
            defer { underWay = nil }
            return try await task.value.get()
        }
    }

    /// The KAS is asked at the next use, whatever the age of the known key: it refused a header, or rolled its key.
    public func invalidate() {
        state.invalidate()
    }

    private func readFileOnce() {
        guard !isFileRead else { return }
        isFileRead = true
        let configuration = connection.configuration
        kept = file?.read()
        guard let key = kept, key.url == configuration.base, (try? recipient(key)) != nil,
            configuration.publicKeyPin == nil || key.publicKeyPin == configuration.publicKeyPin
        else { return }
        state.restored(key, wallClock: wallClock(), at: monotonic())
    }

    private func keep(_ key: KnownPublicKey) {
        guard let file, kept?.isOutdated(by: key) ?? true else { return }
        let reason = file.write(key)
        kept = reason == nil ? key : nil
        if let reason { logger.warning("the KAS's public key is not kept over a restart: \(reason)") }
    }

    private func ask(etag: String?, fallback: KnownPublicKey?) async -> Result<KASRecipient, KeyAccessError> {
        do throws(KeyAccessError) {
            let key = try await fetch(etag: etag, fallback: fallback)
            let recipient = try recipient(key)
            state.fetched(key, at: monotonic())
            lastFailure = nil
            keep(key)
            return .success(recipient)
        } catch {
            state.failed(at: monotonic())
            if lastFailure != error { logger.warning("\(error)") }
            lastFailure = error
            guard let fallback else { return .failure(error) }
            return Result { () throws(KeyAccessError) in try recipient(fallback) }
        }
    }

    private func fetch(etag: String?, fallback: KnownPublicKey?) async throws(KeyAccessError) -> KnownPublicKey {
        let base = connection.configuration.base
        let response = try await connection.send(
            .get, base + "/v2/kas_public_key?algorithm=\(KeyAlgorithm.p256.rawValue)",
            headers: etag.map { [HTTPHeader("If-None-Match", $0)] } ?? [],
            authorised: false, accepted: [200, 304], timeout: fallback == nil ? nil : Self.timeout)
        if response.status == 304 {
            guard etag != nil, var key = fallback else { throw .garbage(.unexpectedNotModified) }
            key.fetchedAt = wallClock()
            key.readsIdentifiers = Self.readsIdentifiers(response)
            return key
        }
        let answer = try KASConnection.decode(PublicKeyResponse.self, response.body)
        // What is repeated in the next request must fit a header line.
        let tag = response.header("ETag").flatMap { tag in
            tag.utf8.count <= 256 && tag.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F } ? tag : nil
        }
        return KnownPublicKey(
            url: base, publicKey: answer.publicKey, kid: answer.kid, etag: tag, fetchedAt: wallClock(),
            readsIdentifiers: Self.readsIdentifiers(response), publicKeyPin: connection.configuration.publicKeyPin)
    }

    private static func readsIdentifiers(_ response: HTTPResponse) -> Bool {
        response.header(PublicKeyResponse.identifierHeader.name) == PublicKeyResponse.identifierHeader.value
    }

    private func recipient(_ key: KnownPublicKey) throws(KeyAccessError) -> KASRecipient {
        guard case .ec(let point)? = try? PublicKeyPEM.load(key.publicKey) else { throw .invalidKey(.publicKey) }
        let configuration = connection.configuration
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
