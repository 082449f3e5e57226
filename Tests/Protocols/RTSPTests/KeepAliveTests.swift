import RTSP
import Testing

struct KeepAliveTests {
    @Test(
        arguments: [
            ("1;timeout=4", 2), ("1;timeout=60", 30), ("1", 30), ("1;timeout=600", 30), ("1;timeout=20", 10),
        ] as [(String, UInt64)])
    func `a session is kept alive at half its time`(header: String, seconds: UInt64) throws {
        var dialogue = try Dialogue()
        dialogue.play(session: header, at: second)
        _ = dialogue.requests()
        for round in 1...20 as ClosedRange<UInt64> {
            let due = second + round * seconds * second
            #expect(dialogue.session.nextDeadline == due)
            dialogue.note(dialogue.session.ticked(at: due - 1))
            #expect(dialogue.requests().isEmpty)
            dialogue.note(dialogue.session.ticked(at: due))
            let requests = dialogue.requests()
            #expect(requests.map(\.start) == ["GET_PARAMETER rtsp://camera.test/cam/ RTSP/1.0"])
            #expect(requests.first?.header("Session") == "1")
            dialogue.answer(at: due)
        }
        #expect(dialogue.session.isPlaying)
    }

    @Test func `the shortest time does not make a storm`() throws {
        var dialogue = try Dialogue()
        dialogue.play(session: "1;timeout=1")
        #expect(dialogue.session.nextDeadline == second / 2)
    }

    @Test func `OPTIONS for a camera that does not list GET_PARAMETER, or as asked for`() throws {
        var plain = try Dialogue()
        plain.play(methods: "OPTIONS, DESCRIBE, SETUP, PLAY")
        plain.note(plain.session.ticked(at: 30 * second))
        #expect(plain.last.method == "OPTIONS")
        #expect(plain.last.header("Session") == "12345678")
        var configured = try Dialogue { $0.keepsAliveWithOptions = true }
        configured.play()
        configured.note(configured.session.ticked(at: 30 * second))
        #expect(configured.last.method == "OPTIONS")
    }

    @Test(arguments: [
        "405 Method Not Allowed", "501 Not Implemented", "400 Bad Request", "451 Parameter Not Understood",
    ])
    func `OPTIONS at once and from then on when GET_PARAMETER is refused`(status: String) throws {
        var dialogue = try Dialogue()
        dialogue.play(session: "1;timeout=4")
        dialogue.note(dialogue.session.ticked(at: 2 * second))
        #expect(dialogue.last.method == "GET_PARAMETER")
        dialogue.answer(status, at: 2 * second)
        #expect(dialogue.last.method == "OPTIONS")
        dialogue.answer(status, at: 2 * second)
        #expect(dialogue.session.isPlaying)
        _ = dialogue.requests()
        dialogue.note(dialogue.session.ticked(at: 4 * second))
        #expect(dialogue.requests().map(\.method) == ["OPTIONS"])
        #expect(dialogue.session.facts.getParameterRefused)
    }

    @Test func `a connection closed at GET_PARAMETER is remembered`() throws {
        var dialogue = try Dialogue()
        dialogue.play()
        dialogue.note(dialogue.session.ticked(at: 30 * second))
        dialogue.note(dialogue.session.connectionClosed(at: 30 * second))
        #expect(dialogue.session.facts.getParameterRefused)
        #expect(dialogue.failure == .closed(method: nil))
        var later = try Dialogue()
        later.play()
        later.note(later.session.ticked(at: 30 * second))
        later.answer()
        later.note(later.session.ticked(at: 60 * second))
        later.note(later.session.connectionClosed(at: 60 * second))
        #expect(!later.session.facts.getParameterRefused)
    }

    @Test func `missing answers are nothing`() throws {
        var dialogue = try Dialogue()
        dialogue.play()
        for round in 1...100 as ClosedRange<UInt64> { dialogue.note(dialogue.session.ticked(at: round * 30 * second)) }
        #expect(dialogue.session.isPlaying)
        #expect(dialogue.said.filter { $0.method == "GET_PARAMETER" }.count == 100)
        // The newest one is answered: the ones before it will not be.
        dialogue.answer()
        dialogue.hear("RTSP/1.0 200 OK\r\nCSeq: 5\r\n\r\n")
        #expect(dialogue.session.facts.unexpectedAnswers == 1)
    }

    @Test func `a session that the camera does not know is over`() throws {
        var dialogue = try Dialogue()
        dialogue.play()
        dialogue.note(dialogue.session.ticked(at: 30 * second))
        dialogue.answer("454 Session Not Found")
        #expect(
            dialogue.failure == .refused(method: "GET_PARAMETER", status: 454, reason: "Session Not Found"))
        #expect(dialogue.last.method == "GET_PARAMETER")
    }

    @Test(arguments: [false, true])
    func `454 ends nothing while media flow: OPTIONS, and then it is ignored`(isUDP: Bool) throws {
        var dialogue = try Dialogue { $0.transport = isUDP ? .udp : .tcp }
        if isUDP { dialogue.playUDP() } else { dialogue.play() }
        for now in 1...300 as ClosedRange<UInt64> {
            if isUDP {
                dialogue.session.mediaArrived(at: now * second)
            } else {
                dialogue.hear(frame(0, packet(Int(now))), at: now * second)
            }
            dialogue.note(dialogue.session.ticked(at: now * second))
            let requests = dialogue.requests().filter { ["GET_PARAMETER", "OPTIONS"].contains($0.method) }
            // The first answer to GET_PARAMETER, and from then on those to OPTIONS.
            for _ in requests { dialogue.answer("454 Session Not Found", at: now * second) }
        }
        #expect(dialogue.session.isPlaying)
        #expect(dialogue.session.facts.getParameterRefused)
        #expect(dialogue.said.filter { $0.method == "GET_PARAMETER" }.count == 1)
        // At once, and every 30 s from then on, with the connection's first one.
        #expect(dialogue.said.filter { $0.method == "OPTIONS" }.count == 1 + 1 + 9)
        dialogue.note(dialogue.session.tearDown(at: 301 * second))
        #expect(dialogue.last.method == "TEARDOWN")
        #expect(dialogue.last.header("Session") == "12345678")
    }

    @Test func `454 ends a session whose media stopped`() throws {
        var dialogue = try Dialogue()
        dialogue.play()
        dialogue.hear(frame(0, packet(1)), at: 26 * second)
        // A sender report is not a medium.
        dialogue.hear(frame(1, packet(2)), at: 29 * second)
        dialogue.note(dialogue.session.ticked(at: 30 * second))
        dialogue.answer("454 Session Not Found", at: 30 * second)
        #expect(
            dialogue.failure == .refused(method: "GET_PARAMETER", status: 454, reason: "Session Not Found"))
    }
}
