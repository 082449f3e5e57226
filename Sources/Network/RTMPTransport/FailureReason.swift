internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import Platform

/// Errors of other libraries, mapped onto ours in one place.
enum FailureReason {
    static func connecting(_ error: any Error, host: String) -> RTMPTransportError {
        switch error {
        case ChannelError.connectTimeout:
            return RTMPTransportError(.timedOut(.connect))
        case let error as NIOConnectionError:
            guard let first = error.connectionErrors.first else { return RTMPTransportError(.unknownHost(host)) }
            if case ChannelError.connectTimeout = first.error { return RTMPTransportError(.timedOut(.connect)) }
            return RTMPTransportError(.connectFailed(text(first.error)))
        default:
            return RTMPTransportError(.connectFailed(text(error)))
        }
    }

    static func securing(_ error: any Error) -> RTMPTransportError {
        switch error {
        case is IOError: RTMPTransportError(.connectionLost(text(error)))
        case NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])): closedWhileSecuring
        default: RTMPTransportError(.tlsFailed(distrust(error)))
        }
    }

    /// BoringSSL's own text names source files; of them only the code in capitals is kept.
    private static func distrust(_ error: any Error) -> String {
        if let error = error as? NIOSSLExtraError, error == .failedToValidateHostname {
            return "its certificate is for another host"
        }
        let words = "\(error)".split { !($0.isASCII && ($0.isUppercase || $0 == "_")) }
        if words.contains("CERTIFICATE_VERIFY_FAILED") {
            return "its certificate is not from an authority that is trusted here, or not valid now"
        }
        // OPENSSL_ is what is left of OPENSSL_internal, which stands before every code.
        let code = words.last { $0.count > 7 && $0.contains("_") && $0 != "OPENSSL_" }
        return "the TLS handshake failed" + (code.map { " (\($0))" } ?? "")
    }

    /// Says nothing about trust: a terminator of TLS does so while the relay behind it restarts.
    static let closedWhileSecuring = RTMPTransportError(
        .connectionLost("the server closed it during the TLS handshake; perhaps it does not speak TLS"))

    static func open(_ error: any Error) -> RTMPTransportError {
        RTMPTransportError(.connectionLost(text(error)))
    }

    static func text(_ error: any Error) -> String {
        switch error {
        case let error as IOError: SystemMessage.text(error.errnoCode)
        case NIOSSLError.uncleanShutdown: "the server ended TLS without close_notify"
        case ChannelError.eof, ChannelError.ioOnClosedChannel, ChannelError.alreadyClosed:
            "the server closed the connection"
        default: "\(error)"
        }
    }
}
