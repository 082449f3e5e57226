internal import FoundationEssentials
internal import HTTPClient
internal import KeyAccess
internal import Platform
internal import Settings
internal import Wire

/// What sends a request; `HTTPClient`, or a script in tests.
protocol KASTransport: Sendable {
    func send(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse
}

extension HTTPClient: KASTransport {}

/// Requests to the configured KAS: URL, token, limits, and what a status means.
struct KASConnection: Sendable {
    /// Bytes. A rewrap of one key has about 700.
    static let answerLimit = 64 * 1024

    let configuration: KASConfiguration
    private let transport: any KASTransport
    private let token: AccessTokenReader
    private let uptime: @Sendable () -> UInt64

    /// - Parameter uptime: nanoseconds, for how long an answer took.
    init(
        _ configuration: KASConfiguration, _ transport: any KASTransport,
        uptime: @escaping @Sendable () -> UInt64 = { Clocks.boot }
    ) {
        self.configuration = configuration
        self.transport = transport
        self.uptime = uptime
        token = AccessTokenReader(configuration.token)
    }

    /// Issuer and subject of the configured token; empty when it has none.
    func claimed() throws(KeyAccessError) -> (issuer: String, subject: String) {
        AccessTokenReader.claimed(try token.token())
    }

    /// - Parameters:
    ///   - accepted: statuses that are an answer; every other one is an error.
    ///   - adaptive: of a caller that tries again at once.
    func send(
        _ method: HTTPRequest.Method, _ url: String, headers: [HTTPHeader] = [], body: [UInt8] = [],
        authorised: Bool, accepted: Set<Int> = [200], timeout: Duration? = nil,
        adaptiveTimeout: SharedAdaptiveTimeout? = nil
    ) async throws(KeyAccessError) -> HTTPResponse {
        var headers = headers + [HTTPHeader("Accept", "application/json")]
        if authorised, let token = try token.token() { headers.append(HTTPHeader("Authorization", "Bearer \(token)")) }
        if !body.isEmpty { headers.append(HTTPHeader("Content-Type", "application/json")) }
        let limit = adaptiveTimeout?.next ?? .configured
        let isShort = limit == .short
        let total = min(timeout ?? (isShort ? AdaptiveTimeout.total : configuration.timeout), configuration.timeout)
        let connect = min(
            isShort ? AdaptiveTimeout.connect : configuration.connectTimeout, configuration.connectTimeout)
        let begin = uptime()
        let request = HTTPRequest(
            method: method, url: url, headers: headers, body: body,
            connectTimeout: min(connect, total), totalTimeout: total,
            maximumResponseBytes: Self.answerLimit)
        let response: HTTPResponse
        do {
            response = try await transport.send(request)
        } catch {
            let fault = KeyAccessError(error)
            adaptiveTimeout?.failed(fault)
            throw fault
        }
        adaptiveTimeout?.answered(limit, after: .nanoseconds(Int64(clamping: uptime() &- begin)))
        guard accepted.contains(response.status) else {
            throw Self.fault(of: response)
        }
        return response
    }

    /// What an answer means that is not one of those that were hoped for.
    static func fault(of response: HTTPResponse) -> KeyAccessError {
        .status(response.status, message: message(response.body))
    }

    /// The KAS's own text on an error; empty when its body is anything else.
    private static func message(_ body: [UInt8]) -> String {
        guard let envelope = try? decode(ErrorEnvelope.self, body) else { return "" }
        return KeyAccessError.printable(envelope.message)
    }

    static func decode<T: Decodable>(_ type: T.Type, _ body: [UInt8]) throws(KeyAccessError) -> T {
        do {
            try JSONShape.check(body)
            return try JSONDecoder().decode(type, from: Data(body))
        } catch {
            throw .garbage(.unreadable)
        }
    }

    /// Of values that always can be encoded.
    static func encode(_ value: some Encodable) throws(KeyAccessError) -> [UInt8] {
        do {
            return Array(try JSONEncoder().encode(value))
        } catch {
            throw .crypto("JSON encoding")
        }
    }
}
