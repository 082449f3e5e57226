import NIOCore
import RTMP
import RTMPTransport
import Synchronization

/// The least that a relay must be: takes one publisher after the other and keeps what each sent.
final class LoopbackRelay: RTMPServerDelegate {
    /// What it does with the next publisher; the last entry stays in force.
    enum Conduct: Sendable {
        case accept
        case rejectBadName
        /// Takes so many messages and closes.
        case closeAfter(Int)
        case silent
        case rejectUnauthorized
        /// Accepts, and asks at once for a connection to this `tcUrl`.
        case redirect(String)
        /// Does not accept, and asks for a connection to this `tcUrl` instead.
        case redirectBeforeStart(String)
        /// Takes so many messages, asks for connections to these `tcUrl`s, one after the other, and closes when it has
        /// taken `closeAfter` messages.
        case redirectAfter(Int, [String], closeAfter: Int = .max)
    }

    struct Stream: Sendable {
        var request: PublishRequest
        var messages: [RTMPMessage] = []
        var isFinished = false
    }

    private struct State {
        var conducts: [Conduct]
        var streams: [Stream] = []
        var indexes: [UInt64: Int] = [:]
        var limits: [UInt64: Int] = [:]
        var redirects: [UInt64: (count: Int, targets: [String])] = [:]
        var rejected = 0
        var watchers: [(condition: ([Stream]) -> Bool, continuation: CheckedContinuation<Void, Never>)] = []
    }
    private let state: Mutex<State>

    init(_ conducts: [Conduct] = [.accept]) {
        state = Mutex(State(conducts: conducts))
    }

    static func start(
        _ conducts: [Conduct] = [.accept], port: Int = 0, tls: RTMPServerTLS? = nil
    ) async throws -> (relay: LoopbackRelay, server: RTMPServer) {
        let relay = LoopbackRelay(conducts)
        let server = try await RTMPServer.bind(
            RTMPServerConfiguration(host: "127.0.0.1", port: port, tls: tls), delegate: relay)
        return (relay, server)
    }

    /// For those who come from now on.
    func setConducts(_ conducts: [Conduct]) { state.withLock { $0.conducts = conducts } }

    var streams: [Stream] { state.withLock { $0.streams } }
    var rejected: Int { state.withLock { $0.rejected } }

    /// Returns as soon as `condition` holds for what was published.
    func wait(until condition: @escaping @Sendable ([Stream]) -> Bool) async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if condition(state.streams) { return continuation.resume() }
                state.watchers.append((condition, continuation))
            }
        }
    }

    private func change(_ body: (inout State) -> Void) {
        state.withLock { state in
            body(&state)
            state.watchers.removeAll { watcher in
                guard watcher.condition(state.streams) else { return false }
                watcher.continuation.resume()
                return true
            }
        }
    }

    func connection(_ connection: RTMPServerConnection, publishRequested request: PublishRequest) {
        var conduct = Conduct.accept
        change { state in
            conduct = state.conducts.count > 1 ? state.conducts.removeFirst() : state.conducts[0]
            switch conduct {
            case .accept, .closeAfter, .redirect, .redirectBeforeStart, .redirectAfter:
                state.indexes[connection.id] = state.streams.count
                state.streams.append(Stream(request: request))
                if case .closeAfter(let count) = conduct { state.limits[connection.id] = count }
                if case .redirectAfter(let count, let targets, let limit) = conduct {
                    state.redirects[connection.id] = (count, targets)
                    state.limits[connection.id] = limit
                }
            case .rejectBadName, .rejectUnauthorized: state.rejected += 1
            case .silent: break
            }
        }
        switch conduct {
        case .accept, .closeAfter, .redirectAfter: connection.acceptPublish()
        case .redirect(let tcURL):
            connection.acceptPublish()
            Self.redirect(connection, to: tcURL)
        case .redirectBeforeStart(let tcURL): Self.redirect(connection, to: tcURL)
        case .rejectUnauthorized:
            connection.rejectPublish(code: "NetStream.Publish.Unauthorized", description: "who are you")
        case .rejectBadName:
            connection.rejectPublish(code: "NetStream.Publish.BadName", description: "already publishing")
        case .silent: break
        }
    }

    private static func redirect(_ connection: RTMPServerConnection, to tcURL: String) {
        var request: [UInt8] = []
        ChunkWriter.append(
            .commandAMF0, timestamp: 0, streamID: 0, chunkStreamID: 3, chunkSize: connection.chunkSize,
            payload: reconnectRequest(tcURL)[...], to: &request)
        connection.write(ByteBuffer(bytes: request))
        connection.flush()
    }

    /// `onStatus`, 0, null, { code, tcUrl } in AMF0.
    private static func reconnectRequest(_ tcURL: String) -> [UInt8] {
        func text(_ text: String) -> [UInt8] { [0, UInt8(text.utf8.count)] + text.utf8 }
        let code = text("code") + [2] + text("NetConnection.Connect.ReconnectRequest")
        let target = text("tcUrl") + [2] + text(tcURL)
        return [2] + text("onStatus") + [0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 3] + code + target + [0, 0, 9]
    }

    func connection(_ connection: RTMPServerConnection, received message: RTMPMessage) {
        var isFull = false
        var targets: [String] = []
        change { state in
            guard let index = state.indexes[connection.id] else { return }
            state.streams[index].messages.append(message)
            let count = state.streams[index].messages.count
            isFull = count == state.limits[connection.id]
            if let redirect = state.redirects[connection.id], redirect.count == count { targets = redirect.targets }
        }
        for target in targets { Self.redirect(connection, to: target) }
        if isFull { connection.close() }
    }

    func connection(_ connection: RTMPServerConnection, playRequested request: PlayRequest) {
        connection.rejectPlay(code: "NetStream.Play.StreamNotFound", description: "publishers only")
    }

    func connectionReadCompleted(_ connection: RTMPServerConnection) {}
    func connectionBecameWritable(_ connection: RTMPServerConnection) {}
    func connectionFinished(_ connection: RTMPServerConnection) {}

    func connectionClosed(_ connection: RTMPServerConnection, error: RTMPTransportError?) {
        change { state in
            if let index = state.indexes[connection.id] { state.streams[index].isFinished = true }
        }
    }
}
