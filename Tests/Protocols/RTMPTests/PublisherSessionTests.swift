import AMF0
import TestSupport
import Testing

@testable import RTMP

/// A publisher in a dialogue: what it says is a list of lines, everything else a list of actions.
private struct Dialogue {
    var session: PublisherSession
    var peer = Peer()
    private var handshaken = false

    init(
        _ url: String = "rtmp://relay/live/cam1?key=k",
        configure: (inout PublisherSession.Configuration) -> Void = { _ in }
    ) throws {
        var configuration = PublisherSession.Configuration()
        configure(&configuration)
        session = PublisherSession(
            url: try RTMPURL(url), configuration: configuration, random: body(1528), digests: Hashes.digests)
    }

    /// Splits actions into what was said and the rest.
    mutating func split(_ actions: [PublisherSession.Action]) -> (said: [String], rest: [PublisherSession.Action]) {
        var said: [String] = []
        var rest: [PublisherSession.Action] = []
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

    mutating func hears(_ bytes: [UInt8], at now: UInt64 = 0) -> (said: [String], rest: [PublisherSession.Action]) {
        split(session.received(bytes[...], at: now))
    }

    /// Up to the answer that `phase` waits for.
    mutating func advance(to phase: SessionPhase, at now: UInt64 = 0) {
        _ = session.connected(at: now)
        if phase == .handshake { return }
        _ = hears(plainHandshake, at: now)
        if phase == .connect { return }
        _ = hears(peer.status("NetConnection.Connect.Success", name: "_result", 1), at: now)
        if phase == .createStream { return }
        _ = hears(peer.command("_result", 4, .number(7)), at: now)
        if phase == .publish { return }
        _ = hears(peer.status("NetStream.Publish.Start", stream: 7), at: now)
    }

    /// The relay answers every ping and TCP acknowledges, so that only the clock moves.
    mutating func answer(_ said: [String], at now: UInt64) {
        for line in said where line.hasPrefix("userControl") {
            let value = line.split(whereSeparator: { !$0.isNumber }).last.flatMap { UInt32($0) } ?? 0
            _ = hears(peer.control(.userControl(.pingResponse(value))), at: now)
        }
    }
}

private let unpublish = "FCUnpublish 6 cam1?key=k"

private func ping(_ value: Int) -> String { "userControl(RTMP.UserControlEvent.pingRequest(\(value)))" }

struct PublisherSessionTests {
    @Test func `the order of a publisher`() throws {
        var dialogue = try Dialogue()
        guard case .write(let c0c1)? = dialogue.session.connected(at: 0).first else {
            Issue.record("no C0 C1")
            return
        }
        #expect(c0c1 == [3] + [UInt8](repeating: 0, count: 8) + body(1528))
        #expect(dialogue.session.status == .connecting(.handshake))
        #expect(dialogue.hears(plainHandshake).said == ["setChunkSize(4096)", "connect 1"])
        #expect(dialogue.session.status == .connecting(.connect))
        let success = dialogue.peer.status("NetConnection.Connect.Success", name: "_result", 1)
        #expect(
            dialogue.hears(success).said
                == ["releaseStream 2 cam1?key=k", "FCPublish 3 cam1?key=k", "createStream 4", ping(1)])
        #expect(
            dialogue.hears(dialogue.peer.command("_result", 4, .number(7))).said == ["publish 5 cam1?key=k live @7"])
        let (said, rest) = dialogue.hears(dialogue.peer.status("NetStream.Publish.Start", stream: 7))
        #expect(said == [ping(2)])
        #expect(rest == [.published])
        #expect(dialogue.session.status == .publishing)
        #expect(dialogue.split(dialogue.session.stop(at: 0)) == ([unpublish, "deleteStream 7 7"], [.closed(.stopped)]))
        #expect(dialogue.session.status == .closed)
        #expect(dialogue.session.received([1, 2, 3], at: 0).isEmpty)
    }

    @Test func `connect says what relays look for`() throws {
        let command = try connectCommand("rtmps://u:p@relay:444/live/_definst_/cam1") {
            $0.fourCCs = ["hvc1"]
            $0.announcesReconnect = true
        }
        let object = try #require(command.commandObject.objectValue)
        #expect(object["app"] == .string("live/_definst_"))
        #expect(object["type"] == .string("nonprivate"))
        #expect(object["flashVer"]?.stringValue?.hasPrefix("FMLE/3.0") == true)
        #expect(object["tcUrl"] == .string("rtmps://relay:444/live/_definst_"))
        #expect(object["fourCcList"] == .strictArray([.string("hvc1")]))
        #expect(object["capsEx"] == .number(1))
        #expect(object.entries.count == 6)
        #expect(try connectCommand("rtmp://relay/live/cam1").commandObject.objectValue?["fourCcList"] == nil)
    }

    private func connectCommand(
        _ url: String, configure: (inout PublisherSession.Configuration) -> Void = { _ in }
    ) throws -> RTMPCommand {
        var dialogue = try Dialogue(url, configure: configure)
        _ = dialogue.session.connected(at: 0)
        guard case .write(let bytes)? = dialogue.session.received(plainHandshake[...], at: 0).first else {
            throw RTMPError.incompleteCommand(valueCount: 0)
        }
        let messages = try read(Array(bytes.dropFirst(1536)))
        return try #require(try RTMPCommand.parse(messages[1]))
    }

    @Test func `everything a recorded nginx-rtmp said leads to publishing`() throws {
        let relay = try Fixture("nginx-rtmp-1.2.2-to-publisher").bytes
        for cut in stride(from: 0, to: relay.count, by: 97) {
            var dialogue = try Dialogue("rtmp://relay/live/cam1")
            _ = dialogue.session.connected(at: 0)
            var actions = dialogue.session.received(relay[..<cut], at: 0)
            actions += dialogue.session.received(relay[cut...], at: 0)
            let (said, rest) = dialogue.split(actions)
            #expect(
                said == [
                    "setChunkSize(4096)", "connect 1", "windowAcknowledgementSize(5000000)",
                    "releaseStream 2 cam1", "FCPublish 3 cam1", "createStream 4", ping(1), "publish 5 cam1 live @1",
                    ping(2),
                ], "cut at \(cut)")
            #expect(rest == [.published, .closed(.endedByPeer(code: "NetStream.Unpublish.Success"))])
        }
    }

    @Test func `everything a recorded ffmpeg server said leads to publishing`() throws {
        let relay = try Fixture("ffmpeg-5.1-listen-to-publisher").bytes
        for cut in stride(from: 0, to: relay.count, by: 97) {
            var dialogue = try Dialogue("rtmp://relay/live/cam1")
            _ = dialogue.session.connected(at: 0)
            var actions = dialogue.session.received(relay[..<cut], at: 0)
            actions += dialogue.session.received(relay[cut...], at: 0)
            // Its last two pongs answer pings that this session had no time to send.
            let round = PublisherSession.Action.roundTrip(nanoseconds: 0)
            #expect(dialogue.split(actions).rest == [.published, round, round], "cut at \(cut)")
        }
    }

    @Test func `everything dripped is the same as all at once`() throws {
        let relay = try Fixture("nginx-rtmp-1.2.2-to-publisher").bytes
        var whole = try Dialogue()
        _ = whole.session.connected(at: 0)
        let expected = whole.split(whole.session.received(relay[...], at: 0))
        var dripped = try Dialogue()
        _ = dripped.session.connected(at: 0)
        var actions: [PublisherSession.Action] = []
        for index in relay.indices { actions += dripped.session.received(relay[index...index], at: 0) }
        let result = dripped.split(actions)
        #expect(result.said == expected.said)
        #expect(result.rest == expected.rest)
    }

    @Test func `answers to releaseStream and FCPublish are neither awaited nor taken for createStream`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .createStream)
        let silent = dialogue.hears(
            dialogue.peer.command("_result", 2, .undefined) + dialogue.peer.command("_error", 3)
                + dialogue.peer.command("onFCPublish") + dialogue.peer.command("onBWDone")
                + dialogue.peer.command("_result", 3))
        #expect(silent.said.isEmpty && silent.rest.isEmpty)
        #expect(
            dialogue.hears(dialogue.peer.command("_result", 4, .number(33))).said == ["publish 5 cam1?key=k live @33"])
    }

    @Test(arguments: [SessionPhase.publish, .streaming])
    func `a second answer to createStream is ignored`(phase: SessionPhase) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: phase)
        let (said, rest) = dialogue.hears(dialogue.peer.command("_result", 4, .number(9)))
        #expect(said.isEmpty && rest.isEmpty)
        #expect(dialogue.session.status == (phase == .publish ? .connecting(.publish) : .publishing))
    }

    @Test(arguments: [AMF0Value.null, .string("1"), .number(-1), .number(1.5), .number(.nan), .number(1e300)])
    func `an invalid stream id is refused`(value: AMF0Value) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .createStream)
        #expect(
            dialogue.hears(dialogue.peer.command("_result", 4, value)).rest == [
                .closed(.rejected(code: "createStream"))
            ])
    }

    // MARK: Refusals

    @Test(arguments: [
        ("NetStream.Publish.BadName", "error", "Already publishing", RTMPSessionError.badName, RetryClass.badName),
        ("NetStream.Publish.BadName", "status", "", .badName, .badName),
        (
            "NetStream.Publish.Denied", "error", "", .authenticationFailed(code: "NetStream.Publish.Denied"),
            .authentication
        ),
        (
            "NetStream.Publish.Rejected", "error", "Authentication required",
            .authenticationFailed(code: "NetStream.Publish.Rejected"), .authentication
        ),
        (
            "NetStream.Publish.Rejected", "error", "live/author-cam is busy",
            .rejected(code: "NetStream.Publish.Rejected"), .transient
        ),
        ("NetStream.Publish.Rejected", "error", "busy", .rejected(code: "NetStream.Publish.Rejected"), .transient),
        ("NetStream.Failed", "error", "", .endedByPeer(code: "NetStream.Failed"), .transient),
        ("NetConnection.Connect.Closed", "status", "", .endedByPeer(code: "NetConnection.Connect.Closed"), .transient),
        ("x\nkey=secret <b>", "error", "", .rejected(code: "xkeysecretb"), .transient),
        ("", "error", "", .rejected(code: "none"), .transient),
    ])
    func `a status is an error with a class`(
        code: String, level: String, text: String, error: RTMPSessionError, retry: RetryClass
    ) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .publish)
        #expect(dialogue.hears(dialogue.peer.status(code, level: level, description: text)).rest == [.closed(error)])
        #expect(error.retry == retry)
    }

    @Test(arguments: [
        "NetStream.Publish.Idle", "NetStream.Unpublish.Success", "NetConnection.Connect.AppShutdown",
        "NetStream.Failed",
    ])
    func `a status while publishing ends the session`(code: String) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        #expect(dialogue.hears(dialogue.peer.status(code)).rest == [.closed(.endedByPeer(code: code))])
    }

    @Test func `a friendly status changes nothing`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        let friendly = dialogue.peer.status("NetStream.Record.Start", description: "access to unauthorized-cam")
        #expect(dialogue.hears(friendly).rest.isEmpty)
        #expect(dialogue.hears(dialogue.peer.status("NetStream.Publish.Start")).rest.isEmpty)
        #expect(dialogue.session.status == .publishing)
    }

    @Test func `Publish Start before publish is not believed`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .createStream)
        #expect(dialogue.hears(dialogue.peer.status("NetStream.Publish.Start")).rest.isEmpty)
        var output: [UInt8] = []
        #expect(!dialogue.session.encode(.video, timestamp: 0, payload: [1], into: &output))
        #expect(output.isEmpty)
    }

    @Test func `nginx-rtmp's refusal of a second publisher is a bad name`() throws {
        let relay = try Fixture("nginx-rtmp-1.2.2-badname").bytes
        var dialogue = try Dialogue()
        _ = dialogue.session.connected(at: 0)
        #expect(dialogue.hears(relay).rest == [.closed(.badName)])
    }

    @Test func `a refused connect`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .connect)
        let refusal = dialogue.peer.status(
            "NetConnection.Connect.Rejected", level: "error", description: "no such application", name: "_error", 1)
        #expect(dialogue.hears(refusal).rest == [.closed(.rejected(code: "NetConnection.Connect.Rejected"))])
    }

    // MARK: Authentication and fourCcList

    @Test func `Adobe authentication takes three connections`() throws {
        let url = "rtmp://cam:secret@relay/live/cam1"
        var first = try Dialogue(url)
        first.advance(to: .connect)
        let needAuth = first.peer.status(
            "NetConnection.Connect.Rejected", level: "error",
            description: "[ AccessManager.Reject ] : [ code=403 need auth; authmod=adobe ] : ", name: "_error", 1)
        guard case .closed(.continueOnNewConnection(let user))? = first.hears(needAuth).rest.first else {
            Issue.record("no second connection")
            return
        }
        #expect(
            try connectCommand(url) { $0.hints = user }.commandObject.objectValue?["app"]
                == .string("live?authmod=adobe&user=cam"))

        var second = try Dialogue(url) { $0.hints = user }
        second.advance(to: .connect)
        let challenge = second.peer.status(
            "NetConnection.Connect.Rejected", level: "error",
            description: "[ authmod=adobe ] : ?reason=needauth&user=cam&salt=salt123&challenge=server456challenge",
            name: "_error", 1)
        let error = try #require(second.hears(challenge).rest.first)
        guard case .closed(.continueOnNewConnection(let response)) = error else {
            Issue.record("no third connection")
            return
        }
        let app = try connectCommand(url) { $0.hints = response }.commandObject.objectValue?["app"]?.stringValue ?? ""
        // The client's challenge is the end of C1 in hexadecimal.
        let own = body(1528).suffix(4).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let expected = AdobeAuthentication.response(
            to: .init(salt: "salt123", challenge: "server456challenge"),
            credentials: .init(user: "cam", password: "secret"),
            clientChallenge: own, digests: Hashes.digests)
        #expect(app == "live?authmod=adobe&user=cam&challenge=\(own)&response=\(expected)")
        #expect(!"\(error)".contains(expected))

        var third = try Dialogue(url) { $0.hints = response }
        third.advance(to: .connect)
        let failed = third.peer.status(
            "NetConnection.Connect.Rejected", level: "error", description: "?reason=authfailed&opaque=x",
            name: "_error", 1)
        #expect(third.hears(failed).rest == [.closed(.authenticationFailed(code: "authfailed"))])
    }

    @Test func `without credentials the demand is final`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .connect)
        let needAuth = dialogue.peer.status(
            "NetConnection.Connect.Rejected", level: "error", description: "code=403 need auth; authmod=adobe",
            name: "_error", 1)
        #expect(dialogue.hears(needAuth).rest == [.closed(.authenticationFailed(code: "needauth"))])
    }

    @Test func `a relay that breaks on fourCcList is asked again without it`() throws {
        func broken(_ act: (inout Dialogue) -> [PublisherSession.Action]) throws -> ConnectHints? {
            var dialogue = try Dialogue { $0.fourCCs = ["hvc1"] }
            dialogue.advance(to: .connect)
            let actions = act(&dialogue)
            guard case .closed(.continueOnNewConnection(let hints))? = actions.last else { return nil }
            return hints
        }
        let ways: [(inout Dialogue) -> [PublisherSession.Action]] = [
            { $0.session.transportClosed(at: 0) }, { $0.session.peerHalfClosed(at: 0) },
            { $0.session.timePassed(at: 5 * second) },
            { $0.hears($0.peer.status("NetConnection.Connect.Rejected", level: "error", name: "_error", 1)).rest },
        ]
        for way in ways {
            let hints = try #require(try broken(way))
            let command = try connectCommand("rtmp://relay/live/cam1") {
                $0.fourCCs = ["hvc1"]
                $0.hints = hints
            }
            #expect(command.commandObject.objectValue?["fourCcList"] == nil)
        }
        // It is tried once: the second refusal counts.
        let hints = try #require(try broken { $0.session.transportClosed(at: 0) })
        var again = try Dialogue {
            $0.fourCCs = ["hvc1"]
            $0.hints = hints
        }
        again.advance(to: .connect)
        #expect(again.session.transportClosed(at: 0) == [.closed(.peerClosed(.connect))])
    }

    // MARK: Deadlines, ends

    @Test(arguments: [SessionPhase.handshake, .connect, .createStream, .publish])
    func `every phase has its deadline`(phase: SessionPhase) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: phase, at: 10 * second)
        #expect(dialogue.session.timePassed(at: 15 * second - 1).isEmpty)
        #expect(dialogue.session.timePassed(at: 15 * second) == [.closed(.timedOut(phase))])
        #expect(dialogue.session.timePassed(at: 16 * second).isEmpty)
    }

    @Test(arguments: [SessionPhase.handshake, .connect, .createStream, .publish, .streaming])
    func `a lost transport says where`(phase: SessionPhase) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: phase)
        #expect(dialogue.session.transportClosed(at: 1) == [.closed(.peerClosed(phase))])
        #expect(dialogue.session.transportClosed(at: 2).isEmpty)
        #expect(dialogue.session.stop(at: 3).isEmpty)
    }

    @Test(arguments: [
        (SessionPhase.handshake, [String]()), (.connect, []), (.createStream, [unpublish]),
        (.publish, [unpublish, "deleteStream 7 7"]), (.streaming, [unpublish, "deleteStream 7 7"]),
    ])
    func `stop is orderly in every state`(phase: SessionPhase, said: [String]) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: phase)
        let result = dialogue.split(dialogue.session.stop(at: 0))
        #expect(result.said == said)
        #expect(result.rest == [.closed(.stopped)])
        #expect(dialogue.session.stop(at: 0).isEmpty)
        #expect(dialogue.session.connected(at: 0).isEmpty || phase == .handshake)
    }

    @Test func `stop before the transport stands`() throws {
        var dialogue = try Dialogue()
        #expect(dialogue.session.stop(at: 0) == [.closed(.stopped)])
        #expect(dialogue.session.connected(at: 1).isEmpty)
    }

    @Test func `a FIN while publishing is half a close`() throws {
        // Twitch half-closes on purpose.
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        #expect(dialogue.session.peerHalfClosed(at: 0).isEmpty)
        var output: [UInt8] = []
        #expect(dialogue.session.encode(.video, timestamp: 0, payload: [1], into: &output))
        #expect(dialogue.session.timePassed(at: 60 * second).isEmpty)
        #expect(dialogue.session.transportClosed(at: 61 * second) == [.closed(.peerClosed(.streaming))])
    }

    @Test(arguments: [SessionPhase.handshake, .connect, .createStream, .publish])
    func `a FIN before that is an end`(phase: SessionPhase) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: phase)
        #expect(dialogue.session.peerHalfClosed(at: 0) == [.closed(.peerClosed(phase))])
    }

    @Test func `bytes that are not RTMP end the session`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .connect)
        #expect(
            dialogue.hears(Chunks.basic(3, 9)).rest
                == [.closed(.protocolViolation(.noPreviousHeader(chunkStreamID: 9, offset: 0)))])
        var http = try Dialogue()
        http.advance(to: .handshake)
        #expect(http.hears(Array("HTTP/1.1 400".utf8)).rest == [.closed(.protocolViolation(.unsupportedVersion(72)))])
        var bomb = try Dialogue()
        bomb.advance(to: .streaming)
        let limit = ChunkLimits.commandsOnly.messageLength
        let error = RTMPError.messageTooLong(length: 0xFF_FFFF, limit: limit, offset: 0)
        var fresh = try Dialogue()
        fresh.advance(to: .connect)
        #expect(fresh.hears(Chunks.absolute(time: 0, length: 0xFF_FFFF)).rest == [.closed(.protocolViolation(error))])
    }

    // MARK: Control

    @Test func `of the pings in one read the last is answered`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        var bytes: [UInt8] = []
        for value in UInt32(1)...1000 { bytes += dialogue.peer.control(.userControl(.pingRequest(value))) }
        #expect(dialogue.hears(bytes).said == ["userControl(RTMP.UserControlEvent.pingResponse(1000))"])
        #expect(
            dialogue.hears(dialogue.peer.control(.userControl(.pingRequest(7)))).said
                == ["userControl(RTMP.UserControlEvent.pingResponse(7))"])
        #expect(dialogue.hears(dialogue.peer.media(.dataAMF0, 0, body(5), stream: 0)).said.isEmpty)
    }

    @Test func `an acknowledgement goes out once per window and read`() throws {
        var dialogue = try Dialogue { $0.windowAcknowledgementSize = 10_000 }
        dialogue.advance(to: .connect)  // 3073 bytes so far
        let filler = dialogue.peer.media(.dataAMF0, 0, body(6000), stream: 0)
        #expect(dialogue.hears(filler).said.isEmpty)
        let received = 3073 + filler.count
        #expect(received < 10_000)
        let more = dialogue.peer.media(.dataAMF0, 0, body(6000), stream: 0)
        #expect(dialogue.hears(more).said == ["acknowledgement(\(received + more.count))"])
        #expect(dialogue.hears(dialogue.peer.control(.windowAcknowledgementSize(100))).said.isEmpty)
        #expect(dialogue.hears(dialogue.peer.control(.windowAcknowledgementSize(0))).said.isEmpty)
        #expect(dialogue.hears(dialogue.peer.media(.dataAMF0, 0, body(500), stream: 0)).said.count == 1)
    }

    @Test func `a bandwidth is answered with a window unless that is known`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .connect)
        let bandwidth = dialogue.peer.control(.setPeerBandwidth(5_000_000, limit: 2))
        #expect(dialogue.hears(bandwidth).said == ["windowAcknowledgementSize(5000000)"])
        #expect(dialogue.hears(dialogue.peer.control(.setPeerBandwidth(5_000_000, limit: 2))).said.isEmpty)
        #expect(dialogue.hears(dialogue.peer.control(.setPeerBandwidth(0, limit: 2))).said.isEmpty)
    }

    @Test func `media goes to its stream on its chunk stream`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        var output: [UInt8] = []
        #expect(dialogue.session.encode(.dataAMF0, timestamp: 0, payload: [1], into: &output))
        #expect(dialogue.session.encode(.audio, timestamp: 20, prefix: [0xAF, 1], payload: [2], into: &output))
        #expect(
            dialogue.session.encode(
                .video, timestamp: 0xFF_FFFF, prefix: [0x17], payload: body(5000)[...], into: &output))
        #expect(output[0] == 5)
        #expect(output[13] & 63 == 4)
        #expect(
            dialogue.peer.read(output) == [
                "18 0 [1] @7", "8 20 [175, 1, 2] @7", "9 16777215 \([0x17] + body(5000)) @7",
            ])
    }

    @Test func `a message that no chunk stream can say is refused`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        var output: [UInt8] = []
        let payload = [UInt8](repeating: 0, count: ChunkWriter.maxMessageLength)
        #expect(!dialogue.session.encode(.video, timestamp: 0, prefix: [1], payload: payload[...], into: &output))
        #expect(output.isEmpty)
    }

    @Test func `a reconnect request is handed on and the session goes on`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        let request = dialogue.peer.status(
            "NetConnection.Connect.ReconnectRequest", more: ["tcUrl": .string("rtmp://b/live")])
        #expect(dialogue.hears(request).rest == [.reconnectRequested(tcURL: "rtmp://b/live")])
        #expect(
            dialogue.hears(dialogue.peer.status("NetConnection.Connect.ReconnectRequest")).rest
                == [.reconnectRequested(tcURL: nil)])
        #expect(dialogue.session.status == .publishing)
    }

    @Test(arguments: [SessionPhase.connect, .createStream])
    func `a reconnect request counts once connect is answered`(phase: SessionPhase) throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: phase)
        let rest = dialogue.hears(dialogue.peer.status("NetConnection.Connect.ReconnectRequest")).rest
        #expect(rest == (phase == .connect ? [] : [.reconnectRequested(tcURL: nil)]))
        #expect(dialogue.session.status == .connecting(phase))
    }

    // MARK: Liveness

    @Test func `pings go out while media flows and their answers are round trips`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        #expect(!dialogue.session.relayAnswersPings)
        let first = dialogue.hears(dialogue.peer.control(.userControl(.pingResponse(2))), at: 6_000_000)
        #expect(first.rest == [.roundTrip(nanoseconds: 6_000_000)])
        #expect(dialogue.session.relayAnswersPings)
        var output: [UInt8] = []
        var pings: [UInt64] = []
        for quarter in UInt64(1)...40 {
            dialogue.session.encode(.video, timestamp: 0, payload: [1], into: &output)
            let now = quarter * second / 4
            let (said, rest) = dialogue.split(dialogue.session.timePassed(at: now))
            #expect(rest.isEmpty)
            if !said.isEmpty { pings.append(now / 1_000_000) }
            dialogue.answer(said, at: now + 1)
        }
        #expect(pings == [1750, 3500, 5250, 7000, 8750])
    }

    @Test(arguments: 0..<8)
    func `a frozen relay is noticed within 5 s`(phase: Int) throws {
        // Its kernel still acknowledges for a while, then stops: SIGSTOP.
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        _ = dialogue.hears(dialogue.peer.control(.userControl(.pingResponse(2))), at: 1)
        var output: [UInt8] = []
        var died: UInt64?
        let frozen = 20 * second + 7 + UInt64(phase) * 7 * second / 32
        for tick in UInt64(1)...200 where died == nil {
            let now = tick * second / 4 + UInt64(phase) * second / 32
            dialogue.session.encode(.video, timestamp: 0, payload: [1], into: &output)
            if now < frozen + second / 2 { dialogue.session.bytesAcknowledged(at: now) }
            let (said, rest) = dialogue.split(dialogue.session.timePassed(at: now))
            if now < frozen { dialogue.answer(said, at: now) }
            if case .closed(let error)? = rest.last {
                died = now
                #expect(error.retry == .transient)
            }
        }
        let noticed = try #require(died)
        #expect(noticed > frozen && noticed - frozen <= 5 * second)
    }

    /// The driver's looks fall anywhere between its two last ones; TCP goes on taking every byte, as the kernel of a
    /// stopped process does for 7.5 s at 60 kbit/s: only the pings can show it.
    @Test(arguments: UInt64(0)..<10, [true, false])
    func `a relay that freezes as soon as it has said Publish Start is noticed by its pings within 5 s`(
        phase: UInt64, mediaFlows: Bool
    ) throws {
        let look = second / 4
        let frozen = 100 * second
        var dialogue = try Dialogue()
        dialogue.advance(to: .createStream, at: frozen)
        #expect(!dialogue.session.relayAnswersPings)
        let answers =
            dialogue.peer.command("_result", 4, .number(7)) + dialogue.peer.control(.userControl(.pingResponse(1)))
        #expect(dialogue.hears(answers, at: frozen).rest == [.roundTrip(nanoseconds: 0)])
        #expect(dialogue.session.relayAnswersPings, "known before the first frame")
        let start = dialogue.peer.status("NetStream.Publish.Start", stream: 7)
        #expect(dialogue.hears(start, at: frozen).rest == [.published])

        var written: UInt64 = 1000  // so much for the handshake and the commands
        var verdict: (error: RTMPSessionError, at: UInt64)?
        for tick in UInt64(0)..<40 where verdict == nil {
            let now = frozen + phase * look / 10 + tick * look
            var output: [UInt8] = []
            if mediaFlows {
                dialogue.session.encode(.video, timestamp: 0, payload: body(500)[...], into: &output)
                written += UInt64(output.count)
                dialogue.session.bytesWritten(at: now)
            }
            dialogue.session.transportObserved(acknowledged: written, written: written, at: now)
            dialogue.session.bytesAcknowledged(outstanding: false, at: now)
            for action in dialogue.session.timePassed(at: now) {
                switch action {
                case .write(let bytes): written += UInt64(bytes.count)
                case .closed(let error): verdict = (error, now)
                case .published, .reconnectRequested, .roundTrip: Issue.record("\(action)")
                }
            }
        }
        let noticed = try #require(verdict)
        #expect(noticed.error == .pingUnanswered(nanoseconds: noticed.at - frozen))
        #expect(noticed.at - frozen <= 5 * second)
    }

    @Test func `a relay that answers no early ping is asked again`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .publish)
        let (said, rest) = dialogue.hears(dialogue.peer.status("NetStream.Publish.Start", stream: 7), at: 3 * second)
        #expect(said == [ping(2)])
        #expect(rest == [.published])
        // The second answer speaks for the first ping as well.
        let answer = dialogue.peer.control(.userControl(.pingResponse(2)))
        #expect(dialogue.hears(answer, at: 4 * second).rest == [.roundTrip(nanoseconds: second)])
        #expect(dialogue.split(dialogue.session.timePassed(at: 12 * second)).rest.isEmpty)
    }

    @Test func `a relay that never answers pings lives as long as TCP moves`() throws {
        var dialogue = try Dialogue()
        dialogue.advance(to: .streaming)
        var output: [UInt8] = []
        for tick in UInt64(1)...400 {
            dialogue.session.encode(.video, timestamp: 0, payload: [1], into: &output)
            dialogue.session.bytesAcknowledged(at: tick * second / 4)
            #expect(dialogue.split(dialogue.session.timePassed(at: tick * second / 4)).rest.isEmpty)
        }
        #expect(dialogue.split(dialogue.session.timePassed(at: 103 * second)).rest.isEmpty)
        #expect(dialogue.session.timePassed(at: 104 * second) == [.closed(.stalled(nanoseconds: 4 * second))])
    }

    // MARK: Hostile relays

    @Test(arguments: 0..<UInt64(48))
    func `a damaged relay ends in a typed error or goes on`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let names = ["nginx-rtmp-1.2.2-to-publisher", "nginx-rtmp-1.2.2-badname"]
        for _ in 0..<4 {
            var bytes = try Fixture(names.randomElement(using: &random)!).bytes
            for _ in 0..<8 {
                let index = Int.random(in: 3073..<bytes.count, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            var session = try Dialogue().session
            _ = session.connected(at: 0)
            var closed = 0
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = min(Int.random(in: 1...900, using: &random), rest.count)
                for action in session.received(rest.prefix(count), at: 0) {
                    if case .closed = action { closed += 1 }
                }
                rest = rest.dropFirst(count)
            }
            #expect(closed == (session.status == .closed ? 1 : 0))
        }
    }
}
