import RTMP
import RTMPTransport
import Testing

@testable import Relay

/// What those without a key may take: nothing of what publishers need.
@Suite struct AdmissionTests {
    private static let keyed = PublishAuthorization.keys(["live/door": "k", "live/hall": "k", "*": "other"])

    private func play(
        _ hub: inout TestHub, _ id: ConnectionID, _ name: String, from network: String = "n", at now: UInt64 = 0
    ) -> [TestHub.Action] {
        hub.playRequested(id, app: "live", name: name, network: network, at: now)
    }

    @Test func `unpublished names have budgets, of a network and in all`() {
        var hub = TestHub.make()
        var id: ConnectionID = 0
        var accepted = 0
        for network in 0..<10 {
            for name in 0..<10 {
                id += 1
                let actions = play(&hub, id, "nobody\(network)-\(name)", from: "n\(network)")
                if actions == [.acceptPlay(id)] {
                    accepted += 1
                    #expect(name < 8)
                } else {
                    #expect(actions == [.rejectPlay(id, .tooManyAwaited)])
                }
            }
        }
        #expect(accepted == 64 && hub.streams.count == 64)
        // One more player of a name that is waited for costs no name.
        #expect(play(&hub, 1000, "nobody0-0", from: "n0") == [.acceptPlay(1000)])
        // Who leaves gives the name back.
        hub.finished(1, at: 0)
        hub.finished(1000, at: 0)
        #expect(play(&hub, 1001, "new", from: "another") == [.acceptPlay(1001)])
    }

    @Test func `no number of awaited names keeps a publisher out`() {
        var hub = TestHub.make(authorization: Self.keyed) { $0.streams = 1 }
        for id in ConnectionID(1)...256 { _ = play(&hub, id, "nobody\(id)", from: "n\(id)") }
        #expect(hub.publish(300, key: "k", name: "door") == [.acceptPublish(300)])
        #expect(hub.publish(301, key: "other", name: "guest") == [.acceptPublish(301)])
        // The places of paths with a key of their own belong to no one else.
        #expect(hub.publish(302, key: "other", name: "guest2") == [.rejectPublish(302, .tooManyStreams)])
        #expect(hub.publish(303, key: "k", name: "hall") == [.acceptPublish(303)])
        // It comes back after its connection was lost.
        hub.finished(300, at: 0)
        for id in ConnectionID(400)...656 { _ = play(&hub, id, "more\(id)", from: "n\(id)") }
        #expect(hub.publish(304, key: "k", name: "door") == [.acceptPublish(304)])
    }

    @Test func `a stream that has a publish key can always be waited for`() {
        var hub = TestHub.make(authorization: Self.keyed)
        for id in ConnectionID(1)...100 { _ = play(&hub, id, "nobody\(id)", from: "n\(id % 8)") }
        #expect(play(&hub, 200, "else", from: "viewer") == [.rejectPlay(200, .tooManyAwaited)])
        #expect(play(&hub, 201, "door", from: "viewer") == [.acceptPlay(201)])
    }

    @Test func `players that wait have budgets, viewers of a stream that is there have none`() {
        var hub = TestHub.make {
            $0.awaited.players = 5
            $0.awaited.playersPerNetwork = 2
        }
        #expect(play(&hub, 1, "cam", from: "a") == [.acceptPlay(1)])
        #expect(play(&hub, 2, "cam", from: "a") == [.acceptPlay(2)])
        #expect(play(&hub, 3, "cam", from: "a") == [.rejectPlay(3, .tooManyAwaited)])
        for id in ConnectionID(4)...6 { #expect(play(&hub, id, "cam", from: "b\(id)") == [.acceptPlay(id)]) }
        #expect(play(&hub, 7, "cam", from: "c") == [.rejectPlay(7, .tooManyAwaited)])
        #expect(hub.publish(10) == [.acceptPublish(10)])
        for id in ConnectionID(20)...40 { #expect(play(&hub, id, "cam", from: "a") == [.acceptPlay(id)]) }
        // They are let wait when the camera is away for a moment, and count for nothing.
        hub.finished(10, at: 0)
        #expect(hub.subscribers.count == 26)
        #expect(play(&hub, 50, "cam", from: "a") == [.acceptPlay(50)])
    }

    @Test func `who waits in vain is sent off after ten minutes`() {
        var hub = TestHub.make()
        _ = play(&hub, 1, "cam", at: 1)
        _ = play(&hub, 2, "other", at: 1)
        _ = hub.publish(3)
        #expect(hub.timePassed(at: .seconds(600)).isEmpty)
        #expect(hub.timePassed(at: .seconds(600) + 1) == [.close(2, .waitedInVain)])
        hub.finished(2, at: .seconds(601))
        #expect(hub.timePassed(at: .seconds(9000)).isEmpty)
    }

    @Test func `room is made by the youngest that waits, not by viewers nor by those whose camera just went`() {
        var hub = TestHub.make()
        _ = hub.publish(1, name: "live")
        _ = hub.publish(2, name: "lost")
        for id in ConnectionID(3)...5 { _ = play(&hub, id, "live") }
        for id in ConnectionID(6)...8 { _ = play(&hub, id, "lost") }
        #expect(hub.youngestIdlePlayer { _ in true } == nil)
        _ = play(&hub, 9, "nobody")
        _ = play(&hub, 10, "nobody")
        hub.finished(2, at: .seconds(1))
        #expect(hub.youngestIdlePlayer { _ in true } == 10)
        #expect(hub.youngestIdlePlayer { $0 < 10 } == 9)
        #expect(hub.youngestIdlePlayer { $0 < 9 } == nil)
        _ = hub.timePassed(at: .seconds(20))
        #expect(hub.youngestIdlePlayer { $0 < 9 } == 8)
    }

    @Test func `"later" is never reported as "denied"`() {
        for rejection in [TestHub.PublishRejection.tooManyStreams, .nameTaken, .alreadyInUse] {
            #expect(rejection.code != "NetStream.Publish.Denied")
        }
        #expect(TestHub.PublishRejection.notAuthorised.code == "NetStream.Publish.Denied")
    }

    @Test func `play keys and signed links open what they name`() throws {
        let secret = try #require(PlayLinkSecret("0123456789abcdef"))
        let both = try PlayAuthorization(keys: "live/door = a\n* = b", linkSecret: secret)
        let door = try StreamPath(app: "live", name: "door")
        let hall = try StreamPath(app: "live", name: "hall")
        #expect(both.permits(door, PlayCredential(key: "a")) && !both.permits(door, PlayCredential(key: "b")))
        #expect(both.permits(hall, PlayCredential(key: "b")) && !both.permits(hall, PlayCredential()))
        let fields = secret.query(path: "live/door", expires: 100).split(separator: "&").map {
            $0.split(separator: "=")[1]
        }
        func link(at now: Int64) -> PlayCredential {
            PlayCredential(expires: String(fields[0]), signature: String(fields[1]), time: now)
        }
        #expect(
            both.permits(door, link(at: 100)) && !both.permits(door, link(at: 101)) && !both.permits(hall, link(at: 1)))
        let keysOnly = try PlayAuthorization(keys: "* = b")
        #expect(!keysOnly.permits(door, link(at: 1)))
        #expect(PlayAuthorization.open.permits(door, PlayCredential()))
        #expect("\(both) \(keysOnly) \(PlayAuthorization.open)" == "2 play keys, signed links 1 play keys open")
    }

    @Test func `a player without the key of its stream is refused, before it costs a name`() throws {
        var hub = TestHub(
            players: try PlayAuthorization(keys: "live/cam = right"), encode: { Sent($0, $1, Array($2)) })
        #expect(play(&hub, 1, "cam") == [.rejectPlay(1, .notAuthorised)])
        #expect(play(&hub, 1, "other") == [.rejectPlay(1, .notAuthorised)])
        #expect(hub.streams.isEmpty)
        let right = PlayCredential(key: "right")
        #expect(hub.playRequested(1, app: "live", name: "cam", credential: right, at: 0) == [.acceptPlay(1)])
    }
}
