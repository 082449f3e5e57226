/// Who may connect to a server that is full, or nearly so. Holds identifiers and numbers only.
///
/// A connection is a stranger until its `publish` or `play` is accepted. What it rests on:
/// 1. players never get the places that are kept for those who publish, in all and of one network;
/// 2. a stranger has deadlines, so it gives its place up by itself, and is dropped for a newcomer when there is none left:
///    one of the newcomer's own network when that has many, else the youngest player that waits for a stream that nobody
///    publishes, else the oldest stranger;
/// 3. who publishes is never dropped.
struct ConnectionBudget {
    struct Limits: Equatable {
        var connections: Int
        /// A network is an IPv4 address or the /64 of an IPv6 address.
        var connectionsPerNetwork: Int
        /// Places that no player gets.
        var reserved: Int
        var reservedPerNetwork: Int
        /// More strangers than these of a network make room among themselves.
        var strangersPerNetwork = 8
    }

    enum Admission: Equatable {
        case admitted
        /// In the place of this one, which is to be closed at once.
        case admittedInstead(of: UInt64)
        case refused
    }

    private enum Role { case stranger, player, publisher }

    private struct Share {
        var connections = 0
        var players = 0
        /// Oldest first.
        var strangers: [UInt64] = []
    }

    private let limits: Limits
    private var members: [UInt64: (network: String, role: Role)] = [:]
    private var shares: [String: Share] = [:]
    private var players = 0
    /// Oldest first; some that are strangers no more among them.
    private var strangers: [UInt64] = []
    private var firstStranger = 0

    init(limits: Limits) {
        self.limits = limits
    }

    var count: Int { members.count }

    /// - Parameter idle: the youngest player, of this network or of all, that waits for a stream that nobody publishes.
    mutating func admit(
        _ id: UInt64, from network: String, idle: (_ network: String?) -> UInt64?
    ) -> Admission {
        var victim: UInt64?
        let share = shares[network] ?? Share()
        if share.connections >= limits.connectionsPerNetwork {
            victim = share.strangers.first ?? idle(network)
        } else if members.count >= limits.connections {
            let own = share.strangers.count >= limits.strangersPerNetwork ? share.strangers.first : nil
            victim = own ?? idle(nil) ?? oldestStranger()
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
    mutating func becameStranger(_ id: UInt64) {
        change(id, to: .stranger)
    }

    mutating func remove(_ id: UInt64) {
        guard let member = members.removeValue(forKey: id), var share = shares[member.network] else { return }
        share.connections -= 1
        leave(member.role, id, &share)
        shares[member.network] = share.connections > 0 ? share : nil
    }

    private mutating func insert(_ id: UInt64, _ network: String) {
        members[id] = (network, .stranger)
        var share = shares[network] ?? Share()
        share.connections += 1
        enter(.stranger, id, &share)
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
        case .stranger: if let index = share.strangers.firstIndex(of: id) { share.strangers.remove(at: index) }
        case .player:
            players -= 1
            share.players -= 1
        case .publisher: break
        }
    }

    private mutating func enter(_ role: Role, _ id: UInt64, _ share: inout Share) {
        switch role {
        case .stranger:
            share.strangers.append(id)
            strangers.append(id)
        case .player:
            players += 1
            share.players += 1
        case .publisher: break
        }
        // Those that are strangers no more go when they are half of the list.
        if firstStranger > 64, firstStranger * 2 > strangers.count {
            strangers.removeFirst(firstStranger)
            firstStranger = 0
        } else if strangers.count > 2 * members.count + 64 {
            // Each once: who becomes a stranger again and again must not make the list long.
            var seen: Set<UInt64> = []
            strangers = strangers.dropFirst(firstStranger).filter {
                members[$0]?.role == .stranger && seen.insert($0).inserted
            }
            firstStranger = 0
        }
    }

    private mutating func oldestStranger() -> UInt64? {
        while firstStranger < strangers.count {
            let id = strangers[firstStranger]
            if members[id]?.role == .stranger { return id }
            firstStranger += 1
        }
        return nil
    }
}
