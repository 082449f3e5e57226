import Testing

@testable import RTSP

struct RTSPSessionTests {
    @Test func `the order of a viewer`() throws {
        var dialogue = try Dialogue()
        #expect(dialogue.session.nextDeadline == nil)
        dialogue.connect()
        #expect(
            dialogue.last.text
                == "OPTIONS rtsp://camera.test/cam RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: WatchBox/test\r\n\r\n")
        dialogue.answer("200 OK", ["Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER", "Server: Cam/1.0 (x)"])
        #expect(dialogue.last.start == "DESCRIBE rtsp://camera.test/cam RTSP/1.0")
        #expect(dialogue.last.header("Accept") == "application/sdp")
        dialogue.answer("200 OK", ["Content-Base: rtsp://camera.test/cam/"], body: Descriptions.videoAndAudio)
        guard case .described(let description)? = dialogue.actions().first else {
            Issue.record("not described")
            return
        }
        #expect(description.media.map(\.kind) == ["video", "audio"])
        #expect(dialogue.last.start == "SETUP rtsp://camera.test/cam/track1 RTSP/1.0")
        #expect(dialogue.last.header("Transport") == "RTP/AVP/TCP;unicast;interleaved=0-1")
        #expect(dialogue.last.header("Session") == nil)
        dialogue.answer(
            "200 OK", ["Session: ABC;timeout=30", "Transport: RTP/AVP/TCP;unicast;interleaved=0-1;ssrc=22345682"])
        #expect(
            dialogue.actions() == [
                .setUp(media: 0, MediaTransport(delivery: .interleaved(rtp: 0, rtcp: 1), source: 0x2234_5682))
            ])
        #expect(dialogue.last.start == "SETUP rtsp://camera.test/cam/track2 RTSP/1.0")
        #expect(dialogue.last.header("Transport") == "RTP/AVP/TCP;unicast;interleaved=2-3")
        #expect(dialogue.last.header("Session") == "ABC")
        dialogue.answer("200 OK", ["Session: ABC;timeout=30", "Transport: RTP/AVP/TCP;unicast;interleaved=2-3"])
        #expect(dialogue.last.start == "PLAY rtsp://camera.test/cam/ RTSP/1.0")
        #expect(dialogue.last.header("Range") == "npt=0.000-")
        #expect(dialogue.last.header("Session") == "ABC")
        #expect(!dialogue.session.isPlaying)
        let info =
            "url=rtsp://camera.test/cam/track2;seq=7;rtptime=4294967295,url=rtsp://camera.test/cam/track1;seq=65535;rtptime=0"
        dialogue.answer("200 OK", ["Session: ABC", "RTP-Info: \(info)"], at: second)
        #expect(dialogue.session.isPlaying)
        #expect(
            dialogue.actions().last
                == .playing([
                    PlayInformation(media: 1, sequence: 7, timestamp: 4_294_967_295),
                    PlayInformation(media: 0, sequence: 65_535, timestamp: 0),
                ]))
        #expect(dialogue.session.nextDeadline == 16 * second)
        dialogue.hear(frame(0, packet(1)) + frame(3, packet(2)))
        #expect(
            dialogue.actions() == [
                .media(index: 0, isControl: false, packet(1)[...]), .media(index: 1, isControl: true, packet(2)[...]),
            ])
        dialogue.note(dialogue.session.tearDown(at: 2 * second))
        #expect(dialogue.last.start == "TEARDOWN rtsp://camera.test/cam/ RTSP/1.0")
        #expect(dialogue.last.header("Session") == "ABC")
        #expect(dialogue.last.header("CSeq") == "6")
        #expect(dialogue.actions() == [.ended])
        #expect(dialogue.said.allSatisfy { $0.header("User-Agent") == "WatchBox/test" })
        let facts = dialogue.session.facts
        #expect(facts.server == "Cam/1.0 (x)")
        #expect(facts.methods.contains("GET_PARAMETER"))
        #expect(facts.authentication == "none")
        #expect(facts.sessionTimeout == 30)
        #expect(facts.brokenCSeq == 0 && facts.unknownChannelPackets == 0 && facts.earlyPackets == 0)
    }

    @Test func `after the end nothing happens any more`() throws {
        var dialogue = try Dialogue()
        dialogue.play()
        dialogue.note(dialogue.session.tearDown(at: 0))
        _ = dialogue.requests()
        _ = dialogue.actions()
        dialogue.answer()
        dialogue.hear(frame(0, packet(1)))
        dialogue.note(dialogue.session.ticked(at: 1000 * second))
        dialogue.note(dialogue.session.connectionClosed(at: 0))
        dialogue.note(dialogue.session.tearDown(at: 0))
        dialogue.note(dialogue.session.connected(at: 0))
        #expect(dialogue.requests().isEmpty)
        #expect(dialogue.actions().isEmpty)
        #expect(dialogue.session.nextDeadline == nil)
        #expect(!dialogue.session.isPlaying)
        #expect(dialogue.session.frameToSend(media: 0, isControl: true, [1]) == nil)
    }

    @Test func `describing takes none of the camera's streams`() throws {
        var dialogue = try Dialogue { $0.purpose = .describe }
        dialogue.connect()
        dialogue.answer()
        dialogue.answer("200 OK", [], body: Descriptions.video)
        guard case .described = dialogue.actions().first else {
            Issue.record("not described")
            return
        }
        #expect(dialogue.done.last == .ended)
        #expect(dialogue.said.map(\.method) == ["OPTIONS", "DESCRIBE"])
    }

    @Test func `OPTIONS may be refused in any way`() throws {
        for status in [
            "401 Unauthorized", "404 Not Found", "501 Not Implemented", "454 Session Not Found", "302 Found",
        ] {
            var dialogue = try Dialogue()
            dialogue.connect()
            dialogue.answer(status, ["WWW-Authenticate: Basic realm=\"x\""])
            #expect(dialogue.last.method == "DESCRIBE")
            #expect(dialogue.last.header("Authorization") == nil)
        }
    }

    @Test func `back channels and media that do not exist are never set up`() throws {
        var dialogue = try Dialogue { $0.select = { _ in [2, 7, -1, 0, 0, 1] } }
        dialogue.connect()
        dialogue.answer()
        dialogue.answer("200 OK", ["Content-Base: rtsp://camera.test/cam/"], body: Descriptions.backChannel)
        dialogue.answer("200 OK", ["Session: 1"])
        dialogue.answer("200 OK", ["Session: 1"])
        dialogue.answer("200 OK", ["Session: 1"])
        #expect(
            dialogue.said.filter { $0.method == "SETUP" }.map(\.url)
                == ["rtsp://camera.test/cam/track1", "rtsp://camera.test/cam/track2"])
        #expect(dialogue.session.isPlaying)
    }

    @Test func `only what is not taken`() throws {
        for select in [{ _ in nil }, { _ in [] }] as [@Sendable (SessionDescription) -> [Int]?] {
            var dialogue = try Dialogue { $0.select = select }
            dialogue.connect()
            dialogue.answer()
            dialogue.answer(body: "v=0\r\nm=video 0 RTP/AVP 99\r\na=rtpmap:99 VP8/90000\r\nm=audio 0 RTP/AVP 0\r\n")
            #expect(dialogue.failure == .noSupportedMedia(offered: ["VP8"]))
            #expect(dialogue.said.map(\.method) == ["OPTIONS", "DESCRIBE"])
        }
    }

    @Test func `audio that the camera refuses leaves the frame`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.answer()
        dialogue.answer("200 OK", ["Content-Base: rtsp://camera.test/cam/"], body: Descriptions.videoAndAudio)
        dialogue.answer("200 OK", ["Session: 1"])
        dialogue.answer("500 Internal Server Error")
        #expect(dialogue.last.method == "PLAY")
        dialogue.answer()
        #expect(dialogue.session.isPlaying)
        #expect(dialogue.session.facts.refusedMedia == [1])
    }

    @Test func `no range for a camera that wants none`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.answer()
        dialogue.answer(body: Descriptions.video)
        dialogue.answer("200 OK", ["Session: 1"])
        dialogue.answer("457 Invalid Range")
        #expect(dialogue.last.method == "PLAY")
        #expect(dialogue.last.header("Range") == nil)
        dialogue.answer("457 Invalid Range")
        #expect(dialogue.failure == .refused(method: "PLAY", status: 457, reason: "Invalid Range"))
        #expect(dialogue.last.method == "TEARDOWN")
    }

    // MARK: Answers that refuse

    @Test(
        arguments: [
            ("403 Forbidden", [], .forbidden), ("404 Not Found", [], .noSuchStream), ("410 Gone", [], .noSuchStream),
            ("453 Not Enough Bandwidth", [], .busy(status: 453, retryAfterSeconds: nil)),
            ("503 Service Unavailable", ["Retry-After: 17"], .busy(status: 503, retryAfterSeconds: 17)),
            ("503 x", ["Retry-After: Fri, 31 Dec 1999 23:59:59 GMT"], .busy(status: 503, retryAfterSeconds: nil)),
            ("503 x", ["Retry-After: 99999999999"], .busy(status: 503, retryAfterSeconds: 86_400)),
            ("461 Unsupported Transport", [], .transportRefused),
            ("500 Oh\u{1B}[2J no", [], .refused(method: "*", status: 500, reason: "Oh[2J no")),
            ("505", [], .refused(method: "*", status: 505, reason: "")),
        ] as [(String, [String], RTSPFailure)])
    func `a refusal has its class in each phase`(status: String, headers: [String], failure: RTSPFailure) throws {
        for phase in 1...3 {
            var dialogue = try Dialogue()
            dialogue.connect()
            dialogue.answer()
            if phase > 1 { dialogue.answer(body: Descriptions.video) }
            if phase > 2 { dialogue.answer("200 OK", ["Session: 1"]) }
            let method = dialogue.last.method
            dialogue.answer(status, headers)
            var expected = failure
            if case .refused(_, let code, let reason) = failure {
                expected = .refused(method: method, status: code, reason: reason)
            }
            #expect(dialogue.failure == expected)
            #expect((dialogue.last.method == "TEARDOWN") == (phase > 2))
        }
    }

    @Test(
        arguments: [
            ("rtsp://camera.test/other", true, "rtsp://camera.test/other", nil),
            ("rtsp://CAMERA.test:8554/other", true, "rtsp://CAMERA.test:8554/other", nil),
            ("rtsp://admin:pw@camera.test/other", true, "rtsp://camera.test/other", nil),
            ("/other?x", true, "rtsp://camera.test/other?x", nil),
            (
                "rtsp://camera.test/other", false, nil,
                .refused(method: "DESCRIBE", status: 302, reason: "a redirect behind a redirect")
            ),
            ("rtsp://elsewhere.test/cam", true, nil, .redirectElsewhere(host: "elsewhere.test")),
            (
                "//elsewhere.test/cam", true, nil,
                .refused(method: "DESCRIBE", status: 302, reason: "a redirect without a usable address")
            ),
            (
                "http://camera.test/", true, nil,
                .refused(method: "DESCRIBE", status: 302, reason: "a redirect without a usable address")
            ),
        ] as [(String, Bool, String?, RTSPFailure?)])
    func `a redirect is followed to the same host once`(
        location: String, follows: Bool, target: String?, failure: RTSPFailure?
    ) throws {
        var dialogue = try Dialogue { $0.followsRedirect = follows }
        dialogue.connect()
        dialogue.answer()
        dialogue.answer("302 Found", ["Location: \(location)"])
        if let target { #expect(dialogue.done.last == .redirected(try RTSPURL(target))) }
        #expect(dialogue.failure == failure)
    }

    @Test func `a redirect never leaves TLS`() throws {
        var dialogue = try Dialogue("rtsps://camera.test/cam")
        dialogue.connect()
        dialogue.answer()
        dialogue.answer("302 Found", ["Location: rtsp://camera.test/cam"])
        #expect(
            dialogue.failure
                == .refused(method: "DESCRIBE", status: 302, reason: "a redirect to an address without TLS"))
    }

    // MARK: Time

    @Test func `each answer has its deadline`() throws {
        for phase in 0...3 {
            var dialogue = try Dialogue()
            dialogue.connect(at: second)
            if phase > 0 { dialogue.answer(at: second) }
            if phase > 1 { dialogue.answer(body: Descriptions.video, at: second) }
            if phase > 2 { dialogue.answer("200 OK", ["Session: 1"], at: second) }
            #expect(dialogue.session.nextDeadline == 6 * second)
            dialogue.note(dialogue.session.ticked(at: 6 * second - 1))
            #expect(dialogue.failure == nil)
            dialogue.note(dialogue.session.ticked(at: 6 * second))
            #expect(dialogue.failure == .timeout(method: ["OPTIONS", "DESCRIBE", "SETUP", "PLAY"][phase]))
            #expect((dialogue.last.method == "TEARDOWN") == (phase == 3))
        }
    }

    @Test func `slow answers together have one deadline`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(at: 0)
        dialogue.answer(at: 4 * second)
        dialogue.answer(body: Descriptions.video, at: 8 * second)
        dialogue.answer("200 OK", ["Session: 1"], at: 12 * second)
        #expect(dialogue.session.nextDeadline == 15 * second)
        dialogue.note(dialogue.session.ticked(at: 15 * second))
        #expect(dialogue.failure == .timeout(method: "PLAY"))
    }

    @Test func `frames do not stand for an answer`() throws {
        var dialogue = try Dialogue()
        dialogue.connect(at: 0)
        for tick in 0..<5 { dialogue.hear(frame(0, packet(tick)), at: UInt64(tick) * second) }
        dialogue.note(dialogue.session.ticked(at: 5 * second))
        #expect(dialogue.failure == .timeout(method: "OPTIONS"))
        #expect(dialogue.session.facts.unknownChannelPackets == 5)
    }

    @Test func `a closed connection names the request that waited`() throws {
        var dialogue = try Dialogue()
        dialogue.connect()
        dialogue.answer()
        dialogue.note(dialogue.session.connectionClosed(at: 0))
        #expect(dialogue.failure == .closed(method: "DESCRIBE"))
        var playing = try Dialogue()
        playing.play()
        _ = playing.requests()
        playing.note(playing.session.connectionClosed(at: 0))
        #expect(playing.failure == .closed(method: nil))
        #expect(playing.requests().isEmpty)
    }

    // MARK: UDP and multicast

    @Test func `UDP waits for ports`() throws {
        var dialogue = try Dialogue { $0.transport = .udp }
        dialogue.connect()
        dialogue.answer()
        dialogue.answer(body: Descriptions.videoAndAudio)
        #expect(dialogue.actions().last == .needsPorts(media: 0))
        #expect(dialogue.session.nextDeadline == 15 * second)
        #expect(dialogue.session.portsBound(media: 1, rtp: 1, rtcp: 2, at: 0).isEmpty)
        dialogue.note(dialogue.session.portsBound(media: 0, rtp: 40_000, rtcp: 40_001, at: 0))
        #expect(dialogue.last.header("Transport") == "RTP/AVP;unicast;client_port=40000-40001")
        dialogue.answer(
            "200 OK",
            [
                "Session: 1",
                "Transport: RTP/AVP;unicast;client_port=40000-40001;server_port=6256-6257;source=10.0.0.7;ssrc= 1A",
            ])
        #expect(
            dialogue.actions() == [
                .setUp(
                    media: 0,
                    MediaTransport(
                        delivery: .udp(
                            MediaTransport.UDP(
                                serverAddress: "10.0.0.7", serverRTP: 6256, serverRTCP: 6257, clientRTP: 40_000,
                                clientRTCP: 40_001)), source: 0x1A)), .needsPorts(media: 1),
            ])
        #expect(dialogue.session.frameToSend(media: 0, isControl: true, [1]) == nil)
        dialogue.note(dialogue.session.portsBound(media: 1, rtp: 40_002, rtcp: 40_003, at: 0))
        dialogue.answer(
            "200 OK", ["Session: 1", "Transport: RTP/AVP;unicast;server_port=0-1;source=nonsense\u{1B}[0m"])
        #expect(
            dialogue.actions() == [
                .setUp(
                    media: 1,
                    MediaTransport(
                        delivery: .udp(
                            MediaTransport.UDP(
                                serverAddress: nil, serverRTP: nil, serverRTCP: nil, clientRTP: 40_002,
                                clientRTCP: 40_003)), source: nil))
            ])
        #expect(dialogue.last.method == "PLAY")
    }

    @Test func `multicast takes group and ports from answer or description`() throws {
        func delivery(_ transport: String, _ body: String) throws -> MediaTransport.Delivery? {
            var dialogue = try Dialogue { $0.transport = .multicast }
            dialogue.connect()
            dialogue.answer()
            dialogue.answer(body: body)
            #expect(dialogue.last.header("Transport") == "RTP/AVP;multicast")
            dialogue.answer("200 OK", ["Session: 1", "Transport: \(transport)"])
            for case .setUp(_, let transport) in dialogue.done { return transport.delivery }
            #expect(dialogue.failure == .transportRefused)
            #expect(dialogue.last.method == "TEARDOWN")
            return nil
        }
        let answered = MediaTransport.Multicast(
            group: "239.5.5.5", rtp: 50_000, rtcp: 50_001, timeToLive: 1, sourceAddress: "10.0.0.7")
        #expect(
            try delivery(
                "RTP/AVP;multicast;destination=239.5.5.5;port=50000-50001;ttl=1;source=10.0.0.7", Descriptions.video)
                == .multicast(answered))
        let described = MediaTransport.Multicast(
            group: "239.1.2.3", rtp: 6000, rtcp: 6001, timeToLive: nil, sourceAddress: nil)
        let body = "v=0\r\nc=IN IP4 239.1.2.3/64\r\nm=video 6000 RTP/AVP 26\r\n"
        #expect(try delivery("RTP/AVP;multicast;ttl=999", body) == .multicast(described))
        #expect(try delivery("RTP/AVP;multicast;port=1-2", Descriptions.video) == nil)
        #expect(try delivery("RTP/AVP;multicast;destination=239.5.5.5", Descriptions.video) == nil)
        #expect(try delivery("RTP/AVP;unicast;client_port=1-2", body) == nil)
        #expect(try delivery("RTP/AVP/TCP;unicast;interleaved=0-1", body) == nil)
    }
}
