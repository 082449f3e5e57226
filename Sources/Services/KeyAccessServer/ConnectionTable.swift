internal import NIOCore
internal import Synchronization

/// The connections of the service: how many there are, whose, and until when each may wait.
///
/// Nobody can keep others out: a network has a share, and who is owed nothing more goes first. An answer is made at
/// once when its request is complete, so every connection in this table waits for its client.
final class ConnectionTable: Sendable {
    struct Limits: Sendable {
        var connections = 8192
        /// From one IPv4 address or one IPv6 /64.
        var connectionsPerNetwork = 64
        /// Bytes of unfinished bodies in all connections together.
        var bodyBytes = 64 << 20
    }

    private struct Entry {
        let channel: any Channel
        let network: String
        var deadline: NIODeadline
        /// Answered, and nothing new has begun.
        var isIdle = false
    }

    private struct State {
        var entries: [UInt64: Entry] = [:]
        var networks: [String: Set<UInt64>] = [:]
        var lastIdentifier: UInt64 = 0
        var isClosing = false
    }

    private let limits: Limits
    private let state = Mutex(State())
    private let bodyBytes = Atomic(0)

    init(limits: Limits) {
        self.limits = limits
    }

    var count: Int { state.withLock { $0.entries.count } }

    /// Takes a connection in, if need be in place of one that is idle for longest.
    ///
    /// - Returns: nil when there is no room for it; it is to be closed then.
    func enter(_ channel: any Channel, network: String, deadline: NIODeadline) -> UInt64? {
        let (identifier, evicted) = state.withLock { state -> (UInt64?, (any Channel)?) in
            guard !state.isClosing else { return (nil, nil) }
            let own = state.networks[network] ?? []
            var evicted: UInt64?
            if own.count >= limits.connectionsPerNetwork {
                evicted = Self.idlest(state.entries, among: own)
                guard evicted != nil else { return (nil, nil) }
            } else if state.entries.count >= limits.connections {
                evicted = Self.idlest(state.entries, among: state.entries.keys)
                guard evicted != nil else { return (nil, nil) }
            }
            let channelToClose = evicted.flatMap { Self.remove($0, from: &state)?.channel }
            state.lastIdentifier += 1
            let identifier = state.lastIdentifier
            state.entries[identifier] = Entry(channel: channel, network: network, deadline: deadline)
            state.networks[network, default: []].insert(identifier)
            return (identifier, channelToClose)
        }
        evicted?.close(promise: nil)
        return identifier
    }

    func leave(_ identifier: UInt64) {
        _ = state.withLock { Self.remove(identifier, from: &$0) }
    }

    /// - Parameter deadline: when the connection is closed, if it does not get another deadline before.
    func waits(_ identifier: UInt64, until deadline: NIODeadline, isIdle: Bool) {
        state.withLock { state in
            state.entries[identifier]?.deadline = deadline
            state.entries[identifier]?.isIdle = isIdle
        }
    }

    /// Closes the connections that have waited long enough; to be called twice a second.
    func closeOverdue(now: NIODeadline = .now()) {
        let overdue = state.withLock { state in state.entries.values.filter { $0.deadline <= now }.map(\.channel) }
        for channel in overdue { channel.close(promise: nil) }
    }

    /// Accepts no connection any more, and ends the idle ones.
    ///
    /// - Returns: how many are in the midst of a request.
    func quiesce() -> Int {
        let entries = state.withLock { state in
            state.isClosing = true
            return Array(state.entries.values)
        }
        for entry in entries where entry.isIdle { entry.channel.close(promise: nil) }
        return entries.count { !$0.isIdle }
    }

    func closeAll() {
        for channel in state.withLock({ $0.entries.values.map(\.channel) }) { channel.close(promise: nil) }
    }

    /// False when the bodies of all connections together would be too long.
    func reserve(bodyBytes count: Int) -> Bool {
        guard bodyBytes.add(count, ordering: .relaxed).newValue <= limits.bodyBytes else {
            release(bodyBytes: count)
            return false
        }
        return true
    }

    func release(bodyBytes count: Int) {
        bodyBytes.subtract(count, ordering: .relaxed)
    }

    /// Deadlines of idle connections are all equally far from when they became idle.
    private static func idlest(_ entries: [UInt64: Entry], among candidates: some Sequence<UInt64>) -> UInt64? {
        var found: (identifier: UInt64, deadline: NIODeadline)?
        for identifier in candidates {
            guard let entry = entries[identifier], entry.isIdle else { continue }
            if found.map({ entry.deadline < $0.deadline }) ?? true { found = (identifier, entry.deadline) }
        }
        return found?.identifier
    }

    private static func remove(_ identifier: UInt64, from state: inout State) -> Entry? {
        guard let entry = state.entries.removeValue(forKey: identifier) else { return nil }
        state.networks[entry.network]?.remove(identifier)
        if state.networks[entry.network]?.isEmpty == true { state.networks[entry.network] = nil }
        return entry
    }
}
