internal import FoundationEssentials
internal import RTMP

/// What `POST /v1/drain` takes; all of it may be left out.
public struct RelayDrainRequest: Equatable, Sendable, Codable {
    /// Where clients go that understand it: `rtmp[s]://host[:port]/app`. It is sent to each of them, so it holds no
    /// secret. Nil: they connect to the same address again.
    public var to: String?
    /// How long the others may stay, 0 to 3600; 30 unless named.
    public var seconds: Double?

    public init(to: String? = nil, seconds: Double? = nil) {
        self.to = to
        self.seconds = seconds
    }

    static let usualSeconds = 30.0
    static let maxSeconds = 3600.0
    private static let maxTargetLength = 1024

    /// - Parameters:
    ///   - body: of the request; empty for the usual.
    ///   - isSecure: clients come by TLS, and do not leave it.
    static func parse(_ body: [UInt8], isSecure: Bool = false) throws(RelayProblem) -> Drain.Order {
        guard !body.isEmpty else { return try RelayDrainRequest().order(isSecure) }
        guard let request = try? JSONDecoder().decode(RelayDrainRequest.self, from: Data(body)) else {
            throw problem(
                "the body is not what is asked for", #"send {"to": "rtmp://host/app", "seconds": 30}, or nothing"#)
        }
        return try request.order(isSecure)
    }

    private func order(_ isSecure: Bool) throws(RelayProblem) -> Drain.Order {
        let seconds = seconds ?? Self.usualSeconds
        guard seconds >= 0, seconds <= Self.maxSeconds else {
            throw Self.problem("the time is not within 0 to 3600 seconds", "name fewer seconds")
        }
        if let to {
            guard to.utf8.count <= Self.maxTargetLength, !to.contains(where: { "@?#".contains($0) }),
                let url = try? RTMPURL(server: to, streamName: "x")
            else {
                throw Self.problem(
                    "the target is not the address of a relay", "write rtmp://host/app, without user, key or stream")
            }
            guard url.scheme == .rtmps || !isSecure else {
                throw Self.problem(
                    "clients reach this relay by rtmps, and none of them moves to a target without TLS",
                    "write rtmps://host/app")
            }
        }
        return Drain.Order(to: to, time: UInt64(seconds * 1e9))
    }

    private static func problem(_ why: String, _ hint: String) -> RelayProblem {
        RelayProblem(400, what: "the relay was not drained", why: why, hint: hint)
    }
}

/// What `POST /v1/drain` answers.
public struct RelayDrainDocument: Equatable, Sendable, Codable {
    public var schema = "watchbox.relay.drain/1"
    public var state: RelayStreamsDocument.State
    /// Publishers and players that are there, and those of them that were asked to move.
    public var connections: Int
    public var asked: Int

    init(state: RelayStreamsDocument.State, connections: Int, asked: Int) {
        self.state = state
        self.connections = connections
        self.asked = asked
    }
}
