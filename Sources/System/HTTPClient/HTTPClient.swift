internal import CCurl
internal import Platform

/// Sends HTTP requests with libcurl.
///
/// - Its transfers run on a thread of its own, never on the cooperative pool. The thread is made by the first request
///   and ends when there was nothing to do for `Configuration.idleTime`; until then connections are kept and reused.
/// - TLS certificates and host names are always verified, unless a request's `trust` asks for a pin instead; TLS 1.2 is
///   the least. Plain HTTP goes to this machine only.
/// - Nothing is followed: not a redirect, not a cookie, not a `.netrc`.
public final class HTTPClient: Sendable {
    /// Where unencrypted requests may go.
    public enum PlainHTTP: Sendable {
        /// 127.0.0.0/8, ::1, `localhost`, and Unix sockets.
        case loopbackOnly
        /// To any host: for devices that speak nothing else, on a network that the operator vouches for.
        case anywhere
    }

    public struct Configuration: Sendable {
        /// Trusted certificates (PEM) in place of the system's; nil for the system's.
        public var certificateAuthorityFile: String?
        /// "sha256//" and the Base64 of the SHA-256 of the server's SubjectPublicKeyInfo: the only key that is accepted
        /// in a certificate that is also verified. Plain HTTP is refused then. Nil: any key.
        public var publicKeyPin: String?
        public var plainHTTP: PlainHTTP
        /// How long the thread and its connections outlive the last request.
        public var idleTime: Duration
        /// Requests under way at the same time; more are refused.
        public var maximumRequests: Int

        public init(
            certificateAuthorityFile: String? = nil, publicKeyPin: String? = nil,
            plainHTTP: PlainHTTP = .loopbackOnly,
            idleTime: Duration = .seconds(20), maximumRequests: Int = 64
        ) {
            self.certificateAuthorityFile = certificateAuthorityFile
            self.publicKeyPin = publicKeyPin
            self.plainHTTP = plainHTTP
            self.idleTime = idleTime
            self.maximumRequests = maximumRequests
        }
    }

    private let worker: Worker

    public init(configuration: Configuration = Configuration()) {
        worker = Worker(configuration)
    }

    deinit { worker.stop() }

    /// The answer, whatever its status. Cancelling the task ends the request at once.
    public func send(_ request: HTTPRequest) async throws(HTTPClientError) -> HTTPResponse {
        let exchange = Exchange(request)
        return try await exchange.answer.value {
            worker.submit(exchange)
        } onCancel: {
            worker.cancel(exchange)
        }.get()
    }

    /// The body of an answer with a status of 2xx, piece by piece as it comes, without an end if the server sends none.
    ///
    /// The request begins at once. What is not read yet is bounded; after that the server waits. Whoever stops reading
    /// (cancels the task, or lets go of the stream) ends the request.
    ///
    /// - Throws: from the stream: `HTTPStatusError` for another status, `HTTPClientError` for everything else, also when
    ///   the server is silent for longer than the request's `totalTimeout`.
    public func stream(_ request: HTTPRequest) -> AsyncThrowingStream<[UInt8], any Error> {
        let body = BodyStream()
        let exchange = Exchange(request, stream: body)
        let reader = BodyReader(self, worker, exchange, body)
        worker.submit(exchange)
        return AsyncThrowingStream { try await reader.next() }
    }

    /// Whether the thread lives, for tests and for status.
    var isRunning: Bool { worker.isRunning }
}
