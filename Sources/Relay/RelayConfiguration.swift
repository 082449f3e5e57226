public import RTMPTransport

/// How a relay is set up.
public struct RelayConfiguration: Equatable, Sendable {
    /// Where it listens. Anybody may publish there unless `authorization` holds keys: keep an open relay on loopback.
    public var host: String
    /// 0 lets the system choose; `RelayService` tells which.
    public var port: Int
    /// Nil for plain RTMP.
    public var tls: RTMPServerTLS?
    public var authorization = PublishAuthorization.open
    public var limits = RelayLimits()
    public var connections = 4096
    public var connectionsPerAddress = 1024

    public init(host: String = "127.0.0.1", port: Int = 1935, tls: RTMPServerTLS? = nil) {
        self.host = host
        self.port = port
        self.tls = tls
    }
}
