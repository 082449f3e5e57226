internal import Logging
internal import NIOCore
internal import RTMPTransport

/// What the operator asks of a relay.
extension RelayCore {
    func statistics() -> RelayStatistics {
        var statistics = hub.statistics(at: Self.now)
        statistics.connections = connections.count
        statistics.refused = refused
        statistics.forwards = forwardStatistics()
        statistics.forwardsRefused = forwards.refusals.count
        let sent = connections.values.reduce(bytesSentToDeparted) { $0 + $1.bytesWritten }
        statistics.bytesSent = Int(clamping: sent)
        return statistics
    }

    func streamsDocument() -> RelayStreamsDocument {
        RelayStreamsDocument(state: drain.name, statistics: statistics())
    }

    /// Everybody who publishes or plays, oldest first.
    func connectionList() -> [RelayConnectionsDocument.Connection] {
        let now = Self.now
        return roster.entries.sorted { $0.key < $1.key }.compactMap { id, entry in
            guard let connection = connections[id] else { return nil }
            return RelayConnectionsDocument.Connection(
                id: id, role: entry.role, stream: entry.stream, peer: Self.peer(connection),
                seconds: now > entry.since ? Double(now - entry.since) / 1e9 : 0,
                bytesReceived: connection.bytesRead, bytesSent: connection.bytesWritten,
                framesDropped: hub.dropped(id).frames)
        }
    }

    /// Ends a connection for the operator: it is sent the reason, then closed. Nil when no connection of that number publishes or plays.
    func kick(_ id: ConnectionID) -> RelayKickDocument? {
        guard let entry = roster.entries[id], let connection = connections[id] else { return nil }
        let reason = "ended by the relay's operator"
        report(.kicked, id, stream: entry.stream, reason: reason)
        logger.notice("connection ended by the operator", metadata: log(connection, ["stream": "\(entry.stream)"]))
        end(connection, code: "NetConnection.Connect.Closed", reason: reason)
        return RelayKickDocument(connection: id, role: entry.role, stream: entry.stream)
    }

    /// - Parameter stream: "app/name"; two streams may have it in common when one's name holds a slash.
    func kickPublisher(of stream: String) -> Result<RelayKickDocument, RelayProblem> {
        let publishers = roster.publishers(of: stream)
        guard publishers.count < 2 else { return .failure(.ambiguousStream) }
        guard let document = publishers.first.flatMap({ kick($0) }) else {
            return .failure(.notFound("no one publishes this stream"))
        }
        return .success(document)
    }

    /// Takes the relay out of service.
    func drain(_ order: Drain.Order) -> RelayDrainDocument {
        let connections = roster.entries.count
        let actions = drain.ordered(order, isEmpty: roster.isEmpty, at: Self.now)
        if actions != [] {
            let target = order.to ?? "the same address"
            report(.draining, reason: "clients go to \(target), the rest ends in \(order.time / 1_000_000_000) s")
            logger.notice("the relay is being drained", metadata: ["to": "\(target)", "connections": "\(connections)"])
        }
        let asked = carryOut(actions)
        return RelayDrainDocument(state: drain.name, connections: connections, asked: asked)
    }

    /// The process is about to end: those that can connect to the next one at once are asked to. Done when they have gone,
    /// or the time is over.
    func askToLeave(within time: TimeAmount, on eventLoop: any EventLoop) -> EventLoopFuture<Void> {
        drain.stopped()
        let asked = askToMove(to: nil)
        let done = eventLoop.makePromise(of: Void.self)
        guard !asked.isEmpty else {
            done.succeed()
            return done.futureResult
        }
        departure = (asked, done)
        eventLoop.assumeIsolated().scheduleTask(in: time) { self.departed() }
        return done.futureResult
    }

    func departed() {
        departure?.done.succeed()
        departure = nil
    }

    private func askToMove(to target: String?) -> Set<ConnectionID> {
        Set(roster.entries.keys.filter { connections[$0]?.requestReconnect(to: target) ?? false })
    }

    func drainTimePassed() {
        _ = carryOut(drain.timePassed(isEmpty: roster.isEmpty, at: Self.now))
    }

    /// How many were asked to move.
    private func carryOut(_ actions: [Drain.Action]) -> Int {
        var asked = 0
        for action in actions {
            switch action {
            case .askToMove(let target): asked += askToMove(to: target).count
            case .closeRest:
                for id in roster.entries.keys.sorted() {
                    guard let connection = connections[id] else { continue }
                    end(connection, code: "NetConnection.Connect.AppShutdown", reason: "this relay is out of service")
                }
            case .finished:
                report(.drained)
                logger.notice("the relay is drained; it accepts no client until it is started again")
            }
        }
        return asked
    }
}
