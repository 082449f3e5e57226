import ChannelTestSupport
import NIOCore
import RTMP
import RTMPTransport

@testable import Player

/// The least that a relay must be: every player gets the same messages, and perhaps the stream's end.
final class MiniRelay: RTMPServerDelegate {
    private let messages: [SealedStream.Message]
    private let ends: Bool
    /// Where players are sent when they have it all.
    private let sendsTo: String?
    /// Players are reported, and wait for the test.
    private let accepts: Bool
    private let plays: EventLog<RTMPServerConnection>
    private let instants: EventLog<NIODeadline>

    private init(
        _ messages: [SealedStream.Message], ends: Bool, sendsTo: String?, accepts: Bool,
        plays: EventLog<RTMPServerConnection>, instants: EventLog<NIODeadline>
    ) {
        self.messages = messages
        self.sendsTo = sendsTo
        self.ends = ends
        self.accepts = accepts
        self.plays = plays
        self.instants = instants
    }

    /// Runs `body` with a configuration for a viewer of the stream `messages`.
    /// - Parameters:
    ///   - plays: each player, when it has what it gets.
    ///   - instants: when each player asked, before it got anything.
    static func serving<Result>(
        _ messages: [SealedStream.Message], ends: Bool = false, sendsTo: String? = nil, accepts: Bool = true,
        plays: EventLog<RTMPServerConnection> = EventLog(), instants: EventLog<NIODeadline> = EventLog(),
        to mode: ViewerConfiguration.Mode,
        _ body: (ViewerConfiguration) async throws -> Result
    ) async throws -> Result {
        let server = try await RTMPServer.bind(
            RTMPServerConfiguration(port: 0),
            delegate: MiniRelay(
                messages, ends: ends, sendsTo: sendsTo, accepts: accepts, plays: plays, instants: instants))
        let url = RTMPURL(
            scheme: .rtmp, host: "127.0.0.1", port: UInt16(server.port), app: "live", streamName: "door")
        do {
            let result = try await body(ViewerConfiguration(url: url, mode: mode, untilStreamEnds: ends))
            await server.close()
            return result
        } catch {
            await server.close()
            throw error
        }
    }

    func connection(_ connection: RTMPServerConnection, playRequested request: PlayRequest) {
        instants.add(.now())
        defer { plays.add(connection) }
        guard accepts else { return }
        connection.acceptPlay()
        for message in messages {
            let type = MessageType(rawValue: message.type)
            var chunks: [UInt8] = []
            ChunkWriter.append(
                type, timestamp: message.timestamp, streamID: connection.streamID,
                chunkStreamID: type.mediaChunkStreamID, chunkSize: connection.chunkSize, payload: message.body[...],
                to: &chunks)
            connection.write(ByteBuffer(bytes: chunks))
        }
        connection.flush()
        if let sendsTo { _ = connection.requestReconnect(to: sendsTo) }
        if ends { connection.announceEnd() }
    }

    func connection(_ connection: RTMPServerConnection, publishRequested request: PublishRequest) {
        connection.rejectPublish(code: "NetStream.Publish.BadName", description: "players only")
    }

    func connection(_ connection: RTMPServerConnection, received message: RTMPMessage) {}
    func connectionReadCompleted(_ connection: RTMPServerConnection) {}
    func connectionBecameWritable(_ connection: RTMPServerConnection) {}
    func connectionFinished(_ connection: RTMPServerConnection) {}
    func connectionClosed(_ connection: RTMPServerConnection, error: RTMPTransportError?) {}
}
