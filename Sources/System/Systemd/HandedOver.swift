internal import Glibc
internal import Synchronization

/// What PID 1 handed over at the start: listening sockets, and descriptors that an earlier run left with it
/// (sd_listen_fds(3)).
public enum HandedOver {
    /// The most that are taken; a unit has few sockets and `FileDescriptorStoreMax=` in the single digits.
    static let limit: CInt = 256
    private static let wasTaken = Mutex(false)

    /// The descriptors with their names (`FileDescriptorName=`, `FDNAME=`; "unknown" without one), close-on-exec from
    /// now on. They belong to the caller; a second call returns none.
    public static func take() -> [(name: String, descriptor: CInt)] {
        let isFirst = wasTaken.withLock { taken in
            defer { taken = true }
            return !taken
        }
        guard isFirst else { return [] }
        var environment: [String: String] = [:]
        for key in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] {
            environment[key] = getenv(key).map { String(cString: $0) }
        }
        return take(environment: environment, processIdentifier: getpid(), first: 3)
    }

    /// - Parameter first: number of the first descriptor, 3 (`SD_LISTEN_FDS_START`) outside tests.
    static func take(
        environment: [String: String], processIdentifier: Int32, first: CInt
    ) -> [(name: String, descriptor: CInt)] {
        guard let owner = environment["LISTEN_PID"], Int32(owner) == processIdentifier,
            let text = environment["LISTEN_FDS"], let count = CInt(text), count > 0, count <= limit
        else { return [] }
        let names = (environment["LISTEN_FDNAMES"] ?? "").split(separator: ":", omittingEmptySubsequences: false)
        return (0..<count).compactMap { index in
            let descriptor = first + index
            let flags = fcntl(descriptor, F_GETFD)
            guard flags >= 0, fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) == 0 else { return nil }
            let name = Int(index) < names.count ? String(names[Int(index)]) : ""
            return (name.isEmpty ? "unknown" : name, descriptor)
        }
    }
}
