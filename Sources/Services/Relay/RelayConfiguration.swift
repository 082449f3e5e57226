public import RTMPTransport
public import Wire

/// How a relay is set up.
public struct RelayConfiguration: Equatable, Sendable {
    /// Where it listens. Anybody may publish there unless `authorization` holds keys.
    public var host: String
    /// 0 lets the system choose; `RelayService` reports which.
    public var port: Int
    /// Nil for plain RTMP.
    public var tls: RTMPServerTLS?
    public var authorization = PublishAuthorization.open
    /// Who may play.
    public var players = PlayAuthorization.open
    /// Networks that it talks to.
    public var networks = NetworkRules()
    public var limits = RelayLimits()
    public var connections = 4096
    /// Of one IPv4 address or one /64 of IPv6.
    public var connectionsPerAddress = 1024
    /// Other relays that published streams are handed on to.
    public var forwards: [ForwardTarget] = []
    /// PEM file of the authorities to trust for them instead of the system's.
    public var forwardAuthorityFile: String?
    /// Statistics and operations over HTTP; nil: none.
    public var api: RelayAPIConfiguration?

    /// Reached from this machine only, as far as the text of `host` says it.
    public var isLoopback: Bool { ListeningHost.isLoopback(host) }

    public init(host: String = "127.0.0.1", port: Int = 1935, tls: RTMPServerTLS? = nil) {
        self.host = host
        self.port = port
        self.tls = tls
    }
}
