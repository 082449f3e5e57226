internal import HTTPClient
internal import ONVIF

extension ONVIFError {
    init(_ error: HTTPClientError, _ operation: String) {
        if error.isPinMismatch, case .tlsFailed(let host, _) = error {
            self = .certificateChanged(host: host)
            return
        }
        switch error {
        case .invalidURL(let reason): self = .invalidRequest(reason: "the address is not usable: \(reason)")
        case .plainHTTPRefused, .invalidHeader: self = .invalidRequest(reason: "\(error)")
        case .unreachable(let host, let reason): self = .unreachable(host: host, reason: reason)
        case .connectionLost(let host, let reason):
            self = .unreachable(host: host, reason: "the connection ended before the answer did (\(reason))")
        case .connectTimedOut(let host, _): self = .unreachable(host: host, reason: "no connection in time")
        case .timedOut(let host, _): self = .timedOut(host: host, operation: operation)
        case .tlsFailed(let host, let reason): self = .certificate(host: host, reason: reason)
        case .malformedResponse(let host, let reason): self = .notONVIF(host: host, reason: reason)
        case .responseTooLarge(_, let limit):
            self = .malformed(operation: operation, reason: "the answer is longer than \(limit) bytes")
        case .cancelled: self = .cancelled
        case .tooManyRequests, .unavailable: self = .unavailable(reason: "\(error)")
        }
    }

    init(_ fault: ONVIFFault, _ operation: String) {
        switch fault.kind {
        case .actionNotSupported: self = .notSupported(operation: operation)
        case .forbidden: self = .forbidden(operation: operation)
        case .notAuthorized, .resourceUnknown, .invalidArgument, .busy, .other:
            self = .fault(operation: operation, fault)
        }
    }
}
