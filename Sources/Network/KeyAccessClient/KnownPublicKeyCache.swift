internal import HTTPClient
internal import KeyAccess
internal import Logging
internal import Platform
internal import Settings

/// One of the configured KAS's public keys: fresh for a while, asked for with its ETag after that, and good for longer when the KAS does
/// not answer; over a restart too where it has a file.
actor KnownPublicKeyCache {
    /// A request is given this long when a key for the case of its failure is at hand.
    static let timeout: Duration = .seconds(3)

    private let connection: KASConnection
    private let algorithm: KeyAlgorithm
    private let file: PublicKeyFile?
    private let check: @Sendable (KnownPublicKey) throws(KeyAccessError) -> Void
    private let logger: Logger
    private let monotonic: @Sendable () -> UInt64
    private let wallClock: @Sendable () -> Int64
    private var state: PublicKeyState
    private var isFileRead = false
    /// What the file says; nil when it has nothing that can be read, or was not written.
    private var kept: KnownPublicKey?
    /// The request that is under way: everybody who asks meanwhile waits for the same one.
    private var underWay: Task<Result<KnownPublicKey, KeyAccessError>, Never>?

    /// Why the last request failed; nil when it did not. For status.
    private(set) var lastFailure: KeyAccessError?

    /// - Parameters:
    ///   - file: keeps the last good key; nil: none does.
    ///   - check: throws for a key that is of no use.
    init(
        _ connection: KASConnection, algorithm: KeyAlgorithm, file: String?,
        lifetimes: PublicKeyState.Lifetimes, logger: Logger,
        monotonic: @escaping @Sendable () -> UInt64 = { Clocks.boot },
        wallClock: @escaping @Sendable () -> Int64 = { Clocks.wallSeconds },
        check: @escaping @Sendable (KnownPublicKey) throws(KeyAccessError) -> Void
    ) {
        self.connection = connection
        self.algorithm = algorithm
        self.file = file.map(PublicKeyFile.init(path:))
        self.check = check
        self.logger = logger
        self.monotonic = monotonic
        self.wallClock = wallClock
        state = PublicKeyState(lifetimes)
    }

    /// The key, now; one that `check` took.
    func key() async throws(KeyAccessError) -> KnownPublicKey {
        if let underWay { return try await underWay.value.get() }
        readFileOnce()
        switch state.decide(at: monotonic()) {
        case .use(let key): return key
        case .ask(let etag, let fallback):
            let task = Task { await self.ask(etag: etag, fallback: fallback) }
            underWay = task
            defer { underWay = nil }
            return try await task.value.get()
        }
    }

    /// The KAS is asked at the next use, whatever the age of the known key: it refused a header, or rolled its key.
    func invalidate() {
        state.invalidate()
    }

    private func readFileOnce() {
        guard !isFileRead else { return }
        isFileRead = true
        let configuration = connection.configuration
        kept = file?.read()
        guard let key = kept, key.url == configuration.base, (try? check(key)) != nil,
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

    private func ask(etag: String?, fallback: KnownPublicKey?) async -> Result<KnownPublicKey, KeyAccessError> {
        do throws(KeyAccessError) {
            let key = try await fetch(etag: etag, fallback: fallback)
            try check(key)
            state.fetched(key, at: monotonic())
            lastFailure = nil
            keep(key)
            return .success(key)
        } catch {
            state.failed(at: monotonic())
            if lastFailure != error { logger.warning("\(error)") }
            lastFailure = error
            return fallback.map { .success($0) } ?? .failure(error)
        }
    }

    private func fetch(etag: String?, fallback: KnownPublicKey?) async throws(KeyAccessError) -> KnownPublicKey {
        let base = connection.configuration.base
        let response = try await connection.send(
            .get, base + "/v2/kas_public_key?algorithm=\(algorithm.rawValue)",
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
}
