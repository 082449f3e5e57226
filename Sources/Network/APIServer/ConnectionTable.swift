internal import ControlAPI
internal import NIOConcurrencyHelpers
internal import NIOCore

/// The connections of one server: how many, whose, and which of them watch.
final class ConnectionTable: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: Connection] = [:]
        var hosts: [String: Int] = [:]
        var tasks: [ObjectIdentifier: Task<Void, Never>] = [:]
        /// Ended before they were held.
        var early: Set<ObjectIdentifier> = []
        var streams = 0
        var isStopping = false
        var waitingForStop: [Int: AsyncStream<Never>.Continuation] = [:]
        var waitingForEnd: [AsyncStream<Never>.Continuation] = []
        var nextWaiter = 0
    }

    private let configuration: APIServerConfiguration
    private let administrators: Administrators.Resolved
    private let isLocal: Bool
    private let state = NIOLockedValueBox(State())

    init(_ configuration: APIServerConfiguration, isLocal: Bool) {
        self.configuration = configuration
        self.isLocal = isLocal
        administrators = configuration.administrators.resolved()
    }

    /// On the channel's event loop, before it is read from.
    func enter(_ channel: any Channel) throws -> Connection {
        let peer = isLocal ? try Self.peer(channel, administrators) : Self.unknownPeer
        let host = channel.remoteAddress?.ipAddress
        let (limit, hostLimit) = (configuration.maximumConnections, configuration.maximumConnectionsPerHost)
        let watch = RequestWatch(headerTimeout: TimeAmount(configuration.headerTimeout))
        try channel.pipeline.syncOperations.addHandler(watch)
        let connection = state.withLockedValue { state in
            let ofHost = host.map { state.hosts[$0, default: 0] } ?? 0
            let standing: Connection.Standing =
                if state.isStopping || peer == nil || ofHost >= hostLimit || state.connections.count >= 2 * limit {
                    .closed
                } else {
                    state.connections.count >= limit ? .refused : .admitted
                }
            let connection = Connection(
                channel: channel, peer: peer ?? Self.unknownPeer, standing: standing, isLocal: isLocal,
                watch: NIOLoopBound(watch, eventLoop: channel.eventLoop))
            state.connections[ObjectIdentifier(channel)] = connection
            if let host { state.hosts[host, default: 0] += 1 }
            return connection
        }
        channel.closeFuture.whenComplete { [self] _ in leave(ObjectIdentifier(channel), host) }
        return connection
    }

    private func leave(_ key: ObjectIdentifier, _ host: String?) {
        state.withLockedValue { state in
            state.connections[key] = nil
            guard let host, let count = state.hosts[host] else { return }
            state.hosts[host] = count > 1 ? count - 1 : nil
        }
    }

    /// Nil for a channel that has closed meanwhile.
    subscript(channel: any Channel) -> Connection? {
        state.withLockedValue { $0.connections[ObjectIdentifier(channel)] }
    }

    /// The task that serves a connection; it says `ended` as the last thing it does.
    func hold(_ task: Task<Void, Never>, of connection: Connection) {
        let key = ObjectIdentifier(connection.channel)
        state.withLockedValue { state in
            if state.early.remove(key) == nil { state.tasks[key] = task }
        }
    }

    func ended(_ connection: Connection) {
        let key = ObjectIdentifier(connection.channel)
        let waiting = state.withLockedValue { state -> [AsyncStream<Never>.Continuation] in
            if state.tasks.removeValue(forKey: key) == nil { state.early.insert(key) }
            guard state.tasks.isEmpty else { return [] }
            defer { state.waitingForEnd = [] }
            return state.waitingForEnd
        }
        for continuation in waiting { continuation.finish() }
    }

    /// Returns when no connection is served any more, or the task was cancelled.
    func allEnded() async {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        state.withLockedValue { state in
            if state.tasks.isEmpty { continuation.finish() } else { state.waitingForEnd.append(continuation) }
        }
        for await _ in stream {}
    }

    /// Returns when a shutdown was asked for, or the task was cancelled.
    func stopping() async {
        let (stream, continuation) = AsyncStream<Never>.makeStream()
        let waiter = state.withLockedValue { state -> Int? in
            if state.isStopping { return nil }
            state.nextWaiter += 1
            state.waitingForStop[state.nextWaiter] = continuation
            return state.nextWaiter
        }
        guard let waiter else { return }
        for await _ in stream {}
        state.withLockedValue { $0.waitingForStop[waiter] = nil }
    }

    /// False when there are too many; otherwise to be followed by `endStream`.
    func beginStream() -> Bool {
        state.withLockedValue { state in
            guard state.streams < configuration.maximumEventStreams else { return false }
            state.streams += 1
            return true
        }
    }

    func endStream() { state.withLockedValue { $0.streams -= 1 } }

    /// Idle connections end now, the others after the answer that they wait for.
    func quiesce() {
        for connection in stop() {
            connection.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }

    /// Whatever is left, at once.
    func closeAll() {
        for task in state.withLockedValue({ Array($0.tasks.values) }) { task.cancel() }
        // A cancelled connection still waits for its client.
        for connection in stop() { connection.channel.close(promise: nil) }
    }

    private func stop() -> [Connection] {
        let (connections, waiting) = state.withLockedValue { state in
            state.isStopping = true
            return (Array(state.connections.values), Array(state.waitingForStop.values))
        }
        for continuation in waiting { continuation.finish() }
        return connections
    }

    /// Whoever comes over a network: not a user that this machine knows.
    private static let unknownPeer = APIRequest.Peer(
        processIdentifier: 0, userIdentifier: .max, groupIdentifier: .max, isAdministrator: false)

    private static func peer(
        _ channel: any Channel, _ administrators: Administrators.Resolved
    ) throws -> APIRequest.Peer? {
        let credentials = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { PeerCredentials(ofSocket: $0) }
        guard let credentials, let credentials else { return nil }
        return APIRequest.Peer(
            processIdentifier: credentials.process, userIdentifier: credentials.user,
            groupIdentifier: credentials.group, isAdministrator: administrators.contains(credentials))
    }
}
