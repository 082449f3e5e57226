internal import Platform
internal import Wire

/// The line that a daemon prints with `--json` when it serves: scripts wait for it, and learn the port.
public struct ReadyEvent: Codable, Sendable {
    public var schema = "watchbox.ready/1"
    public var event = "ready"
    public var address: String
    public var port: Int
    /// CLOCK_MONOTONIC, nanoseconds.
    public var instant = Clocks.monotonic

    public init(address: String, port: Int) {
        self.address = address
        self.port = port
    }
}

/// `host:port`, as `--listen` takes it: `127.0.0.1:1935`, `[::1]:1935`, `0.0.0.0:0`.
public struct ListenAddress: Equatable, Sendable {
    public var host: String
    /// 0: any free port.
    public var port: Int

    /// Nil when the text is not of that form.
    public init?(_ text: String) {
        guard let parts = HostPort(authority: text[...]), !parts.host.isEmpty,
            let port = parts.portText.flatMap({ HostPort.port($0, least: 0) })
        else { return nil }
        host = String(parts.host)
        self.port = Int(port)
    }
}
