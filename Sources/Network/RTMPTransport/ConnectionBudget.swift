/// Who may connect to a server that is full, or nearly so. Holds identifiers and numbers only.
///
/// A connection is unauthenticated until its `publish` or `play` is accepted. The rules:
/// 1. players never get the places that are kept for those who publish, in all and of one network;
/// 2. an unauthenticated one has deadlines, so it gives its place up by itself, and is dropped for a newcomer when none is left:
///    one of the newcomer's own network when that has many, else the youngest player that waits for a stream that no one
///    publishes, else the oldest unauthenticated one;
/// 3. who publishes is never dropped.
struct ConnectionBudget {
    struct Limits: Equatable {
        var connections: Int
        /// A network is an IPv4 address or the /64 of an IPv6 address.
        var connectionsPerNetwork: Int
        /// Places that no player gets.
        var reserved: Int
        var reservedPerNetwork: Int
        /// More unauthenticated clients than these of a network make room among themselves.
        var unauthenticatedPerNetwork = 8
    }

    enum Admission: Equatable {
        case admitted
        /// In the place of this one, which is to be closed at once.
        case admittedInstead(of: UInt64)
        case refused
    }

    private enum Role { case unauthenticated, player, publisher }

    private struct Share {
        var connections = 0
        var players = 0
        /// Oldest first.
        var unauthenticated: [UInt64] = []
    }

    private let limits: Limits
    private var members: [UInt64: (network: String, role: Role)] = [:]
    private var shares: [String: Share] = [:]
    private var players = 0
    /// Oldest first; some that are authenticated by now among them.
    private var unauthenticated: [UInt64] = []
    private var firstUnauthenticated = 0

    init(limits: Limits) {
        self.limits = limits
    }

    var count: Int { members.count }

    /// - Parameter idle: the youngest player, of this network or of all, that waits for a stream that no one publishes.
    mutating func admit(
        _ id: UInt64, from network: String, idle: (_ network: String?) -> UInt64?
    ) -> Admission {
        var victim: UInt64?
        let share = shares[network] ?? Share()
        if share.connections >= limits.connectionsPerNetwork {
            victim = share.unauthenticated.first ?? idle(network)
        } else if members.count >= limits.connections {
            let own =
                share.unauthenticated.count >= limits.unauthenticatedPerNetwork ? share.unauthenticated.first : nil
            victim = own ?? idle(nil) ?? oldestUnauthenticated()
        } else {
            insert(id, network)
            return .admitted
        }
        guard let victim, members[victim] != nil else { return .refused }
        remove(victim)
        insert(id, network)
        return .admittedInstead(of: victim)
    }

    /// One more of this network may play.
    func hasRoomForPlayer(from network: String) -> Bool {
        players < limits.connections - limits.reserved
            && (shares[network]?.players ?? 0) < limits.connectionsPerNetwork - limits.reservedPerNetwork
    }

    mutating func becamePlayer(_ id: UInt64) {
        change(id, to: .player)
    }

    mutating func becamePublisher(_ id: UInt64) {
        change(id, to: .publisher)
    }

    /// It ended its stream and may ask for another.
    mutating func becameUnauthenticated(_ id: UInt64) {
        change(id, to: .unauthenticated)
    }

    mutating func remove(_ id: UInt64) {
        guard let member = members.removeValue(forKey: id), var share = shares[member.network] else { return }
        share.connections -= 1
        leave(member.role, id, &share)
        shares[member.network] = share.connections > 0 ? share : nil
    }

    private mutating func insert(_ id: UInt64, _ network: String) {
        members[id] = (network, .unauthenticated)
        var share = shares[network] ?? Share()
        share.connections += 1
        enter(.unauthenticated, id, &share)
        shares[network] = share
    }

    private mutating func change(_ id: UInt64, to role: Role) {
        guard let member = members[id], member.role != role, var share = shares[member.network] else { return }
        leave(member.role, id, &share)
        members[id]?.role = role
        enter(role, id, &share)
        shares[member.network] = share
    }

    private mutating func leave(_ role: Role, _ id: UInt64, _ share: inout Share) {
        switch role {
        case .unauthenticated:
            if let index = share.unauthenticated.firstIndex(of: id) { share.unauthenticated.remove(at: index) }
        case .player:
            players -= 1
            share.players -= 1
        case .publisher: break
        }
    }

    private mutating func enter(_ role: Role, _ id: UInt64, _ share: inout Share) {
        switch role {
        case .unauthenticated:
            share.unauthenticated.append(id)
            unauthenticated.append(id)
        case .player:
            players += 1
            share.players += 1
        case .publisher: break
        }
        // Those that are authenticated by now go when they are half of the list.
        if firstUnauthenticated > 64, firstUnauthenticated * 2 > unauthenticated.count {
            unauthenticated.removeFirst(firstUnauthenticated)
            firstUnauthenticated = 0
        } else if unauthenticated.count > 2 * members.count + 64 {
            // Each once: one that becomes unauthenticated again and again must not make the list long.
            var seen: Set<UInt64> = []
            unauthenticated = unauthenticated.dropFirst(firstUnauthenticated).filter {
                members[$0]?.role == .unauthenticated && seen.insert($0).inserted
            }
            firstUnauthenticated = 0
        }
    }

    private mutating func oldestUnauthenticated() -> UInt64? {
        while firstUnauthenticated < unauthenticated.count {
            let id = unauthenticated[firstUnauthenticated]
            if members[id]?.role == .unauthenticated { return id }
            firstUnauthenticated += 1
        }
        return nil
    }
}
