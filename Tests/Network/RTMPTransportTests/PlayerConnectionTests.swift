import ChannelTestSupport
import RTMP
import TestSupport
import Testing

@testable import RTMPTransport

@Suite struct PlayerConnectionTests {
    @Test func `a player gets what a publisher sends`() async throws {
        let server = try await TestServer.start()
        let watching = PlayerLog()
        let player = RTMPPlayerConnection.connect(url: server.url(), delegate: watching)
        try await watching.log.next { $0 == .started }
        let publishing = PublisherLog()
        let publisher = RTMPPublisherConnection.connect(url: server.url(), delegate: publishing)
        try await publishing.started()
        let frames: [(MessageType, UInt32, [UInt8])] = [
            (.dataAMF0, 0, [2, 0, 1, 0x61]), (.video, 40, [UInt8](repeating: 5, count: 100_000)),
            (.audio, 20_000_000, [0xAF, 1, 0, 9]),
        ]
        for (type, time, payload) in frames { try await publisher.send(type, time, payload) }
        // The first message is the server's own |RtmpSampleAccess.
        _ = try await watching.message()
        for (type, time, payload) in frames {
            let message = try await watching.message()
            #expect(message == RTMPMessage(type: type, timestamp: time, streamID: 1, payload: payload))
        }
        await player.stop()
        await publisher.stop()
        await server.close()
    }

    @Test func `a server that goes down notifies its players`() async throws {
        let server = try await TestServer.start()
        let watching = PlayerLog()
        _ = RTMPPlayerConnection.connect(url: server.url(), delegate: watching)
        try await watching.log.next { $0 == .started }
        await server.close()
        let error = try await watching.closed()
        #expect(error == RTMPTransportError(.session(.endedByPeer(code: "NetConnection.Connect.AppShutdown"))))
    }

    @Test func `a refused play is an error with the server's code`() async throws {
        let server = try await TestServer.start(.reject("NetStream.Play.StreamNotFound"))
        let watching = PlayerLog()
        _ = RTMPPlayerConnection.connect(url: server.url(), delegate: watching)
        #expect(try await watching.closed() == RTMPTransportError(.session(.streamNotFound)))
        await server.close()
    }
}
