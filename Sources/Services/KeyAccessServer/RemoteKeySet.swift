internal import HTTPClient
internal import KeyAccess
internal import Synchronization

/// The keys of an issuer that publishes them under a URL (RFC 7517 §5, `jwks_uri`).
///
/// Asked for in the background, never while a request waits. The last good set stays in use for as long as no other one
/// comes: an issuer that is away for a night must not end what it has allowed.
final class RemoteKeySet: Sendable {
    /// What fetches; `HTTPClient`, or a script in tests.
    typealias Fetch = @Sendable (HTTPRequest) async throws -> HTTPResponse

    /// Seconds, whatever the server's max-age says.
    static let ageBounds: ClosedRange<UInt64> = 60...86_400
    /// Seconds without a max-age.
    static let defaultAge: UInt64 = 300
    /// Seconds from one attempt to the next at least: after a failure, and for a key identifier that is not in the set.
    static let pause: UInt64 = 60
    static let maximumBytes = 262_144
    private static let second: UInt64 = 1_000_000_000

    private struct State {
        var keys: [VerificationKey]?
        var entityTag: String?
        /// Nanoseconds of the monotonic clock; 0: at once.
        var isDueAt: UInt64 = 0
        var attemptedAt: UInt64?
        var isNeeded = false
        var isUnderWay = false
    }

    let url: String
    private let fetch: Fetch
    private let state = Mutex(State())

    init(url: String, fetch: @escaping Fetch) {
        self.url = url
        self.fetch = fetch
    }

    /// Nil until the first set has come.
    var keys: [VerificationKey]? { state.withLock { $0.keys } }

    /// A token names a key that is not there: the issuer may have a new one.
    func lacksKey() {
        state.withLock { $0.isNeeded = true }
    }

    /// Asks for the keys if it is time to.
    ///
    /// - Parameter now: nanoseconds of a monotonic clock.
    /// - Returns: what went wrong, for the log; nil when nothing was to be done or it went well.
    func refreshIfDue(now: UInt64) async -> String? {
        let conditional = state.withLock { state -> (entityTag: String?, Bool)? in
            let mayAsk = state.attemptedAt.map { now >= $0 + Self.pause * Self.second } ?? true
            guard !state.isUnderWay, mayAsk, state.isNeeded || now >= state.isDueAt else { return nil }
            state.isUnderWay = true
            state.isNeeded = false
            state.attemptedAt = now
            return (state.keys == nil ? nil : state.entityTag, true)
        }
        guard let conditional else { return nil }
        defer { state.withLock { $0.isUnderWay = false } }
        var request = HTTPRequest(url: url, maximumResponseBytes: Self.maximumBytes)
        request.headers = [HTTPHeader("Accept", "application/jwk-set+json, application/json")]
        if let tag = conditional.entityTag { request.headers.append(HTTPHeader("If-None-Match", tag)) }
        do {
            let response = try await fetch(request)
            let keys: [VerificationKey]?
            switch response.status {
            case 304 where conditional.entityTag != nil: keys = nil
            case 200: keys = try VerificationKey.set(response.body, from: url)
            default: return "\(url) answers with status \(response.status); the keys read before stay in use."
            }
            let age = Self.maxAge(response.header("cache-control"))
            state.withLock { state in
                if let keys {
                    state.keys = keys
                    state.entityTag = response.header("etag").flatMap { $0.utf8.count <= 256 ? $0 : nil }
                }
                state.isDueAt = now + age * Self.second
            }
            return nil
        } catch let error as KeyAccessServerError {
            return "\(error) The keys read before stay in use."
        } catch {
            return "\(url) can't be reached (\(error)); the keys read before stay in use."
        }
    }

    /// Seconds.
    static func maxAge(_ cacheControl: String?) -> UInt64 {
        for directive in (cacheControl ?? "").lowercased().split(separator: ",") {
            let word = directive.drop { $0 == " " }.prefix { $0 != " " }
            guard word.hasPrefix("max-age=") else { continue }
            guard let seconds = UInt64(word.dropFirst("max-age=".count)) else { break }
            return min(max(seconds, ageBounds.lowerBound), ageBounds.upperBound)
        }
        return defaultAge
    }
}
