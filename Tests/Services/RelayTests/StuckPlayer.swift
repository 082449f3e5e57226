import AMF0
import ChannelTestSupport
import NIOCore
import NIOPosix
import RTMP

/// Asks for a stream, and never reads a byte of it.
final class StuckPlayer: Sendable {
    private let channel: any Channel

    private init(channel: any Channel) { self.channel = channel }

    static func connect(to relay: RunningRelay, name: String = "cam") async throws -> StuckPlayer {
        let channel = try await ClientBootstrap(group: Timers.loop)
            .channelOption(.autoRead, value: false)
            .channelOption(.socketOption(.so_rcvbuf), value: 4096)
            .connect(host: "127.0.0.1", port: relay.port).get()
        var writer = ChunkWriter()
        var bytes: [UInt8] = [3] + [UInt8](repeating: 0, count: 2 * 1536)
        writer.append(
            RTMPCommand("connect", transactionID: 1, commandObject: .object(["app": .string("live")])), streamID: 0,
            to: &bytes)
        writer.append(RTMPCommand("createStream", transactionID: 2), streamID: 0, to: &bytes)
        writer.append(RTMPCommand("play", transactionID: 3, arguments: [.string(name)]), streamID: 1, to: &bytes)
        try await channel.writeAndFlush(ByteBuffer(bytes: bytes)).get()
        return StuckPlayer(channel: channel)
    }

    func close() async {
        try? await channel.close().get()
    }
}
