internal import Platform

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
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.first == "[", host.last == "]" {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.host = String(host)
        self.port = Int(port)
    }
}
