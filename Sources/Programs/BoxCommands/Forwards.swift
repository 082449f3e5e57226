import ControlClient
import Synchronization

/// The connections of this process: one for each socket, however often a command asks.
enum Forwards {
    private struct Target: Hashable {
        var host: String
        var socket: String
    }

    private static let known = Mutex<[Target: SSHForward]>([:])

    static func forward(to host: SSHHost, socket: String) -> SSHForward {
        known.withLock { known in
            let target = Target(host: host.description, socket: socket)
            let forward =
                known[target]
                ?? SSHForward(host: host, socket: socket, configurationFile: variable("WATCHBOX_SSH_CONFIG"))
            known[target] = forward
            return forward
        }
    }
}
