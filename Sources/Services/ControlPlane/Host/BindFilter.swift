internal import Platform

/// Whether this machine's systemd keeps units to the ports of `SocketBindAllow=`: Debian 12's is built without that, and ignores
/// the setting. Seen by the version in the names of its libraries.
enum BindFilter {
    /// From here on it is there wherever the kernel has BPF.
    private static let version = 257

    /// Below `/usr`, as distributions place them.
    static var directories: [String] {
        ["/usr/lib/systemd"]
            + SmallFile.names(in: "/usr/lib").filter { $0.contains("-linux-gnu") }.map { "/usr/lib/\($0)/systemd" }
    }

    static func acts(libraries directories: [String]) -> Bool {
        directories.flatMap { SmallFile.names(in: $0) }.contains { name in
            guard let stem = ["libsystemd-core-", "libsystemd-shared-"].first(where: { name.hasPrefix($0) }) else {
                return false
            }
            return (Int(name.dropFirst(stem.utf8.count).prefix { $0.isNumber }) ?? 0) >= version
        }
    }
}
