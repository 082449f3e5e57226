internal import CameraModel
internal import Platform

/// A relay or the key access server, reached for by name and by TCP.
enum PeerReading: Equatable, Sendable {
    /// A camera's stream is acknowledged by it at this moment: nothing needs to be tried.
    case vouched(String)
    /// Milliseconds of the connect.
    case connected(address: String, milliseconds: Double)
    /// The name server did not answer.
    case noNameServer(String)
    /// It answered that there is no such name.
    case noSuchName
    /// Nothing accepted the connection.
    case refused(String)

    /// Blocks: for a thread of its own.
    static func read(_ peer: HealthServiceSettings.Peer) -> PeerReading {
        do throws(Reachability.Failure) {
            let times = try Reachability.connect(peer.host, peer.port)
            return .connected(address: times.address, milliseconds: times.connect)
        } catch {
            switch error {
            case .name(let reason, let isUnknown): return isUnknown ? .noSuchName : .noNameServer(reason)
            case .port(let reason, let address): return .refused("\(address) port \(peer.port): \(reason)")
            }
        }
    }

    /// No name server is asked for these.
    static func isAddress(_ host: String) -> Bool { SocketAddress(host: host, port: 0) != nil }
}
