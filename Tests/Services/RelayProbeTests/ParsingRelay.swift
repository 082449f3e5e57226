import FLV
import NIOCore
import RTMP
import RTMPTransport
import Synchronization

/// A relay that parses what it carries, as SRS does: a frame that is not made of NAL units ends its publisher. Everything
/// else it hands out as it came; a late player gets metadata, sequence headers, and the group of pictures that runs.
///
/// Confined to the loop of its connections, which makes `@unchecked Sendable` true.
final class ParsingRelay: RTMPServerDelegate, @unchecked Sendable {
    private var players: [RTMPServerConnection] = []
    private var preamble: [RTMPMessage] = []
    private var group: [RTMPMessage] = []
    private var hasSequenceHeader = false
    private var names: Set<String> = []
    /// How often a name that was published once is still taken.
    private var busy: Int
    private let refusals = Mutex(0)

    /// Publishers that it disconnected.
    var refused: Int { refusals.withLock { $0 } }

    init(busy: Int = 0) {
        self.busy = busy
    }

    func connection(_ connection: RTMPServerConnection, publishRequested request: PublishRequest) {
        guard names.insert(request.streamName).inserted || busy == 0 else {
            busy -= 1
            return connection.rejectPublish(code: "NetStream.Publish.BadName", description: "already publishing")
        }
        preamble = []
        group = []
        hasSequenceHeader = false
        connection.acceptPublish()
    }

    func connection(_ connection: RTMPServerConnection, playRequested request: PlayRequest) {
        connection.acceptPlay()
        for message in preamble + group { Self.send(message, to: connection) }
        connection.flush()
        players.append(connection)
    }

    func connection(_ connection: RTMPServerConnection, received message: RTMPMessage) {
        if message.type == .video, NTDFHeaderFrame.matches(message.payload[...]) {
            // For a parser of frames it is one of a codec that was not announced.
            guard hasSequenceHeader else { return refuse(connection) }
        } else if message.type == .video {
            guard let (header, payload) = try? VideoTagHeader.parse(message.payload[...]) else {
                return refuse(connection)
            }
            switch header.kind {
            case .sequenceHeader:
                hasSequenceHeader = true
                preamble.append(message)
            case .codedFrame:
                guard Self.isMadeOfUnits(payload) else { return refuse(connection) }
                if header.isKeyFrame { group = [] }
                group.append(message)
            default: break
            }
        } else if message.type == .dataAMF0 {
            preamble.append(message)
        } else if message.type == .audio, message.payload.dropFirst().first == 0 {
            preamble.append(message)
        }
        for player in players {
            Self.send(message, to: player)
            player.flush()
        }
    }

    private func refuse(_ connection: RTMPServerConnection) {
        refusals.withLock { $0 += 1 }
        connection.close()
    }

    private static func isMadeOfUnits(_ payload: ArraySlice<UInt8>) -> Bool {
        var rest = payload
        while rest.count > 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            guard length > 0, length <= rest.count - 4, rest.dropFirst(4).first.map({ $0 & 0x80 == 0 }) == true else {
                return false
            }
            rest = rest.dropFirst(4 + length)
        }
        return rest.isEmpty
    }

    private static func send(_ message: RTMPMessage, to player: RTMPServerConnection) {
        var chunks: [UInt8] = []
        ChunkWriter.append(
            message.type, timestamp: message.timestamp, streamID: player.streamID,
            chunkStreamID: message.type.mediaChunkStreamID, chunkSize: player.chunkSize, payload: message.payload[...],
            to: &chunks)
        player.write(ByteBuffer(bytes: chunks))
    }

    func connectionReadCompleted(_ connection: RTMPServerConnection) {}
    func connectionBecameWritable(_ connection: RTMPServerConnection) {}
    func connectionFinished(_ connection: RTMPServerConnection) {}

    func connectionClosed(_ connection: RTMPServerConnection, error: RTMPTransportError?) {
        players.removeAll { $0 === connection }
    }
}
