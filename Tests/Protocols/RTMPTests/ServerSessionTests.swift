import AMF0
import RTMP
import TestSupport
import Testing

/// A server in a dialogue with a client played by hand.
private struct Dialogue {
    var session: ServerSession
    var peer = Peer()

    init(configure: (inout ServerSession.Configuration) -> Void = { _ in }) {
        var configuration = ServerSession.Configuration()
        configure(&configuration)
        session = ServerSession(configuration: configuration, random: body(1528), digests: Hashes.digests)
    }

    mutating func split(_ actions: [ServerSession.Action]) -> (said: [String], rest: [ServerSession.Action]) {
        var said: [String] = []
        var rest: [ServerSession.Action] = []
        for action in actions {
            if case .write(let bytes) = action { said += peer.read(bytes) } else { rest.append(action) }
        }
        return (said, rest)
    }

    mutating func hears(_ bytes: [UInt8], at now: UInt64 = 0) -> (said: [String], rest: [ServerSession.Action]) {
        split(session.received(bytes[...], at: now))
    }

    mutating func shakeHands(at now: UInt64 = 0) {
        session.connected(at: now)
        _ = session.received(plainHandshake[...], at: now)
    }

    mutating func connect(at now: UInt64 = 0, app: String = "live", more: AMF0Object = [:]) -> [String] {
        var object: AMF0Object = [
            "app": .string(app), "tcUrl": .string("rtmp://relay/live"), "flashVer": .string("me"),
        ]
        object.entries += more.entries
        return hears(peer.command("connect", 1, object: .object(object)), at: now).said
    }

    /// Up to an accepted publisher on stream 1.
    mutating func publish(_ name: String = "cam1", at now: UInt64 = 0) {
        shakeHands(at: now)
        _ = connect(at: now)
        _ = hears(peer.command("createStream", 2), at: now)
        _ = hears(peer.command("publish", 3, .string(name), .string("live"), stream: 1), at: now)
        _ = session.acceptPublish()
    }

    /// Up to an accepted player on stream 1.
    mutating func play(at now: UInt64 = 0) {
        shakeHands(at: now)
        _ = connect(at: now)
        _ = hears(peer.command("createStream", 2), at: now)
        _ = hears(peer.command("play", 3, .string("cam1"), stream: 1), at: now)
        _ = split(session.acceptPlay())
    }
}

private let begin = "userControl(RTMP.UserControlEvent.streamBegin(1))"

struct ServerSessionTests {
    @Test func `the order of a publisher`() {
        var dialogue = Dialogue()
        dialogue.session.connected(at: 0)
        guard case .write(let reply)? = dialogue.session.received(plainHandshake[...], at: 0).first else {
            Issue.record("no S0 S1 S2")
            return
        }
        #expect(reply.count == 3073)
        #expect(
            dialogue.connect() == [
                "windowAcknowledgementSize(2500000)", "setPeerBandwidth(2500000, limit: 2)", "setChunkSize(4096)",
                "_result 1 NetConnection.Connect.Success",
            ])
        let calls =
            dialogue.peer.command("releaseStream", 2, .string("cam1"))
            + dialogue.peer.command("FCPublish", 3, .string("cam1"))
            + dialogue.peer.command("createStream", 4)
        #expect(dialogue.hears(calls).said == ["_result 2", "_result 3", "_result 4 1"])
        let publish = dialogue.peer.command("publish", 5, .string("cam1?key=a%20b&x=1"), .string("live"), stream: 1)
        let (said, rest) = dialogue.hears(publish)
        #expect(said.isEmpty)
        guard case .publishRequested(let request)? = rest.first else {
            Issue.record("no request")
            return
        }
        #expect(request.app == "live" && request.streamName == "cam1" && request.kind == "live")
        #expect(request.queryValue("key") == "a b" && request.queryValue("x") == "1" && request.queryValue("y") == nil)
        #expect("\(request)" == "publish live/cam1" && !String(reflecting: request).contains("key"))
        #expect(
            dialogue.split(dialogue.session.acceptPublish()).said == [begin, "onStatus 0 NetStream.Publish.Start @1"])
        #expect(dialogue.session.streamID == 1)
        let media = dialogue.peer.media(.video, 40, [0x17, 0])
        #expect(
            dialogue.hears(media).rest
                == [.message(RTMPMessage(type: .video, timestamp: 40, streamID: 1, payload: [0x17, 0]))])
        let goodbye =
            dialogue.peer.command("FCUnpublish", 6, .string("cam1"))
            + dialogue.peer.command("deleteStream", 7, .number(1))
        #expect(dialogue.hears(goodbye) == (["_result 6"], [.publisherFinished]))
        #expect(dialogue.session.transportClosed(at: 0) == [.closed(.peerClosed(.createStream))])
    }

    @Test func `the order of a player`() {
        var dialogue = Dialogue()
        dialogue.shakeHands()
        _ = dialogue.connect(app: "live/", more: ["fourCcList": .strictArray([.string("hvc1")])])
        _ = dialogue.hears(dialogue.peer.command("createStream", 2))
        let calls =
            dialogue.peer.command("getStreamLength", 3, .string("cam1"))
            + dialogue.peer.command("play", 4, .string("cam1"), .number(-2000), stream: 1)
            + dialogue.peer.control(.userControl(.setBufferLength(1, milliseconds: 3000)))
        let (said, rest) = dialogue.hears(calls)
        #expect(said.isEmpty)
        guard case .playRequested(let request)? = rest.first else {
            Issue.record("no request")
            return
        }
        #expect(request.app == "live" && request.streamName == "cam1" && request.start == -2000)
        #expect(request.fourCCs == ["hvc1"])
        let actions = dialogue.session.acceptPlay()
        #expect(actions.count == 1)
        let access = AMF0.encode([.string("|RtmpSampleAccess"), .boolean(true), .boolean(true)])
        #expect(
            dialogue.split(actions).said == [
                begin, "onStatus 0 NetStream.Play.Reset @1", "onStatus 0 NetStream.Play.Start @1", "18 0 \(access) @1",
            ])
        var output: [UInt8] = []
        #expect(
            dialogue.session.encode(
                .video, timestamp: 0xFF_FFFF, prefix: [0x17], payload: body(9000)[...], into: &output))
        #expect(dialogue.session.encode(.audio, timestamp: 3, payload: [1], into: &output))
        #expect(dialogue.peer.read(output) == ["9 16777215 \([0x17] + body(9000)) @1", "8 3 [1] @1"])
        #expect(
            dialogue.split(dialogue.session.streamEnded()).said
                == ["userControl(RTMP.UserControlEvent.streamEOF(1))", "onStatus 0 NetStream.Play.UnpublishNotify @1"])
        #expect(
            dialogue.split(dialogue.session.streamReturned()).said == [
                begin, "onStatus 0 NetStream.Play.PublishNotify @1",
            ])
        #expect(dialogue.hears(dialogue.peer.command("deleteStream", 5, .number(1))).rest == [.playerFinished])
        #expect(!dialogue.session.encode(.audio, timestamp: 3, payload: [1], into: &output))
    }

    @Test(arguments: ["ffmpeg-5.1-publish", "ffmpeg-5.1-publish-wrap24", "ffmpeg-5.1-publish-extended"])
    func `a recorded ffmpeg publishes, however it is cut`(name: String) throws {
        let fixture = try Fixture(name)
        let expected = try read(Array(fixture.chunks)).filter { [.audio, .video, .dataAMF0].contains($0.type) }
        for seed in UInt64(0)..<6 {
            var random = SeededGenerator(seed: seed)
            var dialogue = Dialogue()
            dialogue.session.connected(at: 0)
            var messages: [RTMPMessage] = []
            var others: [ServerSession.Action] = []
            var rest = fixture.bytes[...]
            while !rest.isEmpty {
                let count = min(Int.random(in: 1...4000, using: &random), rest.count)
                var actions = dialogue.session.received(rest.prefix(count), at: 0)
                rest = rest.dropFirst(count)
                while !actions.isEmpty {
                    let action = actions.removeFirst()
                    switch action {
                    case .write: break
                    case .message(let message): messages.append(message)
                    case .publishRequested(let request):
                        #expect(request.app == "live" && request.streamName == "cam1")
                        actions += dialogue.session.acceptPublish()
                    case .playRequested, .publisherFinished, .playerFinished, .closed: others.append(action)
                    }
                }
            }
            #expect(messages == expected)
            #expect(others == [.publisherFinished])
        }
    }

    @Test(arguments: ["ffmpeg-5.1-play", "rtmpdump-2.4-play"])
    func `a recorded player plays and leaves`(name: String) throws {
        let fixture = try Fixture(name)
        var session = Dialogue().session
        session.connected(at: 0)
        var others: [ServerSession.Action] = []
        for index in fixture.bytes.indices {
            for action in session.received(fixture.bytes[index...index], at: 0) {
                if case .write = action { continue }
                others.append(action)
                if case .playRequested = action { #expect(session.acceptPlay().count == 1) }
            }
        }
        #expect(others.count == 2)
        guard case .playRequested(let request)? = others.first else {
            Issue.record("no request")
            return
        }
        #expect("\(request)".hasPrefix("play live/cam"))
        #expect(others.last == .playerFinished)
    }

    @Test func `names and queries of all three places are read`() {
        var dialogue = Dialogue()
        dialogue.shakeHands()
        let object: AMF0Object = ["app": .string("live?a=1"), "tcUrl": .string("rtmp://r/live?b=2&a=9")]
        _ = dialogue.hears(dialogue.peer.command("connect", 1, object: .object(object)))
        _ = dialogue.hears(dialogue.peer.command("createStream", 2))
        let (_, rest) = dialogue.hears(dialogue.peer.command("publish", 3, .string("cam1?c=3+%2B"), stream: 1))
        guard case .publishRequested(let request)? = rest.first else {
            Issue.record("no request")
            return
        }
        #expect(request.app == "live" && request.streamName == "cam1")
        #expect(["a", "b", "c", "d"].map { request.queryValue($0) } == ["1", "2", "3++", nil])
        #expect(request.kind == "live")
    }

    @Test func `an enhanced client learns that this relay forwards only`() throws {
        for enhanced in [false, true] {
            var session = Dialogue().session
            session.connected(at: 0)
            _ = session.received(plainHandshake[...], at: 0)
            var object: AMF0Object = ["app": .string("live")]
            if enhanced { object["fourCcList"] = .strictArray([.string("*")]) }
            let connect = Chunks.command(RTMPCommand("connect", transactionID: 1, commandObject: .object(object)))
            guard case .write(let bytes)? = session.received(connect[...], at: 0).first else {
                Issue.record("no answer")
                return
            }
            let last = try #require(try read(bytes).last)
            let information = try RTMPCommand.parse(last)?.arguments.first?.objectValue
            let map = information?["videoFourCcInfoMap"]?.objectValue
            #expect(map?["*"] == (enhanced ? .number(4) : nil))
            #expect(information?["objectEncoding"] == .number(0))
        }
    }

    // MARK: Decisions

    @Test func `a rejected publisher learns why and is closed`() {
        var dialogue = Dialogue()
        dialogue.shakeHands()
        _ = dialogue.connect()
        _ = dialogue.hears(dialogue.peer.command("createStream", 2))
        _ = dialogue.hears(dialogue.peer.command("publish", 3, .string("cam1"), stream: 1))
        let actions = dialogue.session.rejectPublish(code: "NetStream.Publish.BadName", description: "taken")
        #expect(
            dialogue.split(actions)
                == (
                    ["onStatus 0 NetStream.Publish.BadName @1"], [.closed(.rejected(code: "NetStream.Publish.BadName"))]
                ))
        #expect(dialogue.session.acceptPublish().isEmpty)
    }

    @Test func `a decision after the client has gone is void`() {
        var dialogue = Dialogue()
        dialogue.shakeHands()
        _ = dialogue.connect()
        _ = dialogue.hears(dialogue.peer.command("createStream", 2))
        _ = dialogue.hears(dialogue.peer.command("play", 3, .string("cam1"), stream: 1))
        #expect(dialogue.session.transportClosed(at: 0) == [.playerFinished, .closed(.peerClosed(.play))])
        #expect(dialogue.session.acceptPlay().isEmpty)
        #expect(dialogue.session.rejectPlay(code: "NetStream.Play.StreamNotFound", description: "").isEmpty)
        #expect(dialogue.session.stop().isEmpty)
    }

    @Test func `media before publish is lost and media before the decision is kept`() {
        var dialogue = Dialogue()
        dialogue.shakeHands()
        _ = dialogue.connect()
        _ = dialogue.hears(dialogue.peer.command("createStream", 2))
        #expect(dialogue.hears(dialogue.peer.media(.audio, 0, [1])).rest.isEmpty)
        let eager =
            dialogue.peer.command("publish", 3, .string("cam1"), stream: 1) + dialogue.peer.media(.audio, 0, [2])
        #expect(dialogue.hears(eager).rest.count == 1)
        let ping = dialogue.peer.control(.userControl(.pingRequest(4)))
        #expect(dialogue.hears(dialogue.peer.media(.audio, 1, [3]) + ping) == ([], []))
        let (said, rest) = dialogue.split(dialogue.session.acceptPublish())
        #expect(
            said == [
                begin, "onStatus 0 NetStream.Publish.Start @1", "userControl(RTMP.UserControlEvent.pingResponse(4))",
            ])
        #expect(
            rest == [
                .message(RTMPMessage(type: .audio, timestamp: 0, streamID: 1, payload: [2])),
                .message(RTMPMessage(type: .audio, timestamp: 1, streamID: 1, payload: [3])),
            ])
        #expect(dialogue.hears(dialogue.peer.media(.audio, 0, [4])).rest.count == 1)
    }

    @Test func `what is kept before the decision is bounded`() {
        var dialogue = Dialogue { $0.limits.messageLength = 10_000 }
        dialogue.shakeHands()
        _ = dialogue.connect()
        _ = dialogue.hears(dialogue.peer.command("createStream", 2))
        _ = dialogue.hears(dialogue.peer.command("publish", 3, .string("cam1"), stream: 1))
        let media = dialogue.peer.media(.video, 0, body(6000))
        #expect(dialogue.hears(media).rest.isEmpty)
        guard case .closed(.protocolViolation(.partialMessagesTooLarge(10_000, _)))? = dialogue.hears(media).rest.last
        else {
            Issue.record("kept")
            return
        }
    }

    @Test func `a second publish or a play on a publishing connection is refused`() {
        for (name, code) in [("publish", "NetStream.Publish.BadName"), ("play", "NetStream.Play.StreamNotFound")] {
            var dialogue = Dialogue()
            dialogue.publish()
            #expect(
                dialogue.hears(dialogue.peer.command(name, 9, .string("cam2"), stream: 1)).rest
                    == [.publisherFinished, .closed(.rejected(code: code))])
        }
    }

    @Test func `an ended stream may be followed by another one`() {
        var dialogue = Dialogue()
        dialogue.publish(at: 0)
        #expect(
            dialogue.hears(dialogue.peer.command("closeStream", 0, stream: 1), at: 60 * second).rest == [
                .publisherFinished
            ])
        #expect(dialogue.session.timePassed(at: 69 * second).isEmpty)
        let again = dialogue.hears(dialogue.peer.command("publish", 8, .string("cam2"), stream: 1), at: 69 * second)
        #expect(again.rest.count == 1)
        #expect(dialogue.split(dialogue.session.acceptPublish()).said.count == 2)
    }

    @Test func `a replaced publisher and a slow player learn why`() {
        var publisher = Dialogue()
        publisher.publish()
        #expect(
            publisher.session.end(code: "NetStream.Publish.BadName", description: "replaced").suffix(2)
                == [.publisherFinished, .closed(.rejected(code: "NetStream.Publish.BadName"))])
        var player = Dialogue()
        player.play()
        #expect(player.split(player.session.end(code: "NetStream.Play.Failed", description: "slow")).rest.count == 2)
    }

    @Test func `a shutdown is announced`() {
        var dialogue = Dialogue()
        dialogue.play()
        #expect(
            dialogue.split(dialogue.session.stop())
                == (["onStatus 0 NetConnection.Connect.AppShutdown"], [.playerFinished, .closed(.stopped)]))
    }

    @Test func `a reconnect request goes to clients that understand it`() {
        var plain = Dialogue()
        plain.play()
        #expect(plain.session.requestReconnect(tcURL: nil).asked == false)
        var enhanced = Dialogue()
        enhanced.shakeHands()
        _ = enhanced.connect(more: ["capsEx": .number(5)])
        _ = enhanced.hears(enhanced.peer.command("createStream", 2))
        _ = enhanced.hears(enhanced.peer.command("play", 3, .string("cam1"), stream: 1))
        _ = enhanced.session.acceptPlay()
        let (asked, actions) = enhanced.session.requestReconnect(tcURL: "rtmp://b/live")
        #expect(asked && actions.count == 1)
    }

    // MARK: Deadlines, silence, limits

    @Test func `a half-open client is closed`() {
        var silent = Dialogue()
        silent.session.connected(at: 0)
        #expect(silent.session.timePassed(at: 10 * second - 1).isEmpty)
        #expect(silent.session.timePassed(at: 10 * second) == [.closed(.timedOut(.handshake))])
        var greeted = Dialogue()
        greeted.shakeHands(at: second)
        #expect(greeted.session.timePassed(at: 11 * second) == [.closed(.timedOut(.connect))])
        var connected = Dialogue()
        connected.shakeHands()
        _ = connected.connect(at: 9 * second)
        #expect(connected.session.timePassed(at: 10 * second) == [.closed(.timedOut(.createStream))])
    }

    @Test func `a silent client is pinged after 30 s and closed 15 s later`() {
        var dialogue = Dialogue()
        dialogue.play()
        #expect(dialogue.session.timePassed(at: 30 * second - 1).isEmpty)
        #expect(
            dialogue.split(dialogue.session.timePassed(at: 30 * second)).said
                == ["userControl(RTMP.UserControlEvent.pingRequest(1))"])
        #expect(dialogue.session.timePassed(at: 44 * second).isEmpty)
        _ = dialogue.hears(dialogue.peer.control(.userControl(.pingResponse(1))), at: 44 * second)
        #expect(dialogue.session.timePassed(at: 73 * second).isEmpty)
        #expect(dialogue.session.timePassed(at: 74 * second).count == 1)
        #expect(
            dialogue.session.timePassed(at: 89 * second)
                == [.playerFinished, .closed(.pingUnanswered(nanoseconds: 15 * second))])
    }

    @Test func `a publisher's pings are answered and its bytes acknowledged`() {
        var dialogue = Dialogue { $0.windowAcknowledgementSize = 50_000 }
        dialogue.publish()
        #expect(
            dialogue.hears(dialogue.peer.control(.userControl(.pingRequest(9)))).said
                == ["userControl(RTMP.UserControlEvent.pingResponse(9))"])
        let media = dialogue.peer.media(.video, 0, body(60_000))
        let said = dialogue.hears(media).said
        #expect(said == ["acknowledgement(\(dialogue.session.bytesReceived))"])
    }

    @Test func `of the pings in one read the last is answered, before and after authentication`() {
        var unauthenticated = Dialogue()
        unauthenticated.shakeHands()
        var publisher = Dialogue()
        publisher.publish()
        for var dialogue in [unauthenticated, publisher] {
            var bytes: [UInt8] = []
            for value in UInt32(1)...1000 { bytes += dialogue.peer.control(.userControl(.pingRequest(value))) }
            #expect(dialogue.hears(bytes).said == ["userControl(RTMP.UserControlEvent.pingResponse(1000))"])
            #expect(dialogue.hears(dialogue.peer.control(.acknowledgement(1))).said.isEmpty)
        }
    }

    @Test func `large messages are read from publishers only`() {
        var player = Dialogue()
        player.play()
        let large = Chunks.absolute(time: 0, length: 1 << 20)
        let limit = ChunkLimits.player.messageLength
        guard case .closed(.protocolViolation(.messageTooLong(_, limit, _)))? = player.hears(large).rest.last else {
            Issue.record("read")
            return
        }
        var publisher = Dialogue()
        publisher.publish()
        #expect(publisher.hears(large).rest.isEmpty)
        var greedy = Dialogue()
        greedy.publish()
        guard
            case .closed(.protocolViolation(.messageTooLong(0xFF_FFFF, 8_388_608, _)))? =
                greedy.hears(Chunks.absolute(time: 0, length: 0xFF_FFFF)).rest.last
        else {
            Issue.record("read")
            return
        }
    }

    @Test(arguments: [MessageType.audio, .video, .dataAMF0, .dataAMF3])
    func `media of one who does not publish end the connection`(type: MessageType) {
        var player = Dialogue()
        player.play()
        var early = Dialogue()
        early.shakeHands()
        for var dialogue in [player, early] {
            let media = dialogue.peer.media(type, 0, [1, 2, 3])
            guard case .closed(.protocolViolation(.unexpectedMedia(type, _)))? = dialogue.hears(media).rest.last else {
                Issue.record("read")
                continue
            }
        }
        // What is early, or was on its way when the stream ended, is not an offence.
        var eager = Dialogue()
        eager.shakeHands()
        _ = eager.connect()
        #expect(eager.hears(eager.peer.media(type, 0, [1])).rest.isEmpty)
        var former = Dialogue()
        former.publish()
        let goodbye = former.peer.command("deleteStream", 6, .number(1)) + former.peer.media(type, 0, body(100_000))
        #expect(former.hears(goodbye).rest == [.publisherFinished])
    }

    @Test func `an unfinished message has its time, unless a publisher sends it`() {
        let half = Array(Chunks.absolute(time: 0, length: 1000, type: 20, stream: 0) + body(100))
        var player = Dialogue()
        player.play()
        var unauthenticated = Dialogue { $0.requestDeadline = 60 * second }
        unauthenticated.shakeHands()
        var publisher = Dialogue()
        publisher.publish()
        #expect(player.hears(half, at: second).rest.isEmpty)
        #expect(unauthenticated.hears(half, at: second).rest.isEmpty)
        #expect(publisher.hears(half, at: second).rest.isEmpty)
        // More of it, or of others beside it, buys no time.
        #expect(player.hears(player.peer.control(.acknowledgement(1)), at: 10 * second).rest.isEmpty)
        #expect(player.session.timePassed(at: 11 * second - 1).isEmpty)
        #expect(player.session.timePassed(at: 11 * second) == [.playerFinished, .closed(.timedOut(.streaming))])
        #expect(unauthenticated.session.timePassed(at: 11 * second) == [.closed(.timedOut(.connect))])
        #expect(publisher.session.timePassed(at: 11 * second).isEmpty)
    }

    @Test func `the bytes of a player are counted, those of a publisher are not`() {
        var player = Dialogue()
        player.play()
        let flood = (0..<80_000).flatMap { _ in player.peer.control(.acknowledgement(1)) }
        #expect(player.hears(flood).rest == [.playerFinished, .closed(.commandFlood)])
        var patient = Dialogue()
        patient.play()
        for tick in UInt64(0)..<100 {
            let few = (0..<200).flatMap { _ in patient.peer.control(.acknowledgement(1)) }
            #expect(patient.hears(few, at: tick * second).rest.isEmpty)
        }
        var publisher = Dialogue()
        publisher.publish()
        #expect(publisher.hears(flood).rest.isEmpty)
    }

    @Test func `commands are counted`() {
        var dialogue = Dialogue()
        dialogue.shakeHands()
        _ = dialogue.connect()
        let flood = (0..<70).flatMap { _ in dialogue.peer.command("_checkbw", 0) }
        #expect(dialogue.hears(flood).rest == [.closed(.commandFlood)])
        var slow = Dialogue()
        slow.play()
        for tick in UInt64(0)..<100 {
            #expect(slow.hears(slow.peer.command("pause", 0, .boolean(true)), at: tick * second).rest.isEmpty)
        }
    }

    @Test func `streams per connection are counted`() {
        var dialogue = Dialogue()
        dialogue.shakeHands()
        _ = dialogue.connect()
        let said = (0..<10).flatMap { _ in dialogue.hears(dialogue.peer.command("createStream", 2)).said }
        #expect(
            said.prefix(8) == [
                "_result 2 1", "_result 2 2", "_result 2 3", "_result 2 4", "_result 2 5",
                "_result 2 6", "_result 2 7", "_result 2 8",
            ])
        #expect(said.suffix(2).allSatisfy { $0 == "_error 2 NetConnection.Call.Failed" })
    }

    @Test(arguments: ["", "/", "?x=1", String(repeating: "a", count: 1025)])
    func `an unusable application is refused`(app: String) {
        var dialogue = Dialogue()
        dialogue.shakeHands()
        let object: AMF0Object = ["app": .string(app)]
        let (said, rest) = dialogue.hears(dialogue.peer.command("connect", 1, object: .object(object)))
        #expect(said == ["_error 1 NetConnection.Connect.InvalidApp"])
        #expect(rest == [.closed(.rejected(code: "NetConnection.Connect.InvalidApp"))])
    }

    @Test(arguments: [
        AMF0Value.string(""), .string("?k=1"), .null, .number(4), .string(String(repeating: "n", count: 1025)),
    ])
    func `an unusable stream name is refused`(name: AMF0Value) {
        for command in ["publish", "play"] {
            var dialogue = Dialogue()
            dialogue.shakeHands()
            _ = dialogue.connect()
            #expect(dialogue.hears(dialogue.peer.command(command, 3, name, stream: 1)).rest.count == 1)
            #expect(dialogue.session.transportClosed(at: 0).isEmpty)
        }
    }

    @Test func `commands before connect do nothing`() {
        var dialogue = Dialogue()
        dialogue.shakeHands()
        #expect(dialogue.hears(dialogue.peer.command("createStream", 2)).said.isEmpty)
        #expect(dialogue.hears(dialogue.peer.command("deleteStream", 2, .number(1))).rest.isEmpty)
        var early = Dialogue()
        early.shakeHands()
        #expect(early.hears(early.peer.command("publish", 3, .string("x"), stream: 1)).rest.count == 1)
    }

    @Test func `an AMF bomb is refused`() {
        var dialogue = Dialogue()
        dialogue.shakeHands()
        // Objects within objects, 20 deep.
        let bomb =
            AMF0.encode([.string("connect"), .number(1)])
            + [UInt8](repeating: 0, count: 20).flatMap { _ in
                [3, 0, 1, 0x61] as [UInt8]
            }
        let bytes = Chunks.absolute(3, time: 0, length: bomb.count, type: 20, stream: 0) + bomb
        guard case .closed(.protocolViolation(.malformedCommand))? = dialogue.hears(bytes).rest.last else {
            Issue.record("taken")
            return
        }
    }

    @Test(arguments: 0..<UInt64(64))
    func `a damaged client ends in a typed error or goes on`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = ["ffmpeg-5.1-publish", "ffmpeg-5.1-play", "rtmpdump-2.4-play", "ffmpeg-5.1-publish-extended"]
        for _ in 0..<4 {
            var bytes = Array(try Fixture(names.randomElement(using: &random)!).bytes.prefix(8000))
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let index = Int.random(in: 0..<min(bytes.count, 4500), using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            var session = Dialogue().session
            session.connected(at: 0)
            var closed = 0
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = min(Int.random(in: 1...900, using: &random), rest.count)
                var actions = session.received(rest.prefix(count), at: 0)
                while !actions.isEmpty {
                    switch actions.removeFirst() {
                    case .publishRequested: actions += session.acceptPublish()
                    case .playRequested: actions += session.acceptPlay()
                    case .closed: closed += 1
                    case .write, .message, .publisherFinished, .playerFinished: break
                    }
                }
                rest = rest.dropFirst(count)
            }
            #expect(closed <= 1)
            #expect(session.transportClosed(at: 1).isEmpty == (closed == 1))
        }
    }
}
