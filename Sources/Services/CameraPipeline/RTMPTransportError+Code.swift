internal import ErrorCatalog
internal import RTMP
internal import RTMPTransport

extension RTMPTransportError {
    /// What the catalog calls it.
    var code: ErrorCode {
        switch cause {
        case .tlsFailed, .publicKeyMismatch, .tlsConfiguration: .certificateRefused
        case .session(.pingUnanswered), .session(.stalled): .relayStalled
        case .session(.badName), .session(.authenticationFailed), .session(.rejected): .relayRefused
        case .unknownHost, .connectFailed, .timedOut, .connectionLost, .session, .bindFailed, .tooManyConnections:
            .relayUnreachable
        }
    }
}
