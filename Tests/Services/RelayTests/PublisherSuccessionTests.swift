import RTMP
import Testing

@testable import Relay

@Suite struct PublisherSuccessionTests {
    @Test func `a second publisher without a key is refused while the first is alive`() {
        var hub = TestHub.make()
        _ = hub.publish(1)
        hub.video(Body.key(), at: .seconds(5))
        #expect(hub.publish(2, at: .seconds(7)) == [.rejectPublish(2, .nameTaken)])
        #expect(
            hub.publish(2, at: .seconds(7) + 1) == [.close(1, .replaced), .acceptPublish(2)],
            "silent for more than 2 s")
    }

    @Test func `the same key wins at once, another one does not`() {
        var hub = TestHub.make()
        _ = hub.publish(1, key: "k1")
        #expect(hub.publish(2, key: "k2") == [.rejectPublish(2, .nameTaken)])
        #expect(hub.publish(2, key: nil) == [.rejectPublish(2, .nameTaken)])
        #expect(hub.publish(2, key: "k1") == [.close(1, .replaced), .acceptPublish(2)])
    }

    @Test func `what the replaced publisher still sends is ignored, and its end ends nothing`() {
        var hub = TestHub.make()
        _ = hub.publish(1, key: "k")
        _ = hub.play(7)
        _ = hub.publish(2, key: "k")
        hub.video(Body.key(1), from: 1)
        hub.finished(1, at: 0)
        hub.video(Body.key(2), from: 2)
        #expect(hub.drain(7).map(\.payload) == [Body.key(2)])
    }

    @Test func `subscribers outlive the publisher for the grace period, then are notified once`() {
        var hub = TestHub.make()
        _ = hub.publish(1)
        _ = hub.play(7)
        hub.finished(1, at: .seconds(1))
        #expect(hub.timePassed(at: .seconds(11) - 1).isEmpty)
        #expect(hub.timePassed(at: .seconds(11)) == [.announceEnd(7)])
        #expect(hub.timePassed(at: .seconds(12)).isEmpty)
        // It may stay and wait; the next publisher is announced.
        #expect(hub.publish(2, at: .seconds(13)) == [.acceptPublish(2), .announceStart(7)])
    }

    @Test func `who joins during the grace period gets nothing stale`() {
        var hub = TestHub.make()
        _ = hub.publish(1)
        _ = hub.play(6)
        hub.data(Body.metadata())
        hub.video(Body.key(1))
        hub.finished(1, at: .seconds(1))
        #expect(hub.play(7, at: .seconds(2)) == [.acceptPlay(7)])
        #expect(hub.drain(7).isEmpty)
    }

    @Test func `time goes on monotonically when a publisher comes back with a new clock`() {
        var hub = TestHub.make()
        _ = hub.publish(1)
        _ = hub.play(7)
        hub.video(Body.key(1), 90_000, at: .seconds(90))
        hub.audio(Body.audio(1), 90_020, at: .seconds(90))
        #expect(hub.drain(7) == [Sent(.video, 90_000, Body.key(1)), Sent(.audio, 90_020, Body.audio(1))])
        hub.finished(1, at: .seconds(91))
        _ = hub.publish(2, at: .seconds(93))
        hub.data(Body.metadata(), 0, from: 2, at: .seconds(93))
        hub.video(Body.videoHeader, 0, from: 2, at: .seconds(93))
        hub.video(Body.inter(9), 0, from: 2, at: .seconds(93))
        hub.video(Body.key(2), 40, from: 2, at: .seconds(93))
        hub.audio(Body.audio(2), 30, from: 2, at: .seconds(93))
        #expect(
            hub.drain(7) == [
                Sent(.dataAMF0, 90_020, Body.metadata(setDataFrame: false)), Sent(.video, 90_020, Body.videoHeader),
                Sent(.video, 93_060, Body.key(2)), Sent(.audio, 93_050, Body.audio(2)),
            ])
    }

    @Test func `keys decide where keys are configured`() throws {
        let keys = try PublishAuthorization.parse("# cameras\nlive/cam = s3cret=with=signs \n\n  * = other\n")
        #expect(keys == .keys(["live/cam": "s3cret=with=signs", "*": "other"]))
        var hub = TestHub.make(authorization: keys)
        #expect(hub.publish(1) == [.rejectPublish(1, .notAuthorised)])
        #expect(hub.publish(1, key: "") == [.rejectPublish(1, .notAuthorised)])
        #expect(hub.publish(1, key: "other") == [.rejectPublish(1, .notAuthorised)])
        #expect(hub.publish(1, key: "s3cret=with=signs") == [.acceptPublish(1)])
        #expect(hub.publish(2, key: "other", name: "cam2") == [.acceptPublish(2)])
        #expect(hub.play(3) == [.acceptPlay(3)], "keys are for publishers")
        #expect(!"\(keys)".contains("s3cret"))
    }

    @Test(arguments: [
        ("a/b", PublishAuthorization.Fault.malformedLine(1)), ("\n = k", .malformedLine(2)),
        ("a/b =", .malformedLine(1)),
        ("a/b = 1\na/b = 2", .repeatedStream(line: 2)), ("# nothing", .noKeys), ("", .noKeys),
    ])
    func `a key file that says nothing clear is refused`(text: String, fault: PublishAuthorization.Fault) {
        #expect(throws: fault) { try PublishAuthorization.parse(text) }
    }
}
