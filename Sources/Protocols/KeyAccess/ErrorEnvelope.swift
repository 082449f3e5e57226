/// Body of every failed request: one form for Connect clients, which read `code`, and arkavo's, which read `error`.
public struct ErrorEnvelope: Codable, Equatable, Sendable {
    /// A Connect code.
    public var code: String
    public var error: String
    /// One sentence; never holds a key, a token, or why exactly a signature was refused.
    public var message: String
}

/// A request that is refused as a whole. (What concerns one key access object is an answer with status 200.)
public enum ServiceFault: Error, Equatable, Sendable {
    case invalidRequest(String)
    case authenticationFailed(String)
    case policyDenied(String)
    case notFound(String)
    case methodNotAllowed
    case tooLarge(String)
    case unsupportedContent(String)
    case rateLimited
    case internalError
    case unavailable

    /// HTTP status.
    public var status: Int {
        switch self {
        case .invalidRequest: 400
        case .authenticationFailed: 401
        case .policyDenied: 403
        case .notFound: 404
        case .methodNotAllowed: 405
        case .tooLarge: 413
        case .unsupportedContent: 415
        case .rateLimited: 429
        case .internalError: 500
        case .unavailable: 503
        }
    }

    public var envelope: ErrorEnvelope {
        switch self {
        case .invalidRequest(let message):
            ErrorEnvelope(code: "invalid_argument", error: "invalid_request", message: message)
        case .authenticationFailed(let message):
            ErrorEnvelope(code: "unauthenticated", error: "authentication_failed", message: message)
        case .policyDenied(let message):
            ErrorEnvelope(code: "permission_denied", error: "policy_denied", message: message)
        case .notFound(let message):
            ErrorEnvelope(code: "not_found", error: "not_found", message: message)
        case .methodNotAllowed:
            ErrorEnvelope(
                code: "unimplemented", error: "invalid_request", message: "This path does not take that method.")
        case .tooLarge(let message):
            ErrorEnvelope(code: "resource_exhausted", error: "invalid_request", message: message)
        case .unsupportedContent(let message):
            ErrorEnvelope(code: "invalid_argument", error: "invalid_request", message: message)
        case .rateLimited:
            ErrorEnvelope(
                code: "resource_exhausted", error: "rate_limited",
                message: "Too many requests; wait a few seconds and ask again.")
        case .internalError:
            ErrorEnvelope(
                code: "internal", error: "internal_error", message: "The service failed; its log says where.")
        case .unavailable:
            ErrorEnvelope(
                code: "unavailable", error: "unavailable", message: "The service cannot answer now; ask again later.")
        }
    }
}
