public import RTMP

/// Why a connection ended or could not begin, as the text that a person sees. No text holds a key, a token or a
/// password.
public struct RTMPTransportError: Error, Equatable, Sendable {
    public enum Phase: String, Equatable, Sendable {
        case connect = "TCP connect"
        case tls = "TLS handshake"
        case rtmp = "RTMP handshake"
        case order = "publish or play"
    }

    public enum Cause: Equatable, Sendable {
        /// The host's name has no address.
        case unknownHost(String)
        /// Nothing listens there, or the way is barred.
        case connectFailed(String)
        case timedOut(Phase)
        /// Certificate or key files cannot be used.
        case tlsConfiguration(String)
        /// The server is not who it should be, or does not speak TLS ≥ 1.2. Never followed by plain TCP, and no more is one
        /// that closes during the handshake, which is `connectionLost`.
        case tlsFailed(String)
        /// The server's public key is not the pinned one.
        case publicKeyMismatch
        /// The connection broke: reset, unreachable, or the kernel's time-out.
        case connectionLost(String)
        case session(RTMPSessionError)
        /// A server's port cannot be had.
        case bindFailed(String)
        /// More connections than the server allows, from one address or in all.
        case tooManyConnections
    }

    public let cause: Cause

    public init(_ cause: Cause) {
        self.cause = cause
    }

    /// What happened.
    public var what: String {
        switch cause {
        case .unknownHost, .connectFailed: "cannot reach the server"
        case .timedOut(let phase): "the server did not complete the \(phase.rawValue) in time"
        case .tlsConfiguration: "TLS cannot be set up"
        case .tlsFailed, .publicKeyMismatch: "the server could not be trusted"
        case .connectionLost: "the connection broke"
        case .session: "the RTMP session ended"
        case .bindFailed: "cannot listen"
        case .tooManyConnections: "the connection was refused"
        }
    }

    /// Why it happened.
    public var why: String {
        switch cause {
        case .unknownHost(let host): "no address for \(host)"
        case .connectFailed(let reason), .tlsConfiguration(let reason), .tlsFailed(let reason),
            .connectionLost(let reason), .bindFailed(let reason):
            reason
        case .timedOut: "it is overloaded, stopped, or something in between swallows packets"
        case .publicKeyMismatch: "its public key is not the pinned one"
        case .session(let error): "\(error)"
        case .tooManyConnections: "too many connections, from this address or in all"
        }
    }

    /// What to do next.
    public var hint: String {
        switch cause {
        case .unknownHost: "check the host name and the resolver"
        case .connectFailed: "check host, port and firewall, and that the server runs"
        case .timedOut: "check the server and the network; a new attempt follows"
        case .tlsConfiguration: "check the certificate, key and authority files, the pin and the URL"
        case .tlsFailed: "check the server's certificate, the host name in the URL and this machine's clock"
        case .publicKeyMismatch: "compare the pin with the server's certificate; if its owner has no new key, beware"
        case .connectionLost: "a new attempt follows"
        case .session(let error): error.retry == .authentication ? "check the stream key" : "a new attempt follows"
        case .bindFailed: "check the address, and that no other program uses the port"
        case .tooManyConnections: "raise the limit, or find out who opens so many"
        }
    }
}

extension RTMPTransportError: CustomStringConvertible {
    public var description: String { "\(what): \(why); \(hint)" }
}

extension RTMPTransportError {
    /// What the owner of a client connection does after it ended (`ReconnectBackoff`).
    public var retry: RetryClass {
        switch cause {
        case .session(let error): error.retry
        // Files and a wrong pin do not repair themselves; an operator must act.
        case .tlsConfiguration, .publicKeyMismatch: .authentication
        // A box without a battery has no time of day before NTP, and every certificate is of the future then.
        case .tlsFailed, .unknownHost, .connectFailed, .timedOut, .connectionLost, .bindFailed, .tooManyConnections:
            .transient
        }
    }
}
