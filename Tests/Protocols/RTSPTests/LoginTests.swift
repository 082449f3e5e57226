import RTSP
import Testing

/// What a camera asks for, and what it gets.
struct LoginTests {
    static let md5 = "WWW-Authenticate: Digest realm=\"IP Camera(1)\", nonce=\"n1\", stale=\"FALSE\""
    static let sha256 =
        "WWW-Authenticate: Digest realm=\"IP Camera(1)\", nonce=\"n2\", algorithm=\"SHA-256\", qop=\"auth\""
    static let basic = "WWW-Authenticate: Basic realm=\"IP Camera(1)\""
    static let modern = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", algorithm=SHA-512-256"

    /// Up to DESCRIBE, which is answered with these headers and 401.
    static func asked(
        _ headers: [String], user: String? = "admin", configure: (inout RTSPSession.Configuration) -> Void = { _ in }
    ) throws -> Dialogue {
        var dialogue = try Dialogue(user: user, configure: configure)
        dialogue.connect()
        dialogue.answer()
        #expect(dialogue.said.allSatisfy { $0.header("Authorization") == nil })
        dialogue.answer("401 Unauthorized", headers)
        return dialogue
    }

    @Test func `every request after the login carries it`() throws {
        var dialogue = try Self.asked([Self.md5])
        #expect(dialogue.last.method == "DESCRIBE")
        #expect(dialogue.last.header("CSeq") == "3")
        dialogue.answer(body: Descriptions.video)
        dialogue.answer("200 OK", ["Session: 1"])
        dialogue.answer("200 OK", ["Session: 1"])
        dialogue.note(dialogue.session.ticked(at: 30 * second))
        dialogue.note(dialogue.session.tearDown(at: 31 * second))
        let logins = dialogue.said.dropFirst(2).map { $0.header("Authorization") ?? "" }
        #expect(dialogue.said.dropFirst(2).map(\.method) == ["DESCRIBE", "SETUP", "PLAY", "OPTIONS", "TEARDOWN"])
        #expect(logins.allSatisfy { $0.hasPrefix("Digest username=\"admin\", realm=\"IP Camera(1)\", nonce=\"n1\"") })
        for request in dialogue.said.dropFirst(2) {
            #expect(request.header("Authorization")?.contains("uri=\"\(request.url)\"") == true)
        }
        #expect(dialogue.session.facts.authentication == "Digest MD5")
    }

    @Test func `of three schemes the strongest, counted`() throws {
        var dialogue = try Self.asked([Self.md5, Self.basic, Self.sha256])
        #expect(dialogue.last.header("Authorization")?.contains("nc=00000001") == true)
        dialogue.answer(body: Descriptions.video)
        #expect(dialogue.last.header("Authorization")?.contains("algorithm=SHA-256") == true)
        #expect(dialogue.last.header("Authorization")?.contains("nc=00000002") == true)
        #expect(dialogue.session.facts.authentication == "Digest SHA-256")
    }

    @Test func `a wrong password is tried once`() throws {
        var dialogue = try Self.asked([Self.md5])
        dialogue.answer("401 Unauthorized", ["WWW-Authenticate: Digest realm=\"IP Camera(1)\", nonce=\"fresh\""])
        #expect(dialogue.failure == .loginRefused(scheme: "Digest MD5", realm: "IP Camera(1)"))
        #expect(dialogue.said.filter { $0.method == "DESCRIBE" }.count == 2)
    }

    @Test func `a stale nonce is not a wrong password, but has an end`() throws {
        var dialogue = try Self.asked([Self.md5])
        for number in 0..<10 where dialogue.failure == nil {
            dialogue.answer(
                "401 Unauthorized", ["WWW-Authenticate: Digest realm=\"r\", nonce=\"s\(number)\", stale=TRUE"])
        }
        #expect(dialogue.failure == .loginRefused(scheme: "Digest MD5", realm: "r"))
        #expect(dialogue.said.filter { $0.method == "DESCRIBE" }.count == 4)
    }

    @Test func `where one login may be shown, a stale nonce is not a reason for another`() throws {
        var dialogue = try Self.asked([Self.md5]) { $0.maxLogins = 1 }
        dialogue.answer("401 Unauthorized", ["WWW-Authenticate: Digest realm=\"r\", nonce=\"s\", stale=TRUE"])
        #expect(dialogue.failure == .loginRefused(scheme: "Digest MD5", realm: "IP Camera(1)"))
        #expect(dialogue.said.filter { $0.method == "DESCRIBE" }.count == 2)
    }

    @Test func `a connection that is closed at the first login was a refusal`() throws {
        var dialogue = try Self.asked([Self.md5])
        dialogue.note(dialogue.session.connectionClosed(at: 0))
        #expect(dialogue.failure == .closedAtLogin(method: "DESCRIBE", scheme: "Digest MD5"))
        // A login that was taken before is not to blame.
        dialogue = try Self.asked([Self.md5])
        dialogue.answer("200 OK", [], body: Descriptions.video)
        #expect(dialogue.last.method == "SETUP")
        dialogue.note(dialogue.session.connectionClosed(at: 0))
        #expect(dialogue.failure == .closed(method: "SETUP"))
        // None was shown.
        dialogue = try Dialogue(user: "admin")
        dialogue.connect()
        dialogue.answer()
        dialogue.note(dialogue.session.connectionClosed(at: 0))
        #expect(dialogue.failure == .closed(method: "DESCRIBE"))
    }

    @Test func `no credentials, unknown schemes, Basic`() throws {
        #expect(
            try Self.asked([Self.md5, Self.basic], user: nil).failure == .loginNeeded(offered: ["Digest MD5", "Basic"]))
        #expect(try Self.asked([], user: nil).failure == .loginNeeded(offered: []))
        #expect(try Self.asked([Self.modern]).failure == .loginUnsupported(offered: ["Digest SHA-512-256"]))
        #expect(try Self.asked([]).failure == .loginUnsupported(offered: []))
        let refused = try Self.asked([Self.modern, Self.basic])
        #expect(refused.failure == .basicNotAllowed(realm: "IP Camera(1)"))
        #expect(refused.said.count == 2)
        for configure in [{ $0.allowsBasic = true }, { $0.isEncrypted = true }]
            as [(inout RTSPSession.Configuration) -> Void]
        {
            var allowed = try Self.asked([Self.modern, Self.basic], configure: configure)
            #expect(allowed.last.header("Authorization") == "Basic YWRtaW46c2VjcmV0")
            allowed.answer("401 Unauthorized", [Self.basic])
            #expect(allowed.failure == .loginRefused(scheme: "Basic", realm: "IP Camera(1)"))
        }
    }

    @Test func `a new nonce later is answered once per request`() throws {
        var dialogue = try Self.asked([Self.md5])
        dialogue.answer(body: Descriptions.video)
        for (round, method) in ["SETUP", "PLAY"].enumerated() {
            #expect(dialogue.last.method == method)
            dialogue.answer("401 Unauthorized", ["WWW-Authenticate: Digest realm=\"r\", nonce=\"new\(round)\""])
            #expect(dialogue.last.method == method)
            #expect(dialogue.last.header("Authorization")?.contains("nonce=\"new\(round)\"") == true)
            dialogue.answer("200 OK", ["Session: 1"])
        }
        #expect(dialogue.session.isPlaying)
        dialogue.note(dialogue.session.ticked(at: 30 * second))
        dialogue.answer("401 Unauthorized", ["WWW-Authenticate: Digest realm=\"r\", nonce=\"k1\""])
        #expect(dialogue.last.header("Authorization")?.contains("nonce=\"k1\"") == true)
        dialogue.answer()
        #expect(dialogue.session.isPlaying)
        dialogue.note(dialogue.session.ticked(at: 60 * second))
        dialogue.answer("401 Unauthorized", ["WWW-Authenticate: Digest realm=\"r\", nonce=\"k2\""])
        dialogue.answer("401 Unauthorized", ["WWW-Authenticate: Digest realm=\"r\", nonce=\"k3\""])
        // Twice, and then it says something of the method.
        #expect(dialogue.session.isPlaying)
        #expect(dialogue.said.filter { $0.header("Authorization")?.contains("nonce=\"k2\"") == true }.count == 1)
    }

    /// Some cameras answer 401 to what they do not know.
    @Test func `401 to a keep-alive does not end a session whose login was accepted`() throws {
        var dialogue = try Dialogue(user: "admin")
        dialogue.connect()
        dialogue.answer("200 OK", ["Public: OPTIONS, DESCRIBE, SETUP, PLAY, GET_PARAMETER"])
        dialogue.answer("401 Unauthorized", [Self.md5])
        dialogue.answer(body: Descriptions.video)
        dialogue.answer("200 OK", ["Session: 1"])
        dialogue.answer("200 OK", ["Session: 1"])
        _ = dialogue.requests()
        dialogue.note(dialogue.session.ticked(at: 30 * second))
        dialogue.answer("401 Unauthorized", [Self.md5], at: 30 * second)
        #expect(dialogue.requests().map(\.method) == ["GET_PARAMETER", "OPTIONS"])
        #expect(dialogue.session.facts.getParameterRefused)
        #expect(dialogue.last.header("Authorization") != nil)
        dialogue.answer("401 Unauthorized", [Self.md5], at: 30 * second)
        #expect(dialogue.requests().isEmpty)
        // From then on no login that somebody could count.
        for round in 2...5 as ClosedRange<UInt64> {
            dialogue.note(dialogue.session.ticked(at: round * 30 * second))
            let requests = dialogue.requests()
            #expect(requests.map(\.method) == ["OPTIONS"])
            #expect(requests.first?.header("Authorization") == nil)
            #expect(requests.first?.header("Session") == "1")
            dialogue.answer("401 Unauthorized", [Self.md5], at: round * 30 * second)
            #expect(dialogue.requests().isEmpty)
        }
        #expect(dialogue.session.isPlaying)
        dialogue.note(dialogue.session.tearDown(at: 200 * second))
        #expect(dialogue.last.header("Authorization")?.contains("nonce=\"n1\"") == true)
    }

    @Test func `a login asked for at SETUP only`() throws {
        var dialogue = try Dialogue(user: "admin")
        dialogue.connect()
        dialogue.answer()
        dialogue.answer(body: Descriptions.video)
        dialogue.answer("401 Unauthorized", [Self.sha256])
        #expect(dialogue.last.method == "SETUP")
        #expect(dialogue.last.header("Authorization")?.hasPrefix("Digest ") == true)
        dialogue.answer("200 OK", ["Session: 1"])
        #expect(dialogue.last.method == "PLAY")
    }

    @Test func `who took a strong login is not shown a weaker one`() throws {
        var dialogue = try Self.asked([Self.sha256]) { $0.allowsBasic = true }
        dialogue.answer(body: Descriptions.video)
        dialogue.answer("401 Unauthorized", [Self.basic, Self.md5])
        #expect(dialogue.failure == .loginRefused(scheme: "Digest SHA-256", realm: "IP Camera(1)"))
        #expect(dialogue.said.allSatisfy { $0.header("Authorization")?.hasPrefix("Basic") != true })
    }

    @Test func `a password with anything in it is used as it is`() throws {
        let password = "p@:/#%?& w\"x\\ü" + String(repeating: "z", count: 130)
        var dialogue = try Dialogue(user: "us:er", password: password) { $0.allowsBasic = true }
        dialogue.connect()
        dialogue.answer()
        dialogue.answer("401 Unauthorized", [Self.basic])
        let sent = dialogue.last.header("Authorization") ?? ""
        #expect(sent.count > 200)
        #expect(dialogue.last.lines.count == 7)
    }

    @Test func `a camera that repeats the password does not get it into messages`() throws {
        let basic = "YWRtaW46c2VjcmV0"
        for echo in ["secret", basic] {
            var dialogue = try Self.asked([Self.basic]) { $0.allowsBasic = true }
            dialogue.hear(dialogue.reply("500 Bad \(echo) you", ["Server: \(echo)"]))
            #expect(dialogue.failure == .refused(method: "DESCRIBE", status: 500, reason: "(left out)"))
            #expect(dialogue.session.facts.server == "(left out)")
            var realm = try Self.asked(["WWW-Authenticate: Basic realm=\"\(echo)\""]) { $0.allowsBasic = true }
            realm.answer("401 Unauthorized", [Self.basic])
            #expect(realm.failure == .loginRefused(scheme: "Basic", realm: "(left out)"))
        }
    }
}
