import APIServer
import Glibc
import Systemd

extension HandedOver {
    /// They can be taken once only, and control has two.
    private static let sockets = take()

    /// The socket that systemd holds for this unit, so that a call waits while the daemon restarts; without systemd one
    /// of our own at the same place, for its group if this machine has it, else for our user alone.
    static func listener(named name: String, orSocket path: String, group: String) -> APIServerConfiguration.Listener {
        if let descriptor = sockets.first(where: { $0.name == name })?.descriptor { return .descriptor(descriptor) }
        let hasGroup = getgrnam(group) != nil
        return .unixSocket(path: path, mode: hasGroup ? 0o660 : 0o600, group: hasGroup ? group : nil)
    }
}
