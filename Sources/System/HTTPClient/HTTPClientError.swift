/// Why a request has no answer. Holds host names and reasons, never a path, a header's value or a body.
public enum HTTPClientError: Error, Equatable, Sendable {
    /// Not an absolute http or https URL, or one with a user name or password in it.
    case invalidURL(reason: String)
    /// Plain HTTP to another machine.
    case plainHTTPRefused(host: String)
    /// A header with a line break or a NUL in it, or without a name.
    case invalidHeader(name: String)
    /// No address for the name, or nothing listens there.
    case unreachable(host: String, reason: String)
    /// Certificate, host name or protocol version were refused, by either side.
    case tlsFailed(host: String, reason: String)
    /// The connection was not established in time.
    case connectTimedOut(host: String, after: Duration)
    /// The answer was not complete in time.
    case timedOut(host: String, after: Duration)
    /// The connection ended before the answer did.
    case connectionLost(host: String, reason: String)
    /// What came is not HTTP.
    case malformedResponse(host: String, reason: String)
    /// The answer's body, or its headers, are longer than allowed.
    case responseTooLarge(host: String, limit: Int)
    case cancelled
    /// This many requests are under way already.
    case tooManyRequests(limit: Int)
    /// libcurl is missing or refused to start.
    case unavailable(reason: String)
}

extension HTTPClientError: CustomStringConvertible {
    /// What happened, and why.
    public var description: String {
        switch self {
        case .invalidURL(let reason): "invalid URL: \(reason)"
        case .plainHTTPRefused(let host): "unencrypted HTTP to \(host) refused: it is not this machine"
        case .invalidHeader(let name): "invalid header \"\(name)\": line break, NUL or no name"
        case .unreachable(let host, let reason): "\(host) cannot be reached: \(reason)"
        case .tlsFailed(let host, let reason): "no trusted TLS connection to \(host): \(reason)"
        case .connectTimedOut(let host, let after): "no connection to \(host) within \(Self.text(after))"
        case .timedOut(let host, let after): "no complete answer from \(host) within \(Self.text(after))"
        case .connectionLost(let host, let reason): "connection to \(host) lost: \(reason)"
        case .malformedResponse(let host, let reason): "\(host) did not answer with HTTP: \(reason)"
        case .responseTooLarge(let host, let limit): "answer of \(host) is longer than \(limit) bytes"
        case .cancelled: "request cancelled"
        case .tooManyRequests(let limit): "\(limit) requests are under way already"
        case .unavailable(let reason): "HTTP client not available: \(reason)"
        }
    }

    /// What the operator can do next.
    public var hint: String {
        switch self {
        case .invalidURL: "Check the configured URL."
        case .plainHTTPRefused: "Use an https URL."
        case .invalidHeader: "Check the token and other configured values for line breaks."
        case .unreachable: "Check that the server runs, its name and its port."
        case .tlsFailed(_, let reason):
            TrustFault(rawValue: reason)?.hint
                ?? "Check the server's certificate, its host name, the CA file and this machine's clock."
        case .connectTimedOut, .timedOut, .connectionLost: "Check the network and the server's load."
        case .malformedResponse: "Check that the URL names the right server and port."
        case .responseTooLarge: "Check that the URL names the right server."
        case .cancelled: "Nothing to do."
        case .tooManyRequests: "Wait until some of them are answered."
        case .unavailable: "Install the package libcurl4."
        }
    }

    /// Whether the same request may succeed later, without anybody changing a setting.
    public var isTransient: Bool {
        switch self {
        case .unreachable, .connectTimedOut, .timedOut, .connectionLost, .malformedResponse, .tooManyRequests:
            true
        case .tlsFailed(_, let reason):
            // A clock not yet set after a power cut and an expired certificate both end by themselves.
            TrustFault(rawValue: reason) == nil
        case .invalidURL, .plainHTTPRefused, .invalidHeader, .responseTooLarge, .cancelled, .unavailable:
            false
        }
    }

    private static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        let tenths = attoseconds / 100_000_000_000_000_000
        return tenths == 0 ? "\(seconds) s" : "\(seconds).\(tenths) s"
    }
}
