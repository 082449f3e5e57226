internal import RTMP
internal import RTMPTransport

extension RTMPTransportError {
    /// How a publisher goes on after it.
    var retryClass: RetryClass {
        switch cause {
        case .session(let error): error.retry
        // Files of this machine: an operator must act.
        case .tlsConfiguration: .authentication
        case .unknownHost, .connectFailed, .timedOut, .tlsFailed, .publicKeyMismatch, .connectionLost, .bindFailed,
            .tooManyConnections:
            .transient
        }
    }
}
