import AMF0
import RTMP
import TestSupport
import Testing

private struct Dialogue {
    var session: PlayerSession
    var peer = Peer()
    private var handshaken = false

    init(
        _ url: String = "rtmp://relay/live/cam1", configure: (inout PlayerSession.Configuration) -> Void = { _ in }
    ) throws {
        var configuration = PlayerSession.Configuration()
        configure(&configuration)
        session = PlayerSession(
            url: try RTMPURL(url), configuration: configuration, random: body(1528), digests: Hashes.digests)
    }

    mutating func split(_ actions: [PlayerSession.Action]) -> (said: [String], rest: [PlayerSession.Action]) {
        var said: [String] = []
        var rest: [PlayerSession.Action] = []
        for action in actions {
            if case .write(let bytes) = action {
                said += peer.read(handshaken ? bytes : Array(bytes.dropFirst(1536)))
                handshaken = true
            } else {
                rest.append(action)
            }
        }
        return (said, rest)
    }

    mutating func hears(_ bytes: [UInt8], at now: UInt64 = 0) -> (said: [String], rest: [PlayerSession.Action]) {
        split(session.received(bytes[...], at: now))
    }

    mutating func advance(to phase: SessionPhase, at now: UInt64 = 0) {
        _ = session.connected(at: now)
        if phase == .handshake { return }
        _ = hears(plainHandshake, at: now)
        if phase == .connect { return }
        _ = hears(peer.status("NetConnection.Connect.Success", name: "_result", 1), at: now)
        if phase == .createStream { return }
        _ = hears(peer.command("_result", 2, .number(7)), at: now)
        if phase == .play { return }
        _ = hears(peer.status("NetStream.Play.Start", stream: 7), at: now)
    }
}

private func ping(_ value: Int) -> String { "userControl(RTMP.UserControlEvent.pingRequest(\(value)))" }

struct PlayerSessionTests {
    @Test func `the order of a player`() throws {
        var dialogue = try Dialogue("rtmp://relay/live/cam1?t=x")
        #expect(dialogue.session.connected(at: 0).count == 1)
        #expect(
            dialogue.hears(plainHandshake).said
                == ["setChunkSize(4096)", "windowAcknowledgementSize(2500000)", "connect 1"])
        let success = dialogue.peer.status("NetConnection.Connect.Success", name: "_result", 1)
        #expect(dialogue.hears(success).said == ["createStream 2", ping(1)])
        #expect(
            dialogue.hears(dialogue.peer.command("_result", 2, .number(7))).said
                == [
                    "play 3 cam1?t=x -2000 @7",
                    "userControl(RTMP.UserControlEvent.setBufferLength(7, milliseconds: 100))",
                ])
        #expect(dialogue.session.status == .connecting(.play))
        #expect(dialogue.hears(dialogue.peer.control(.userControl(.streamBegin(7)))).said == [ping(2)])
        #expect(dialogue.session.status == .waiting)
        #expect(dialogue.hears(dialogue.peer.status("NetStream.Play.Reset", stream: 7)).rest.isEmpty)
        #expect(dialogue.hears(dialogue.peer.status("NetStream.Play.Start", stream: 7)).rest == [.playing])
        let media = dialogue.peer.media(.video, 40, [0x17, 1], stream: 7)
        #expect(
            dialogue.hears(media).rest
                == [.message(RTMPMessage(type: .video, timestamp: 40, streamID: 7, payload: [0x17, 1]))])
        #expect(dialogue.split(dialogue.session.stop(at: 0)) == (["deleteStream 4 7"], [.closed(.stopped)]))
    }

    @Test(arguments: [
        "nginx-rtmp-1.2.2-to-player", "nginx-rtmp-1.2.2-to-player-wrap24", "nginx-rtmp-1.2.2-to-player-wrap32",
    ])
    func `a recorded nginx-rtmp is played`(name: String) throws {
        let fixture = try Fixture(name)
        // nginx-rtmp answers ffmpeg's and rtmpdump's createStream, whose transaction is 2 like ours.
        let expected = try read(Array(fixture.chunks)).filter { [.audio, .video, .dataAMF0].contains($0.type) }
        for seed in UInt64(0)..<6 {
            var random = SeededGenerator(seed: seed)
            var dialogue = try Dialogue()
            _ = dialogue.session.connected(at: 0)
            var actions: [PlayerSession.Action] = []
            var rest = fixture.bytes[...]
            while !rest.isEmpty {
                let count = min(Int.random(in: 1...5000, using: &random), rest.count)
                actions += dialogue.session.received(rest.prefix(count), at: 0)
                rest = rest.dropFirst(count)
            }
            let others = dialogue.split(actions).rest
            #expect(others.first == .playing)
            let messages = others.compactMap { action in
                if case .message(let message) = action { message } else { nil }
            }
            #expect(messages == expected)
            #expect(messages.count == others.count - 1)
        }
    }

    @Test func `media without Play Start is playing as well`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .play)
        let (said, rest) = dialogue.hears(dialogue.peer.media(.audio, 0, [0xAF, 0], stream: 7))
        #expect(said == [ping(2)])
        #expect(rest.first == .playing)
        #expect(rest.count == 2)
    }

    @Test(arguments: ["NetStream.Play.UnpublishNotify", "NetStream.Play.Stop", "EOF"])
    func `a publisher that leaves and returns is waited for`(way: String) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        let end =
            way == "EOF"
            ? dialogue.peer.control(.userControl(.streamEOF(7))) : dialogue.peer.status(way, stream: 7)
        #expect(dialogue.hears(end).rest == [.streamEnded])
        #expect(dialogue.hears(end).rest.isEmpty)
        #expect(dialogue.session.status == .waiting)
        #expect(dialogue.hears(dialogue.peer.status("NetStream.Play.PublishNotify", stream: 7)).rest == [.playing])
        #expect(dialogue.hears(end).rest == [.streamEnded])
        #expect(dialogue.hears(dialogue.peer.media(.audio, 0, [1], stream: 7)).rest.count == 2)
    }

    @Test func `data is handed on as AMF0 and aggregates in parts`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        #expect(
            dialogue.hears(dialogue.peer.media(.dataAMF3, 5, [0, 2, 0, 1, 0x61])).rest
                == [.message(RTMPMessage(type: .dataAMF0, timestamp: 5, streamID: 1, payload: [2, 0, 1, 0x61]))])
        let tags: [UInt8] = [
            8, 0, 0, 1, 0, 0, 10, 0, 0, 0, 0, 0xAA, 0, 0, 0, 12, 9, 0, 0, 1, 0, 0, 30, 0, 0, 0, 0, 0xBB,
        ]
        #expect(
            dialogue.hears(dialogue.peer.media(.aggregate, 100, tags)).rest == [
                .message(RTMPMessage(type: .audio, timestamp: 100, streamID: 1, payload: [0xAA])),
                .message(RTMPMessage(type: .video, timestamp: 120, streamID: 1, payload: [0xBB])),
            ])
        #expect(
            dialogue.hears(dialogue.peer.media(.aggregate, 100, [8, 0, 0, 9])).rest
                == [.closed(.protocolViolation(.malformedAggregate(offset: 0)))])
    }

    @Test(arguments: [
        ("NetStream.Play.StreamNotFound", "error", RTMPSessionError.streamNotFound),
        ("NetStream.Play.StreamNotFound", "status", .streamNotFound),
        ("NetStream.Play.Failed", "error", .endedByPeer(code: "NetStream.Play.Failed")),
        ("NetConnection.Connect.AppShutdown", "error", .endedByPeer(code: "NetConnection.Connect.AppShutdown")),
        ("NetStream.Play.Denied", "error", .rejected(code: "NetStream.Play.Denied")),
        ("NetStream.Play.Unauthorized", "error", .authenticationFailed(code: "NetStream.Play.Unauthorized")),
    ])
    func `a status is an error`(code: String, level: String, error: RTMPSessionError) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .play)
        #expect(dialogue.hears(dialogue.peer.status(code, level: level, stream: 7)).rest == [.closed(error)])
    }

    @Test(arguments: [SessionPhase.handshake, .connect, .createStream, .play])
    func `every phase has its deadline`(phase: SessionPhase) throws {
        var dialogue = try Dialogue { $0.fourCCs = [] }
        dialogue.advance(to: phase, at: second)
        #expect(dialogue.session.timePassed(at: 6 * second - 1).isEmpty)
        #expect(dialogue.session.timePassed(at: 6 * second) == [.closed(.timedOut(phase))])
    }

    @Test func `waiting for a publisher has none`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .play)
        _ = dialogue.hears(dialogue.peer.control(.userControl(.streamBegin(7))))
        for tick in UInt64(1)...300 {
            #expect(dialogue.split(dialogue.session.timePassed(at: tick * second)).rest.isEmpty)
        }
        #expect(dialogue.session.status == .waiting)
    }

    @Test func `a relay that has answered pings must go on`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        #expect(
            dialogue.hears(dialogue.peer.control(.userControl(.pingResponse(2))), at: 1).rest
                == [.roundTrip(nanoseconds: 1)])
        #expect(dialogue.split(dialogue.session.timePassed(at: 10 * second)).said.count == 1)
        #expect(dialogue.session.timePassed(at: 18 * second) == [.closed(.pingUnanswered(nanoseconds: 8 * second))])
    }

    @Test func `a relay that freezes as soon as it has said Play Start is noticed`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .play)
        let answer = dialogue.peer.control(.userControl(.pingResponse(1)))
        #expect(dialogue.hears(answer, at: 1).rest == [.roundTrip(nanoseconds: 1)])
        let start = dialogue.peer.status("NetStream.Play.Start", stream: 7)
        #expect(dialogue.hears(start, at: second).rest == [.playing])
        #expect(dialogue.split(dialogue.session.timePassed(at: 9 * second - 1)).rest.isEmpty)
        #expect(dialogue.session.timePassed(at: 9 * second) == [.closed(.pingUnanswered(nanoseconds: 8 * second))])
    }

    @Test(arguments: [
        (SessionPhase.handshake, [String]()), (.connect, []), (.createStream, []), (.play, ["deleteStream 4 7"]),
        (.streaming, ["deleteStream 4 7"]),
    ])
    func `stop is orderly in every state`(phase: SessionPhase, said: [String]) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: phase)
        let result = dialogue.split(dialogue.session.stop(at: 0))
        #expect(result.said == said)
        #expect(result.rest == [.closed(.stopped)])
        #expect(dialogue.session.stop(at: 0).isEmpty)
        #expect(dialogue.session.received([1], at: 0).isEmpty)
    }

    @Test func `a lost transport and a FIN are ends`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        #expect(dialogue.session.peerHalfClosed(at: 0) == [.closed(.peerClosed(.streaming))])
        #expect(dialogue.session.transportClosed(at: 0).isEmpty)
    }

    @Test func `a relay that breaks on fourCcList is asked again without it`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .connect)
        guard case .closed(.continueOnNewConnection)? = dialogue.session.transportClosed(at: 0).last else {
            Issue.record("no second try")
            return
        }
    }

    @Test(arguments: 0..<UInt64(48))
    func `a damaged relay ends in a typed error or goes on`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<3 {
            var bytes = Array(try Fixture("nginx-rtmp-1.2.2-to-player").bytes.prefix(9000))
            for _ in 0..<8 {
                let index = Int.random(in: 3073..<bytes.count, using: &random)
                bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            }
            var session = try Dialogue().session
            _ = session.connected(at: 0)
            var closed = 0
            for action in session.received(bytes[...], at: 0) {
                if case .closed = action { closed += 1 }
            }
            #expect(closed == (session.status == .closed ? 1 : 0))
        }
    }
}
