import RTMP
import Testing

@testable import Relay

@Suite struct StreamHubTests {
    @Test func `a late joiner gets headers, then the group of pictures, then what comes live`() {
        var hub = TestHub.make()
        #expect(hub.publish(1) == [.acceptPublish(1)])
        hub.data(Body.metadata())
        hub.video(Body.ntdfHeader())
        hub.video(Body.videoHeader)
        hub.audio(Body.audioHeader)
        hub.video(Body.key(1), 0)
        hub.audio(Body.audio(1), 10)
        hub.video(Body.key(2), 1000)
        hub.audio(Body.audio(2), 1010)
        hub.video(Body.inter(3), 1040)
        #expect(hub.play(7) == [.acceptPlay(7)])
        hub.video(Body.inter(4), 1080)
        #expect(hub.takeReady() == [7])
        #expect(
            hub.drain(7) == [
                Sent(.dataAMF0, 1000, Body.metadata(setDataFrame: false)),
                Sent(.video, 1000, Body.videoHeader),
                Sent(.audio, 1000, Body.audioHeader),
                Sent(.video, 1000, Body.ntdfHeader()),
                Sent(.video, 1000, Body.key(2)),
                Sent(.audio, 1010, Body.audio(2)),
                Sent(.video, 1040, Body.inter(3)),
                Sent(.video, 1080, Body.inter(4)),
            ])
    }

    /// Whoever pumps stops when the connection is full, which may be with the very last message.
    @Test func `a player whose last message filled its connection learns of the next`() {
        var hub = TestHub.make()
        _ = hub.publish(1)
        hub.video(Body.videoHeader)
        hub.video(Body.key(1), 0)
        _ = hub.play(7)
        #expect(hub.takeReady() == [7])
        while hub.subscribers[7]?.queue.isEmpty == false { #expect(hub.dequeue(for: 7, at: 0) != nil) }
        #expect(hub.subscribers[7]?.isSignalled == false)
    }

    @Test func `a rotation that began after the last key frame does not hide the key of the group`() {
        var hub = TestHub.make()
        _ = hub.publish(1)
        hub.video(Body.ntdfHeader(1))
        hub.video(Body.key(1), 0)
        hub.video(Body.ntdfHeader(2), 40)
        _ = hub.play(7)
        #expect(hub.drain(7).map(\.payload) == [Body.ntdfHeader(1), Body.key(1), Body.ntdfHeader(2)])
        hub.video(Body.key(2), 1000)
        _ = hub.play(8)
        #expect(hub.drain(8).map(\.payload) == [Body.ntdfHeader(2), Body.key(2)])
    }

    @Test(arguments: [Body.ntdfHeader(), Body.videoHeader, [0x17, 2, 0, 0, 0], [0x80, 0x68, 0x76, 0x63, 0x31]])
    func `what only looks like a key frame does not evict the group`(body: [UInt8]) {
        var hub = TestHub.make()
        _ = hub.publish(1)
        hub.video(Body.key(1))
        hub.video(body)
        _ = hub.play(7)
        #expect(hub.drain(7).map(\.payload) == [Body.key(1), body])
    }

    @Test func `who plays before the publisher comes waits and gets everything from its start`() {
        var hub = TestHub.make()
        #expect(hub.play(7) == [.acceptPlay(7)])
        #expect(hub.takeReady().isEmpty)
        _ = hub.publish(1)
        hub.data(Body.metadata())
        hub.video(Body.inter(9))
        hub.video(Body.key(1), 40)
        #expect(hub.drain(7).map(\.payload) == [Body.metadata(setDataFrame: false), Body.key(1)])
        #expect(hub.statistics(at: 0).framesDropped == 0)
    }

    @Test func `metadata goes to connected players verbatim, unknown fields included`() {
        var hub = TestHub.make()
        _ = hub.publish(1)
        _ = hub.play(7)
        hub.data(Body.metadata("someCustomField"))
        hub.data(Body.metadata("another", setDataFrame: false))
        hub.data(Body.string("onCuePoint") + [5])
        #expect(
            hub.drain(7).map(\.payload) == [
                Body.metadata("someCustomField", setDataFrame: false), Body.metadata("another", setDataFrame: false),
                Body.string("onCuePoint") + [5],
            ])
        // A cue point is news, not state.
        _ = hub.play(8)
        #expect(hub.drain(8).map(\.payload) == [Body.metadata("another", setDataFrame: false)])
    }

    @Test func `AMF3 data come out as AMF0, and clearDataFrame clears`() {
        var hub = TestHub.make()
        _ = hub.publish(1)
        hub.received(
            RTMPMessage(type: .dataAMF3, payload: [0] + Body.metadata()), from: 1, at: 0)
        _ = hub.play(7)
        #expect(hub.drain(7) == [Sent(.dataAMF0, 0, Body.metadata(setDataFrame: false))])
        hub.data(Body.string("@clearDataFrame") + Body.string("onMetaData"))
        _ = hub.play(8)
        #expect(hub.drain(8).isEmpty)
    }

    @Test func `an audio-only stream flows at once`() {
        var hub = TestHub.make()
        _ = hub.publish(1)
        hub.audio(Body.audioHeader)
        hub.audio(Body.audio(1), 23)
        _ = hub.play(7)
        hub.audio(Body.audio(2), 46)
        #expect(hub.drain(7) == [Sent(.audio, 23, Body.audioHeader), Sent(.audio, 46, Body.audio(2))])
    }

    @Test func `a group beyond its bounds is not kept, and the joiner waits for a key frame`() {
        var hub = TestHub.make { $0.groupBytes = 100 + 2 * 256 }
        _ = hub.publish(1)
        hub.video(Body.key(1, size: 60))
        hub.video(Body.inter(2, size: 60), 40)
        hub.video(Body.inter(3), 80)
        _ = hub.play(7)
        hub.video(Body.inter(4), 120)
        hub.video(Body.key(5), 160)
        #expect(hub.drain(7).map(\.payload) == [Body.key(5)])
        #expect(hub.statistics(at: 0).framesDropped == 0)
    }

    @Test(arguments: [true, false])
    func `a group of the shortest messages is bounded by number and by what they cost`(byCount: Bool) {
        var hub = TestHub.make {
            if byCount { $0.groupMessages = 10 } else { $0.groupBytes = 10 * (6 + 256) }
        }
        _ = hub.publish(1)
        hub.video(Body.key())
        for _ in 1...9 { hub.video(Body.inter()) }
        #expect(hub.statistics(at: 0).streams[0].groupMessages == 10)
        hub.video(Body.inter())
        #expect(hub.statistics(at: 0).streams[0].groupMessages == 0)
    }

    @Test func `a joiner gets the largest group whole`() {
        var hub = TestHub.make()
        let largest = RelayLimits().groupMessages
        _ = hub.publish(1)
        hub.video(Body.ntdfHeader())
        hub.video(Body.key())
        for _ in 2...largest { hub.video(Body.inter()) }
        _ = hub.play(7)
        #expect(hub.drain(7).count == 1 + largest)
        #expect(hub.dropped(7).frames == 0)
    }

    @Test func `a group that lasts too long is not kept`() {
        var hub = TestHub.make()
        _ = hub.publish(1)
        hub.video(Body.key(1), at: 0)
        hub.video(Body.inter(2), 10_001, at: .milliseconds(10_001))
        _ = hub.play(7, at: .seconds(11))
        #expect(hub.drain(7).isEmpty)
    }

    @Test func `the registry is bounded and forgets unused streams`() {
        var hub = TestHub.make { $0.streams = 2 }
        #expect(hub.publish(1, name: "a") == [.acceptPublish(1)])
        #expect(hub.publish(2, name: "b") == [.acceptPublish(2)])
        #expect(hub.publish(3, name: "c") == [.rejectPublish(3, .tooManyStreams)])
        #expect(hub.play(4, name: "c") == [.acceptPlay(4)])
        hub.finished(2, at: 0)
        #expect(hub.publish(3, name: "c") == [.acceptPublish(3)])
        hub.finished(1, at: 0)
        hub.finished(3, at: 0)
        hub.finished(4, at: 0)
        #expect(hub.streams.isEmpty && hub.subscribers.isEmpty)
    }

    @Test func `names are bounded and free of control characters`() {
        var hub = TestHub.make { $0.nameLength = 8 }
        #expect(hub.publish(1, name: "") == [.rejectPublish(1, .invalidName(.empty))])
        #expect(hub.publish(1, name: "123456789") == [.rejectPublish(1, .invalidName(.tooLong(9)))])
        #expect(hub.play(1, name: "a\nb") == [.rejectPlay(1, .invalidName(.controlCharacter))])
        #expect(hub.publish(1, name: "12345678") == [.acceptPublish(1)])
    }

    @Test func `one connection publishes or plays once`() {
        var hub = TestHub.make { $0.subscribersPerStream = 1 }
        _ = hub.publish(1)
        #expect(hub.publish(1, name: "b") == [.rejectPublish(1, .alreadyInUse)])
        #expect(hub.play(1) == [.rejectPlay(1, .alreadyInUse)])
        #expect(hub.play(2) == [.acceptPlay(2)])
        #expect(hub.play(2) == [.rejectPlay(2, .alreadyInUse)])
        #expect(hub.play(3) == [.rejectPlay(3, .tooManySubscribers)])
    }

    @Test func `what an unauthenticated client sends goes nowhere`() {
        var hub = TestHub.make()
        _ = hub.publish(1)
        _ = hub.play(7)
        hub.video(Body.key(), from: 99)
        hub.data([UInt8](repeating: 2, count: 300 << 10))
        hub.video([])
        hub.received(RTMPMessage(type: MessageType(rawValue: 77), payload: [1]), from: 1, at: 0)
        #expect(hub.drain(7).isEmpty)
    }
}
