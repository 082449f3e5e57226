import Testing

@testable import RTSP

/// What cameras do beside the specification (failures 10, 18 and 19 of docs/design/0008, and more of their kind).
struct QuirkTests {
    /// To SETUP's answer, for one medium.
    static func setUp(_ headers: [String]) throws -> Dialogue {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.answer()
        dialogue.answer("200 OK", ["Content-Base: rtsp://camera.test/cam/"], body: Descriptions.video)
        dialogue.answer("200 OK", headers)
        return dialogue
    }

    // MARK: Headers

    @Test func `odd blanks and case`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.hear("RTSP/1.0 200OK\r\nCseq:   1 \r\nPUBLIC:OPTIONS,GET_PARAMETER\r\n\r\n")
        dialogue.hear(
            "\r\nRTSP/1.0  200  OK \r\ncseq:2\r\ncontent-BASE : rtsp://camera.test/cam/  \r\nContent-length:  \(Descriptions.video.utf8.count) \r\n\r\n"
                + Descriptions.video)
        dialogue.hear(
            "RTSP/1.0 200 OK\nCSEQ: 3\nsession: 77 ; timeout = 60 \ntransport: RTP/AVP/TCP ; unicast ; interleaved = 4 - 5 ;ssrc= 22345682\n\n"
        )
        dialogue.hear("RTSP/1.0 200 OK\r\nCseq: 4\r\n  \r\n\r\n")
        #expect(dialogue.session.isPlaying)
        #expect(dialogue.session.facts.brokenCSeq == 0)
        #expect(dialogue.session.facts.methods == ["OPTIONS", "GET_PARAMETER"])
        #expect(dialogue.session.facts.sessionTimeout == 60)
        #expect(dialogue.last.header("Session") == "77")
        #expect(
            dialogue.done.contains(
                .setUp(media: 0, MediaTransport(delivery: .interleaved(rtp: 4, rtcp: 5), source: 0x2234_5682))))
    }

    @Test(arguments: ["", "CSeq: 0\r\n", "CSeq: x\r\n", "CSeq: 99999999999999999999\r\n"])
    func `no CSeq or a wrong one is taken in order and counted`(line: String) throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        let length = Descriptions.video.utf8.count
        for answer in ["\r\n", "Content-Length: \(length)\r\n\r\n\(Descriptions.video)", "Session: 1\r\n\r\n", "\r\n"] {
            dialogue.hear("RTSP/1.0 200 OK\r\n\(line)\(answer)")
        }
        #expect(dialogue.session.isPlaying)
        #expect(dialogue.session.facts.brokenCSeq == 4)
    }

    @Test func `an answer to nothing, and one that promises another`() throws {
        var dialogue = try Dialogue()
        dialogue.play()
        _ = dialogue.actions()
        dialogue.hear("RTSP/1.0 200 OK\r\nCSeq: 3\r\n\r\n")
        #expect(dialogue.session.facts.unexpectedAnswers == 1)
        #expect(dialogue.session.isPlaying)
        var waiting = try Dialogue()
        waiting.connect()
        waiting.answer("100 Continue")
        #expect(waiting.said.count == 1)
        waiting.answer()
        #expect(waiting.last.method == "DESCRIBE")
    }

    @Test(
        arguments: [
            ([], "rtsp://camera.test/cam/track1"),
            (["Content-Base: rtsp://camera.test/other/"], "rtsp://camera.test/other/track1"),
            (["Content-Base: camera.test:554/other/"], "rtsp://camera.test/other/track1"),
            (["Content-Base: rtsp://camera.test/a/, rtsp://camera.test/a/"], "rtsp://camera.test/a/track1"),
            (
                ["Content-Base: rtsp://camera.test/a/", "Content-Base: rtsp://camera.test/b/"],
                "rtsp://camera.test/a/track1"
            ),
            (["Content-Base:"], "rtsp://camera.test/cam/track1"),
            (["Content-Base: nonsense"], "rtsp://camera.test/cam/track1"),
            (["Content-Location: rtsp://camera.test/located/"], "rtsp://camera.test/located/track1"),
            (["Content-Base: rtsp://admin:pw@camera.test/cam/"], "rtsp://camera.test/cam/track1"),
        ] as [([String], String)])
    func `the base of controls`(headers: [String], url: String) throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.answer()
        dialogue.answer("200 OK", headers, body: Descriptions.video)
        #expect(dialogue.last.url == url)
    }

    @Test func `a medium without control is the presentation`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.answer()
        dialogue.answer("200 OK", [], body: "v=0\r\na=control:rtsp://camera.test/all\r\nm=video 0 RTP/AVP 26\r\n")
        #expect(dialogue.last.start == "SETUP rtsp://camera.test/all RTSP/1.0")
        dialogue.answer()
        #expect(dialogue.last.start == "PLAY rtsp://camera.test/all RTSP/1.0")
        #expect(dialogue.last.header("Session") == nil)
    }

    // MARK: Transport and session

    @Test(
        arguments: [
            ("RTP/AVP/TCP;unicast;interleaved=4-5", 4, 5), ("RTP/AVP/TCP;unicast;interleaved=9-3", 9, 3),
            ("RTP/AVP;unicast;interleaved=0-1", 0, 1), ("RTP/AVP/TCP;unicast;interleaved=6", 6, 7),
            ("RTP/AVP/TCP;unicast", 0, 1), ("RTP/AVP/TCP;interleaved=300-301", 0, 1),
            ("RTP/AVP/TCP;interleaved=x", 0, 1),
            ("RTP/AVP/TCP;interleaved=5-5", 0, 1), ("RTP/AVP/TCP;interleaved=255", 0, 1), ("", 0, 1),
            ("RTP/AVP;unicast;client_port=0-1;interleaved=2-3;server_port=6970-6971", 2, 3),
            ("RTP/AVP/TCP;unicast;interleaved=4-5,RTP/AVP;unicast", 4, 5),
        ] as [(String, UInt8, UInt8)])
    func `other channels than asked for`(transport: String, rtp: UInt8, rtcp: UInt8) throws {
        var dialogue = try Self.setUp(["Session: 1", "Transport: \(transport)"])
        guard case .setUp(0, let agreed)? = dialogue.done.last else {
            Issue.record("not set up: \(dialogue.done)")
            return
        }
        #expect(agreed.delivery == .interleaved(rtp: rtp, rtcp: rtcp))
        dialogue.answer()
        _ = dialogue.actions()
        dialogue.hear(frame(rtp, packet(1)) + frame(rtcp, packet(2)) + frame(77, packet(3)))
        #expect(
            dialogue.actions() == [
                .media(index: 0, isControl: false, packet(1)[...]), .media(index: 0, isControl: true, packet(2)[...]),
            ])
        #expect(dialogue.session.facts.unknownChannelPackets == 1)
        #expect(dialogue.session.frameToSend(media: 0, isControl: true, [1, 2]) == [0x24, rtcp, 0, 2, 1, 2])
        #expect(dialogue.session.frameToSend(media: 0, isControl: false, []) == [0x24, rtp, 0, 0])
        #expect(dialogue.session.frameToSend(media: 1, isControl: false, [1]) == nil)
        #expect(dialogue.session.frameToSend(media: 0, isControl: true, [UInt8](repeating: 0, count: 65_536)) == nil)
    }

    @Test(arguments: [
        "RTP/AVP;unicast;client_port=0-1;server_port=6970-6971", "RTP/AVP/UDP;unicast",
        "RTP/AVP;multicast;destination=239.1.1.1;port=1-2",
    ])
    func `another transport than asked for is refused, and the session given up`(transport: String) throws {
        let dialogue = try Self.setUp(["Session: 9", "Transport: \(transport)"])
        #expect(dialogue.failure == .transportRefused)
        #expect(dialogue.last.method == "TEARDOWN")
        #expect(dialogue.last.header("Session") == "9")
    }

    @Test func `two media on the same channels are kept apart as asked for`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.answer()
        dialogue.answer(body: Descriptions.videoAndAudio)
        dialogue.answer("200 OK", ["Session: 1", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"])
        dialogue.answer("200 OK", ["Session: 1", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"])
        #expect(
            dialogue.done.last
                == .setUp(media: 1, MediaTransport(delivery: .interleaved(rtp: 2, rtcp: 3), source: nil)))
    }

    @Test func `the newest session identifier counts`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.answer()
        dialogue.answer(body: Descriptions.videoAndAudio)
        dialogue.answer("200 OK", ["Session: first;timeout=20"])
        #expect(dialogue.last.header("Session") == "first")
        dialogue.answer("200 OK", ["Session: second"])
        #expect(dialogue.last.header("Session") == "second")
        #expect(dialogue.session.facts.sessionTimeout == 20)
        dialogue.answer("200 OK", ["Session: third"])
        dialogue.note(dialogue.session.tearDown(at: 0))
        #expect(dialogue.last.header("Session") == "third")
    }

    @Test(
        arguments: [
            ("1;timeout=0", nil), ("1;timeout=-5", nil), ("1;timeout=99999999999999999999", nil), ("1;timeout", nil),
            ("1;timeout=4.5", 4), ("1;timeout=30s", 30), ("1;foo=1; Timeout = \"20\"", 20),
            ("1;timeout=999999999", 86_400),
        ] as [(String, Int?)])
    func `a session's time to live`(header: String, seconds: Int?) throws {
        let dialogue = try Self.setUp(["Session: \(header)"])
        #expect(dialogue.last.header("Session") == "1")
        #expect(dialogue.session.facts.sessionTimeout == seconds)
    }

    @Test func `a session identifier that would break a header is ignored`() throws {
        for name in ["", " ", "a\u{1}b", String(repeating: "x", count: 513), "ä"] {
            let dialogue = try Self.setUp(["Session: \(name)"])
            #expect(dialogue.last.method == "PLAY")
            #expect(dialogue.last.header("Session") == nil)
        }
    }

    // MARK: Packets

    @Test func `packets before PLAY's answer are passed on`() throws {
        var dialogue = try Self.setUp(["Session: 1"])
        _ = dialogue.actions()
        dialogue.hear(frame(0, packet(1)) + Array(dialogue.reply().utf8) + frame(0, packet(2)))
        #expect(
            dialogue.actions() == [
                .media(index: 0, isControl: false, packet(1)[...]), .playing([]),
                .media(index: 0, isControl: false, packet(2)[...]),
            ])
        #expect(dialogue.session.facts.earlyPackets == 1)
    }

    @Test func `packets of an old session are dropped and counted`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.hear(frame(0, packet(1, length: 1400)) + frame(1, packet(2)))
        dialogue.hear(frame(0, packet(3)) + Array(dialogue.reply().utf8))
        #expect(dialogue.last.method == "DESCRIBE")
        #expect(dialogue.actions().isEmpty)
        #expect(dialogue.session.facts.unknownChannelPackets == 3)
    }

    @Test(
        arguments: [
            ("url=track1;seq=5;rtptime=6", 5, 6), ("url=rtsp://other.host/x/track1;seq=5", 5, nil),
            ("seq=5;rtptime=6", 5, 6), ("url=rtsp://camera.test/a,b;seq=5;rtptime=6", 5, 6),
            ("url=\"rtsp://camera.test/cam/track1\" ; seq = 5 ; rtptime = 6", 5, 6),
            ("url=rtsp://camera.test/cam/track1;seq=99999;rtptime=3", nil, 3),
            ("url=rtsp://camera.test/cam/track1;rtptime=4294967296;seq=0", 0, nil),
        ] as [(String, UInt16?, UInt32?)])
    func `RTP-Info in its forms`(header: String, sequence: UInt16?, timestamp: UInt32?) throws {
        var dialogue = try Dialogue()
        dialogue.play(playHeaders: ["RTP-Info: \(header)"])
        #expect(
            dialogue.done.last == .playing([PlayInformation(media: 0, sequence: sequence, timestamp: timestamp)]))
    }

    @Test func `RTP-Info that says nothing of ours`() throws {
        for header in ["", ",,", "seq", "url=a;seq=1,url=b;seq=2", "url=track1;seq=99999;rtptime=-3", ";;;"] {
            var dialogue = try Dialogue()
            dialogue.play(playHeaders: ["RTP-Info: \(header)"])
            #expect(dialogue.done.last == .playing([]))
        }
    }

    // MARK: Requests of the camera

    @Test func `the camera's own requests are answered`() throws {
        var dialogue = try Dialogue()
        dialogue.play()
        _ = dialogue.requests()
        for (method, status) in [
            ("OPTIONS", "200 OK"), ("SET_PARAMETER", "200 OK"), ("GET_PARAMETER", "200 OK"),
            ("ANNOUNCE", "501 Not Implemented"), ("RECORD", "501 Not Implemented"), ("REDIRECT", "200 OK"),
        ] {
            dialogue.hear("\(method) rtsp://camera.test/cam RTSP/1.0\r\nCSeq: 42\r\nContent-Length: 3\r\n\r\nabc")
            let answer = dialogue.requests().first
            #expect(answer?.start == "RTSP/1.0 \(status)")
            #expect(answer?.header("CSeq") == "42")
        }
        #expect(dialogue.session.isPlaying)
        #expect(dialogue.session.facts.serverRequests == 6)
        #expect(dialogue.session.facts.discardedBytes == 0)
    }

    @Test func `a flood of them is not`() throws {
        var dialogue = try Dialogue()
        dialogue.play()
        _ = dialogue.requests()
        let flood = String(repeating: "OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n", count: 1000)
        dialogue.hear(flood, at: 5 * second)
        #expect(dialogue.requests().count == 32)
        dialogue.hear(flood, at: 6 * second)
        #expect(dialogue.requests().count == 32)
        #expect(dialogue.session.isPlaying)
    }

    @Test func `REDIRECT and TEARDOWN of the camera end the session`() throws {
        var moved = try Dialogue()
        moved.play()
        moved.hear("REDIRECT * RTSP/1.0\r\nCSeq: 1\r\nLocation: rtsp://camera.test:8554/cam\r\n\r\n")
        #expect(moved.done.last == .redirected(try RTSPURL("rtsp://camera.test:8554/cam")))
        #expect(moved.last.method == "TEARDOWN")
        var ended = try Dialogue()
        ended.play()
        _ = ended.requests()
        ended.hear("TEARDOWN * RTSP/1.0\r\nCSeq: 1\r\n\r\n")
        #expect(ended.failure == .closed(method: nil))
        #expect(ended.requests().map(\.start) == ["RTSP/1.0 200 OK"])
    }

    @Test(arguments: [true, false])
    func `of two sessions PLAY is asked with the newest, and on 454 once with the first`(isKnown: Bool) throws {
        // H264DVR 1.0 knows the first one; others, the newest.
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.answer("200 OK", ["Public: OPTIONS, DESCRIBE, SETUP, PLAY"])
        dialogue.answer("200 OK", ["Content-Base: rtsp://camera.test/cam/"], body: Descriptions.videoAndAudio)
        dialogue.answer("200 OK", ["Session: FIRST", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"])
        dialogue.answer("200 OK", ["Session: SECOND", "Transport: RTP/AVP/TCP;unicast;interleaved=2-3"])
        #expect(dialogue.last.method == "PLAY")
        #expect(dialogue.last.header("Session") == "SECOND")
        dialogue.answer("454 Session Not Found")
        #expect(dialogue.last.method == "PLAY")
        #expect(dialogue.last.header("Session") == "FIRST")
        guard isKnown else {
            dialogue.answer("454 Session Not Found")
            #expect(dialogue.failure == .refused(method: "PLAY", status: 454, reason: "Session Not Found"))
            #expect(dialogue.said.filter { $0.method == "PLAY" }.count == 2)
            return
        }
        dialogue.answer("200 OK", [])
        #expect(dialogue.session.isPlaying)
        dialogue.note(dialogue.session.tearDown(at: second))
        #expect(dialogue.last.header("Session") == "FIRST")
    }

    @Test func `454 to PLAY of an only session is final`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.answer("200 OK", [])
        dialogue.answer("200 OK", [], body: Descriptions.video)
        dialogue.answer("200 OK", ["Session: ONE", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1"])
        dialogue.answer("454 Session Not Found")
        #expect(dialogue.failure == .refused(method: "PLAY", status: 454, reason: "Session Not Found"))
    }

    @Test(arguments: ["RTP/SAVP", "RTP/SAVPF", "UDP/TLS/RTP/SAVPF"])
    func `video as SRTP is named as what it is`(profile: String) throws {
        var dialogue = try Dialogue { configuration in
            configuration.select = { $0.media.contains { !$0.isSRTP } ? [0] : nil }
        }
        dialogue.connect()
        dialogue.answer("200 OK", [])
        dialogue.answer(
            "200 OK", [], body: Descriptions.lines("v=0", "m=video 0 \(profile) 96", "a=rtpmap:96 H264/90000"))
        #expect(dialogue.failure == .encryptedMedia(profile: profile))
        #expect("\(RTSPFailure.encryptedMedia(profile: profile))".contains("SRTP (\(profile))"))
    }
}
