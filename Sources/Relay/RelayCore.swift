internal import Logging
internal import NIOCore
internal import RTMP
internal import RTMPTransport

/// Turns what `StreamHub` decides into effects on connections.
///
/// Confined to the server's event loop, which makes `@unchecked Sendable` true.
final class RelayCore: RTMPServerDelegate, @unchecked Sendable {
    /// Encoded once for message stream 1, on which nearly every player plays; see `write(_:to:)`.
    private static let commonStreamID: UInt32 = 1

    private var hub: StreamHub<ByteBuffer>
    private var connections: [ConnectionID: RTMPServerConnection] = [:]
    private var bytesSentToDeparted: UInt64 = 0
    private let logger: Logger
    private var ticker: RepeatedTask?

    init(configuration: RelayConfiguration, chunkSize: Int, logger: Logger) {
        self.logger = logger
        // One buffer for all encodings: it grows to the largest message and is copied once into what is shared.
        var scratch: [UInt8] = []
        hub = StreamHub(limits: configuration.limits, authorization: configuration.authorization) {
            type, time, payload in
            scratch.removeAll(keepingCapacity: scratch.capacity <= 1 << 20)
            ChunkWriter.append(
                type, timestamp: time, streamID: Self.commonStreamID, chunkStreamID: type.mediaChunkStreamID,
                chunkSize: chunkSize, payload: payload, to: &scratch)
            return ByteBuffer(bytes: scratch)
        }
    }

    func start(on eventLoop: any EventLoop) {
        ticker = eventLoop.scheduleRepeatedTask(initialDelay: .milliseconds(250), delay: .milliseconds(250)) {
            [weak self] _ in
            guard let self else { return }
            self.perform(self.hub.timePassed(at: Self.now))
        }
    }

    func stop() {
        ticker?.cancel()
    }

    func statistics() -> RelayStatistics {
        var statistics = hub.statistics(at: Self.now)
        statistics.connections = connections.count
        let sent = connections.values.reduce(bytesSentToDeparted) { $0 + $1.bytesWritten }
        statistics.bytesSent = Int(clamping: sent)
        return statistics
    }

    private static var now: UInt64 { NIODeadline.now().uptimeNanoseconds }

    // MARK: What connections say

    func connection(_ connection: RTMPServerConnection, publishRequested request: PublishRequest) {
        connections[connection.id] = connection
        perform(
            hub.publishRequested(
                connection.id, app: request.app, name: request.streamName, key: request.queryValue("key"),
                at: Self.now))
        pumpReady()
    }

    func connection(_ connection: RTMPServerConnection, playRequested request: PlayRequest) {
        connections[connection.id] = connection
        perform(hub.playRequested(connection.id, app: request.app, name: request.streamName, at: Self.now))
        pumpReady()
    }

    func connection(_ connection: RTMPServerConnection, received message: RTMPMessage) {
        hub.received(message, from: connection.id, at: Self.now)
    }

    func connectionReadCompleted(_ connection: RTMPServerConnection) {
        pumpReady()
    }

    func connectionBecameWritable(_ connection: RTMPServerConnection) {
        pump(connection)
    }

    func connectionFinished(_ connection: RTMPServerConnection) {
        hub.finished(connection.id, at: Self.now)
    }

    func connectionClosed(_ connection: RTMPServerConnection, error: RTMPTransportError?) {
        hub.finished(connection.id, at: Self.now)
        bytesSentToDeparted += connection.bytesWritten
        if connections.removeValue(forKey: connection.id) != nil {
            logger.info("connection ended", metadata: log(connection, ["reason": "\(error?.why ?? "orderly")"]))
        } else if let error {
            // It never got so far as to ask for anything: noise of the network.
            logger.debug("connection ended", metadata: log(connection, ["reason": "\(error.why)"]))
        }
    }

    // MARK: What the hub decides

    private func perform(_ actions: [StreamHub<ByteBuffer>.Action]) {
        for action in actions {
            switch action {
            case .acceptPublish(let id):
                guard let connection = connections[id] else { continue }
                connection.acceptPublish()
                logger.info("publisher accepted", metadata: log(connection, ["stream": "\(hub.path(of: id))"]))
            case .rejectPublish(let id, let reason):
                guard let connection = connections[id] else { continue }
                connection.rejectPublish(code: reason.code, description: reason.sentence)
                logger.warning("publisher refused", metadata: log(connection, ["reason": "\(reason.sentence)"]))
            case .acceptPlay(let id):
                guard let connection = connections[id] else { continue }
                connection.acceptPlay()
                // What is cached goes out in the same write as the answer.
                pump(connection)
                logger.info("player accepted", metadata: log(connection, ["stream": "\(hub.path(of: id))"]))
            case .rejectPlay(let id, let reason):
                guard let connection = connections[id] else { continue }
                connection.rejectPlay(code: "NetStream.Play.Failed", description: reason.sentence)
                logger.warning("player refused", metadata: log(connection, ["reason": "\(reason.sentence)"]))
            case .announceEnd(let id):
                guard let connection = connections[id] else { continue }
                pump(connection)
                connection.announceEnd()
            case .announceStart(let id):
                connections[id]?.announceReturn()
            case .close(let id, let reason):
                guard let connection = connections[id] else { continue }
                connection.end(code: reason.code, description: reason.sentence)
                logger.warning("connection closed", metadata: log(connection, ["reason": "\(reason.sentence)"]))
            }
        }
    }

    private func pumpReady() {
        for id in hub.takeReady() {
            if let connection = connections[id] { pump(connection) }
        }
    }

    /// Hands over what waits, as far as there is room, in one write.
    private func pump(_ connection: RTMPServerConnection) {
        while connection.isWritable, let chunks = hub.dequeue(for: connection.id) { write(chunks, to: connection) }
        connection.flush()
    }

    private func write(_ chunks: ByteBuffer, to connection: RTMPServerConnection) {
        guard connection.streamID != Self.commonStreamID else { return connection.write(chunks) }
        var own = chunks
        // Format 0 on a one-byte chunk stream id: the message stream id stands in bytes 8 to 11 of the first chunk.
        own.setInteger(connection.streamID, at: own.readerIndex + 8, endianness: .little)
        connection.write(own)
    }

    private func log(_ connection: RTMPServerConnection, _ more: Logger.Metadata) -> Logger.Metadata {
        more.merging(["peer": "\(connection.address):\(connection.port ?? 0)"]) { old, _ in old }
    }
}

extension StreamHub.PublishRejection {
    /// RTMP's status code, after which publishers choose when to come back.
    var code: String {
        switch self {
        case .nameTaken, .alreadyInUse: "NetStream.Publish.BadName"
        case .notAuthorised, .invalidName, .tooManyStreams: "NetStream.Publish.Denied"
        }
    }

    var sentence: String {
        switch self {
        case .nameTaken: "another publisher holds this name; stop it, or publish with the same key"
        case .notAuthorised: "authentication failed: publish as name?key=KEY with the key of this stream"
        case .invalidName: "the stream's name is empty, too long, or holds control characters"
        case .tooManyStreams: "this relay holds as many streams as it may"
        case .alreadyInUse: "this connection publishes or plays already"
        }
    }
}

extension StreamHub.PlayRejection {
    var sentence: String {
        switch self {
        case .invalidName: "the stream's name is empty, too long, or holds control characters"
        case .tooManyStreams: "this relay holds as many streams as it may"
        case .tooManySubscribers: "this stream has as many viewers as it may"
        case .alreadyInUse: "this connection publishes or plays already"
        }
    }
}

extension StreamHub.CloseReason {
    var code: String {
        switch self {
        case .replaced: "NetStream.Publish.BadName"
        case .tooSlow: "NetStream.Play.Failed"
        }
    }

    var sentence: String {
        switch self {
        case .replaced: "another publisher took this name"
        case .tooSlow: "too far behind the live picture"
        }
    }
}
