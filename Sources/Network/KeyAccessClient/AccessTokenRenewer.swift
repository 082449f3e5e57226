public import HTTPClient
internal import KeyAccess
public import Settings
public import Wire

/// Asks WatchBox's KAS for a token in place of one that it issued: the same again before it ends, or a narrower one for
/// a single stream. Another KAS answers 404, `.status(404, …)`.
public struct AccessTokenRenewer: Sendable {
    /// A new token. It is a secret, and nothing shows it.
    public struct Renewed: Equatable, Sendable, Concealed {
        public var token: String
        /// Unix seconds.
        public var expiresAt: Int64

        public var description: String { "a token until \(expiresAt)" }
    }

    private let configuration: KASConfiguration
    private let transport: any KASTransport

    /// - Parameter configuration: its token is not used.
    public init(configuration: KASConfiguration, client: HTTPClient? = nil) {
        self.init(configuration: configuration, transport: client ?? configuration.makeHTTPClient())
    }

    init(configuration: KASConfiguration, transport: any KASTransport) {
        self.configuration = configuration
        self.transport = transport
    }

    /// - Parameter token: renewable; when it has ended, its owner must have readmitted its subject.
    public func renew(_ token: String) async throws(KeyAccessError) -> Renewed {
        try await ask(Route.renewToken, token, body: [])
    }

    /// A token that can publish one stream, and nothing else.
    ///
    /// - Parameter stream: a name, no pattern.
    public func narrow(_ token: String, stream: String) async throws(KeyAccessError) -> Renewed {
        try await ask(
            Route.narrowToken, token,
            body: try KASConnection.encode(NarrowRequest(stream: stream, scopes: [Scope.publish])))
    }

    private func ask(_ path: String, _ token: String, body: [UInt8]) async throws(KeyAccessError) -> Renewed {
        var configuration = configuration
        configuration.token = .value(token)
        let connection = KASConnection(configuration, transport)
        let response = try await connection.send(.post, configuration.root + path, body: body, authorised: true)
        let issued = try KASConnection.decode(IssuedToken.self, response.body)
        // What is stored is shown to the KAS for a month: it must be a token.
        guard AccessTokenFacts(issued.token) != nil else { throw .garbage(.unreadable) }
        return Renewed(token: issued.token, expiresAt: issued.expiresAt)
    }
}
