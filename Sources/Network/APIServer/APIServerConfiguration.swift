/// Where an `APIServer` listens, whom it trusts, and what it bounds.
public struct APIServerConfiguration: Sendable {
    public enum Listener: Sendable {
        /// A listening stream socket that systemd made; the server owns this descriptor from here on. What connected
        /// before the server ran has waited.
        case descriptor(CInt)
        /// - Parameters:
        ///   - mode: of the file, `0o660`.
        ///   - group: that the file belongs to; nil for the process's own.
        case unixSocket(path: String, mode: UInt32, group: String?)
        /// For `GET /metrics` and nothing else; no client is an administrator there. Port 0: one that the kernel chooses.
        case tcp(host: String, port: Int)
    }

    public var listener: Listener
    public var administrators = Administrators()
    /// At the same time. As many again get an error; more than that are closed unheard.
    public var maximumConnections: Int
    /// Over TCP, of one address.
    public var maximumConnectionsPerHost = 4
    /// Server-sent events at the same time: so that watchers leave room for commands.
    public var maximumEventStreams: Int
    public var maximumBodyBytes = 1 << 20
    /// Request line and headers together.
    public var maximumHeaderBytes = 16 << 10
    public var maximumHeaders = 100
    /// From the first byte of a request to the end of its headers.
    public var headerTimeout = Duration.seconds(10)
    /// How long a connection may be silent between requests.
    public var idleTimeout = Duration.seconds(30)
    /// For a request's body and its answer together. A handler that takes longer is cancelled, and the client gets an error.
    public var requestTimeout = Duration.seconds(30)
    /// How long a client may take to accept what waits for it; then it is dropped.
    public var writeTimeout = Duration.seconds(30)
    /// Between two signs of life on a stream of events.
    public var pingInterval = Duration.seconds(15)
    /// For open requests, after a shutdown was asked for.
    public var shutdownGrace = Duration.milliseconds(700)

    public init(listener: Listener, maximumConnections: Int = 32, maximumEventStreams: Int = 16) {
        self.listener = listener
        self.maximumConnections = maximumConnections
        self.maximumEventStreams = maximumEventStreams
    }
}
