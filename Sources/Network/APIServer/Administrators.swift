internal import Glibc

/// Who may change things over a Unix socket.
public struct Administrators: Sendable {
    /// Its members; nil for none.
    public var group: String?
    /// Beside them.
    public var users: Set<UInt32>
    /// Users who only look on, members or not: a box that was upgraded may have them in the group still.
    public var observers: [String]

    /// - Parameter users: nil for root and the process's own user.
    public init(group: String? = "watchbox", users: Set<UInt32>? = nil, observers: [String] = ["wb-health"]) {
        self.group = group
        self.users = users ?? [0, geteuid()]
        self.observers = observers
    }

    /// With the numbers as they are now; a group that does not exist has no members.
    func resolved() -> Resolved {
        Resolved(
            users: users, observers: Set(observers.compactMap { Self.identifier(ofUser: $0) }),
            group: group.flatMap { Self.identifier(ofGroup: $0) })
    }

    struct Resolved: Sendable {
        let users: Set<UInt32>
        let observers: Set<UInt32>
        let group: UInt32?

        func contains(_ peer: PeerCredentials) -> Bool {
            if users.contains(peer.user) { return true }
            guard let group, !observers.contains(peer.user) else { return false }
            return peer.group == group || peer.supplementaryGroups.contains(group)
        }
    }

    static func identifier(ofUser name: String) -> UInt32? {
        var entry = passwd()
        var found: UnsafeMutablePointer<passwd>?
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        guard getpwnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.pw_uid
    }

    static func identifier(ofGroup name: String) -> UInt32? {
        var entry = group_()
        var found: UnsafeMutablePointer<group_>?
        var buffer = [CChar](repeating: 0, count: 64 << 10)
        guard getgrnam_r(name, &entry, &buffer, buffer.count, &found) == 0, found != nil else { return nil }
        return entry.gr_gid
    }

    /// glibc's `struct group`, whose name the property hides.
    private typealias group_ = Glibc.group
}

/// The other end of a Unix socket, as the kernel saw it when it connected: not what its process has become since, and
/// not whoever has its number by now.
struct PeerCredentials: Equatable, Sendable {
    /// More than any account has; a longer list is taken for no list.
    private static let maximumGroups = 4096

    var process: Int32
    var user: UInt32
    var group: UInt32
    var supplementaryGroups: [UInt32]

    /// Nil when the kernel does not say.
    init?(ofSocket descriptor: CInt) {
        // `struct ucred`: pid_t, uid_t, gid_t.
        var credentials: [UInt32] = [0, 0, 0]
        let size = socklen_t(credentials.count * MemoryLayout<UInt32>.size)
        var length = size
        guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &length) == 0, length == size else {
            return nil
        }
        process = Int32(bitPattern: credentials[0])
        user = credentials[1]
        group = credentials[2]
        supplementaryGroups = Self.groups(descriptor)
    }

    /// `SO_PEERGROUPS` (Linux 4.13): unlike /proc/PID/status and getgrouplist(3), not a later look at something else.
    private static func groups(_ descriptor: CInt) -> [UInt32] {
        var groups = [UInt32](repeating: 0, count: 64)
        for _ in 0..<2 {
            var length = socklen_t(groups.count * MemoryLayout<UInt32>.size)
            if getsockopt(descriptor, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0 {
                return Array(groups.prefix(Int(length) / MemoryLayout<UInt32>.size))
            }
            // The length that is needed.
            let count = Int(length) / MemoryLayout<UInt32>.size
            guard errno == ERANGE, count <= maximumGroups else { return [] }
            groups = [UInt32](repeating: 0, count: count)
        }
        return []
    }
}
