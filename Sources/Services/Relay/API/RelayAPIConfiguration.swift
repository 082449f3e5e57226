public import Wire

/// Where a relay's API for its operator listens, and who may ask. It speaks plain HTTP.
public struct RelayAPIConfiguration: Equatable, Sendable {
    public enum Fault: Error, Equatable, Sendable {
        /// Other machines reach it, so it needs a token.
        case tokenRequired
    }

    public let host: String
    /// 0 lets the system choose.
    public let port: Int
    /// Nil: whoever reaches the address may read figures (`RelayOrder.needsToken`), and nobody may do more: other
    /// processes of this machine, cameras among them, are not trusted.
    public let token: RelayAPIToken?
    var limits = RelayAPILimits()

    /// - Throws: beyond this machine there must be a token.
    public init(host: String, port: Int, token: RelayAPIToken? = nil) throws(Fault) {
        guard token != nil || ListeningHost.isLoopback(host) else { throw .tokenRequired }
        self.host = host
        self.port = port
        self.token = token
    }
}

/// What the API holds at most, and for how long.
struct RelayAPILimits: Equatable, Sendable {
    var connections = 16
    /// Of one IPv4 address or one /64 of IPv6. Listeners have limits of their own.
    var connectionsPerAddress = 4
    /// Bytes of a request's header fields, and of its target.
    var headBytes = 8 << 10
    var targetBytes = 2 << 10
    var bodyBytes = 16 << 10
    /// From the connection to the end of the request's head.
    var head = Duration.seconds(3)
    /// From there to the request's last byte.
    var ask = Duration.seconds(10)
    /// For a client to read its answer.
    var answer = Duration.seconds(10)
    var listeners = 4
    /// Events that may wait for one listener.
    var waitingEvents = 256
    /// Bytes that may wait in the connection itself.
    var writeHighWater = 64 << 10
    /// Between two signs of life for listeners. One that is full at two of them in a row is closed.
    var ping = Duration.seconds(15)
}

/// The bearer token of the API. Its text is never shown.
public struct RelayAPIToken: Equatable, Sendable {
    /// Fewer characters are refused.
    public static let minLength = 16
    static let maxLength = 512

    private let text: String

    /// Nil unless it has 16 to 512 visible ASCII characters.
    public init?(_ text: String) {
        guard (Self.minLength...Self.maxLength).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        self.text = text
    }

    /// In a time that does not depend on where the first difference is.
    func matches(_ given: String) -> Bool { PublishAuthorization.constantTimeEqual(text, given) }

    public static func == (left: RelayAPIToken, right: RelayAPIToken) -> Bool { left.matches(right.text) }
}

extension RelayAPIToken: Concealed {
    public var description: String { "***" }
}

enum ListeningHost {
    /// Reached from this machine only, as far as the text says it.
    static func isLoopback(_ host: String) -> Bool {
        NetworkAddress(host)?.isLoopback ?? (host.lowercased() == "localhost")
    }
}
