/// The names that players wait for though nobody publishes them, and those players: nobody needs a key for that, so it
/// has budgets of its own and takes nothing away from publishers.
///
/// A player is counted here from its `play` until a publisher comes or it goes. Players whose publisher went are not: they
/// were let in to a stream that was there.
struct AwaitedNames {
    struct Limits: Equatable, Sendable {
        var names = 64
        /// A network is an IPv4 address or the /64 of an IPv6 address.
        var namesPerNetwork = 8
        var players = 1024
        var playersPerNetwork = 256
        /// Nanoseconds that a player may wait.
        var timeout: UInt64 = 600_000_000_000
    }

    private let limits: Limits
    /// Who asked for it first; nil where a publish key says that the name is genuine.
    private var names: [StreamPath: String] = [:]
    private var namesOf: [String: Int] = [:]
    private var waiting: [ConnectionID: (network: String, since: UInt64)] = [:]
    private var waitingOf: [String: Int] = [:]

    init(limits: Limits) {
        self.limits = limits
    }

    /// A player comes for a stream that nobody publishes. False, and nothing is kept, when a budget is used up.
    /// - Parameter isKnown: the name needs no budget: others wait for it already, or it has a publish key.
    mutating func wait(
        _ player: ConnectionID, for path: StreamPath, from network: String, isKnown: Bool, at now: UInt64
    ) -> Bool {
        guard waiting.count < limits.players, waitingOf[network, default: 0] < limits.playersPerNetwork else {
            return false
        }
        if !isKnown, names[path] == nil {
            guard names.count < limits.names, namesOf[network, default: 0] < limits.namesPerNetwork else {
                return false
            }
            names[path] = network
            namesOf[network, default: 0] += 1
        }
        waiting[player] = (network, now)
        waitingOf[network, default: 0] += 1
        return true
    }

    /// It is published now, or nobody waits for it any more.
    mutating func forget(_ path: StreamPath) {
        guard let network = names.removeValue(forKey: path) else { return }
        let left = namesOf[network, default: 1] - 1
        namesOf[network] = left > 0 ? left : nil
    }

    /// Its stream came, or it went.
    mutating func waitsNoMore(_ player: ConnectionID) {
        guard let entry = waiting.removeValue(forKey: player) else { return }
        let left = waitingOf[entry.network, default: 1] - 1
        waitingOf[entry.network] = left > 0 ? left : nil
    }

    /// Players that have waited long enough.
    func impatient(at now: UInt64) -> [ConnectionID] {
        waiting.compactMap { now > $0.value.since && now - $0.value.since >= limits.timeout ? $0.key : nil }.sorted()
    }
}
