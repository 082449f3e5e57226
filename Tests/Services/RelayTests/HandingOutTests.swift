import NIOCore
import RTMP
import Testing

@testable import Relay

/// How what a publisher sends reaches those who keep up: in few writes, at once, in order.
@Suite struct HandingOutTests {
    /// A connection that takes what it is offered while it has room. It sees the last message of each batch.
    private final class Outlet: SubscriberOutlet {
        var hasRoom = true
        var taken: [Sent] = []

        func offer(_ encoded: Sent) -> Bool {
            if hasRoom { taken.append(encoded) }
            return hasRoom
        }
    }

    /// Subscriber 7 has taken the first key frame.
    private func streaming() throws -> (TestHub, Outlet) {
        var hub = TestHub.make()
        let outlet = Outlet()
        _ = hub.publish(1)
        _ = hub.play(7)
        try #require(hub.subscribers[7]).outlet = outlet
        hub.video(Body.key(0))
        _ = hub.takeReady()
        #expect(hub.drain(7).map(\.payload) == [Body.key(0)])
        #expect(outlet.taken.isEmpty, "who waits for a key frame is served from the queue")
        return (hub, outlet)
    }

    @Test func `audio and headers go with the next frame, in one piece and in order`() throws {
        var (hub, outlet) = try streaming()
        hub.audio(Body.audio(1), 1, at: .milliseconds(1))
        hub.video(Body.ntdfHeader(2), 2, at: .milliseconds(2))
        hub.data(Body.metadata(), 3, at: .milliseconds(3))
        #expect(hub.takeDue(at: .milliseconds(20)).isEmpty)
        #expect(hub.nextDue == .milliseconds(21))
        hub.received(
            RTMPMessage(type: .video, timestamp: 10, streamID: 1, payload: Body.key(4)), from: 1, at: .milliseconds(10))
        #expect(hub.nextDue == .milliseconds(10))
        let deliveries = hub.takeDue(at: .milliseconds(10))
        #expect(deliveries.count == 1)
        let items = try #require(deliveries.first?.items)
        #expect(
            items.map(\.message.encoded.payload) == [
                Body.audio(1), Body.ntdfHeader(2), Body.metadata(setDataFrame: false), Body.key(4),
            ])
        #expect(items.map(\.arrived) == [1, 2, 3, 10].map { .milliseconds($0) })
        #expect(deliveries[0].offer(items[3].message.encoded).isEmpty)
        #expect(outlet.taken.map(\.payload) == [Body.key(4)])
        #expect(hub.nextDue == nil && hub.takeDue(at: .seconds(9)).isEmpty)
        #expect(hub.takeReady().isEmpty && hub.drain(7).isEmpty, "nothing went through the queue")
    }

    @Test func `an audio for which no video comes waits 20 ms and no longer`() throws {
        var (hub, outlet) = try streaming()
        hub.audio(Body.audio(1), 1, at: .milliseconds(1))
        hub.audio(Body.audio(2), 12, at: .milliseconds(12))
        #expect(hub.takeDue(at: .milliseconds(21) - 1).isEmpty)
        #expect(outlet.taken.isEmpty)
        let due = hub.takeDue(at: .milliseconds(21))
        #expect(due.first?.items.map(\.message.encoded.payload) == [Body.audio(1), Body.audio(2)])
        hub.audio(Body.audio(3), 30, at: .milliseconds(30))
        #expect(hub.nextDue == .milliseconds(50))
    }

    @Test func `what gathers is bounded in number and in bytes`() throws {
        var hub = TestHub.make {
            $0.batchMessages = 4
            $0.batchBytes = 3000
        }
        _ = hub.publish(1)
        _ = hub.play(7)
        for tag in UInt8(1)...3 { hub.audio(Body.audio(tag)) }
        #expect(hub.takeReady().isEmpty)
        hub.audio(Body.audio(4))
        #expect(hub.takeReady() == [7])
        #expect(hub.drain(7).map(\.payload) == (UInt8(1)...4).map { Body.audio($0) })
        hub.audio([0xAF, 1] + [UInt8](repeating: 5, count: 3000))
        #expect(hub.takeReady() == [7])
    }

    @Test func `one without room gets the same from the queue, and is served directly again once that is empty`() throws
    {
        var (hub, outlet) = try streaming()
        outlet.hasRoom = false
        hub.audio(Body.audio(1), 1, at: .milliseconds(1))
        hub.video(Body.inter(1), 2, at: .milliseconds(2))
        outlet.hasRoom = true
        hub.video(Body.inter(2), 3, at: .milliseconds(3))
        #expect(outlet.taken.isEmpty, "nothing overtakes what waits")
        #expect(hub.takeReady() == [7])
        #expect(hub.drain(7).map(\.payload) == [Body.audio(1), Body.inter(1), Body.inter(2)])
        hub.video(Body.inter(3), 4, at: .milliseconds(4))
        #expect(outlet.taken.map(\.payload) == [Body.inter(3)])
        #expect(hub.dropped(7) == DropCount())
    }

    @Test func `who joins between an audio and the next frame gets each of them once`() throws {
        var (hub, outlet) = try streaming()
        hub.audio(Body.audio(1), 1, at: .milliseconds(1))
        _ = hub.play(8, at: .milliseconds(5))
        hub.video(Body.inter(2), 10, at: .milliseconds(10))
        #expect(hub.drain(8).map(\.payload) == [Body.key(0), Body.audio(1), Body.inter(2)])
        #expect(hub.drain(7).map(\.payload) == [Body.audio(1), Body.inter(2)])
        #expect(outlet.taken.isEmpty)
    }

    @Test func `a new publisher's first frame is a key frame for those who are served directly, too`() throws {
        var (hub, outlet) = try streaming()
        hub.audio(Body.audio(1), 1, at: .milliseconds(1))
        hub.handOut(at: .milliseconds(21))
        #expect(outlet.taken.map(\.payload) == [Body.audio(1)])
        #expect(hub.publish(2, at: .seconds(3)) == [.close(1, .replaced), .acceptPublish(2)])
        hub.video(Body.inter(5), 0, from: 2, at: .seconds(3))
        hub.video(Body.key(6), 40, from: 2, at: .seconds(3))
        #expect(outlet.taken.count == 1)
        #expect(hub.drain(7).map(\.payload) == [Body.key(6)])
    }

    @Test func `a player on a message stream of its own choice gets a header of its own and the shared body`() {
        var bytes: [UInt8] = []
        ChunkWriter.append(
            .video, timestamp: 0x1234_5678, streamID: 1, chunkStreamID: 6, chunkSize: 4096,
            payload: [UInt8](repeating: 7, count: 9000)[...], to: &bytes)
        let shared = ByteBuffer(bytes: bytes)
        let (header, body) = RelayCore.readdressed(shared, to: 0xA1B2_C3D4)
        var expected: [UInt8] = []
        ChunkWriter.append(
            .video, timestamp: 0x1234_5678, streamID: 0xA1B2_C3D4, chunkStreamID: 6, chunkSize: 4096,
            payload: [UInt8](repeating: 7, count: 9000)[...], to: &expected)
        #expect(Array(header.readableBytesView) + Array(body.readableBytesView) == expected)
        #expect(header.readableBytes == 12 && header.capacity < 100)
        let places = [shared, body].map { $0.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) } }
        #expect(places[1] == places[0] + 12, "no copy")
        #expect(Array(shared.readableBytesView) == bytes, "and the others' stays as it was")
    }
}
