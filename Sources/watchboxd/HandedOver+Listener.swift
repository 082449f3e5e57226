import APIServer
import Glibc
import Systemd

extension HandedOver {
    /// The socket that systemd holds for this unit, so that a call waits while the daemon restarts; without systemd one
    /// of our own at the same place, for its group if this machine has it, else for our user alone.
    static func listener(named name: String, orSocket path: String, group: String) -> APIServerConfiguration.Listener {
        if let descriptor = take().first(where: { $0.name == name })?.descriptor { return .descriptor(descriptor) }
        let hasGroup = getgrnam(group) != nil
        return .unixSocket(path: path, mode: hasGroup ? 0o660 : 0o600, group: hasGroup ? group : nil)
    }
}
