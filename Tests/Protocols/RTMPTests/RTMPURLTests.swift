import TestSupport
import Testing

@testable import RTMP

struct RTMPURLTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var text: String
        var host = "relay.example.net"
        var port: UInt16 = 1935
        var app = "live"
        var streamName = "cam1"
        var tcURL = "rtmp://relay.example.net/live"

        var testDescription: String { text }
    }

    static let golden = [
        Case(text: "rtmp://relay.example.net/live/cam1"),
        Case(text: "RTMP://relay.example.net:1935/live/cam1"),
        Case(text: "rtmp://relay.example.net:/live/cam1"),
        Case(text: "rtmps://relay.example.net/live/cam1", port: 443, tcURL: "rtmps://relay.example.net/live"),
        Case(
            text: "rtmp://relay.example.net:19350/live/cam1", port: 19350, tcURL: "rtmp://relay.example.net:19350/live"),
        Case(
            text: "rtmp://relay.example.net/live/_definst_/cam1", app: "live/_definst_",
            tcURL: "rtmp://relay.example.net/live/_definst_"),
        Case(text: "rtmp://relay.example.net/live/cam1?token=a/b==&x=1", streamName: "cam1?token=a/b==&x=1"),
        Case(
            text: "rtmp://relay.example.net/live?x=1/cam1", app: "live?x=1", tcURL: "rtmp://relay.example.net/live?x=1"),
        Case(
            text: "rtmp://relay.example.net/live?x=1/cam1?y=2", app: "live?x=1", streamName: "cam1?y=2",
            tcURL: "rtmp://relay.example.net/live?x=1"),
        Case(
            text: "rtmp://relay.example.net/l%20ive/c%2Fam%3F1", app: "l%20ive", streamName: "c%2Fam%3F1",
            tcURL: "rtmp://relay.example.net/l%20ive"),
        Case(text: "rtmp://[2001:db8::1]/live/cam1", host: "2001:db8::1", tcURL: "rtmp://[2001:db8::1]/live"),
        Case(
            text: "rtmp://[fe80::1%25eth0]:1936/live/cam1", host: "fe80::1%25eth0", port: 1936,
            tcURL: "rtmp://[fe80::1%25eth0]:1936/live"),
        Case(text: "rtmp://user:pa%40ss@relay.example.net/live/cam1"),
        Case(text: "rtmp://127.0.0.1/live/cam1", host: "127.0.0.1", tcURL: "rtmp://127.0.0.1/live"),
    ]

    @Test(arguments: golden)
    func `an address is taken apart`(expected: Case) throws {
        let url = try withoutQueryApp(expected)
        #expect(url.host == expected.host)
        #expect(url.port == expected.port)
        #expect(url.app == expected.app)
        #expect(url.streamName == expected.streamName)
        #expect(url.tcURL == expected.tcURL)
    }

    private func withoutQueryApp(_ expected: Case) throws -> RTMPURL { try RTMPURL(expected.text) }

    @Test(arguments: [
        ("http://h/live/cam", RTMPURLError.unknownScheme), ("rtmp:/h/live/cam", .unknownScheme), ("", .unknownScheme),
        ("rtmpe://h/live/cam", .unknownScheme), ("rtmp://", .invalidHost), ("rtmp:///live/cam", .invalidHost),
        ("rtmp://:1935/live/cam", .invalidHost), ("rtmp://[::1/live/cam", .invalidHost),
        ("rtmp://[::1]x/live/cam", .invalidHost), ("rtmp://[host]/live/cam", .invalidHost),
        ("rtmp://h:0/live/cam", .invalidPort), ("rtmp://h:65536/live/cam", .invalidPort),
        ("rtmp://h:+80/live/cam", .invalidPort), ("rtmp://h:80:80/live/cam", .invalidPort),
        ("rtmp://h", .missingApplication), ("rtmp://h/", .missingApplication), ("rtmp://h//cam", .missingApplication),
        ("rtmp://h/live", .missingStreamName), ("rtmp://h/live/", .missingStreamName),
        ("rtmp://h/live/?token=1", .missingStreamName), ("rtmp://h/li ve/cam", .invalidCharacter),
        ("rtmp://h/live/cam\r\n", .invalidCharacter), ("rtmp://h/live/c\u{7F}", .invalidCharacter),
        ("rtmp://us%zzer@h/live/cam", .invalidCredentials), ("rtmp://%ff:x@h/live/cam", .invalidCredentials),
        ("rtmp://a%4@h/live/cam", .invalidCredentials),
    ])
    func `a broken address is refused`(text: String, error: RTMPURLError) {
        #expect(throws: error) { try RTMPURL(text) }
    }

    @Test func `credentials are decoded and stay out of tcUrl`() throws {
        let url = try RTMPURL("rtmp://c%61m:p%40ss%3Aw+rd@h/live/cam1")
        #expect(url.credentials == RTMPURL.Credentials(user: "cam", password: "p@ss:w+rd"))
        #expect(url.tcURL == "rtmp://h/live")
        #expect(try RTMPURL("rtmp://cam@h/live/cam1").credentials == RTMPURL.Credentials(user: "cam", password: ""))
        #expect(try RTMPURL("rtmp://cam:a@b@h/live/cam1").credentials?.password == "a@b")
    }

    @Test func `no textual form shows user, password, key or token`() throws {
        let url = try RTMPURL("rtmps://userX:passX@relay.example.net:444/live?t=tokenX/keyX?token=tokenX")
        #expect(url.description == "rtmps://***@relay.example.net:444/live/***")
        var dumped = ""
        dump(url, to: &dumped)
        for text in ["\(url)", String(reflecting: url), dumped, "\(Optional(url) as Any)"] {
            #expect(!text.contains("X"), "\(text)")
        }
    }

    @Test func `server and key can come apart`() throws {
        let url = try RTMPURL(server: "rtmps://live.example.com/app/", streamName: "abcd-efgh?x=/y")
        #expect(url.app == "app")
        #expect(url.streamName == "abcd-efgh?x=/y")
        #expect(url.streamPath == "abcd-efgh")
        #expect(throws: RTMPURLError.missingStreamName) { try RTMPURL(server: "rtmp://h/app", streamName: "") }
        #expect(throws: RTMPURLError.missingApplication) { try RTMPURL(server: "rtmp://h/", streamName: "k") }
        #expect(throws: RTMPURLError.invalidCharacter) { try RTMPURL(server: "rtmp://h/a", streamName: "k\n") }
    }

    @Test(arguments: [
        ("rtmp://other:1936/app2", "rtmp://other:1936/app2"), ("//other/app2", "rtmp://other/app2"),
        ("/app2", "rtmp://relay/app2"), ("app2", "rtmp://relay/live/app2"), ("rtmps://other/app", "rtmps://other/app"),
    ])
    func `a reconnect request is resolved`(target: String, tcURL: String) throws {
        let url = try RTMPURL("rtmp://u:p@relay/live/x/cam1?k=1")
        let moved = try #require(url.redirected(to: target))
        #expect(moved.tcURL == tcURL)
        #expect(moved.streamName == "cam1?k=1")
        #expect((moved.credentials == nil) == (moved.host != "relay"))
    }

    @Test(arguments: ["rtmp://other/app", "http://other/app", "", "rtmps://", "rtmps://other"])
    func `a reconnect request that is broken or leaves TLS is not followed`(target: String) throws {
        #expect(try RTMPURL("rtmps://relay/live/cam1").redirected(to: target) == nil)
    }

    @Test(arguments: 0..<UInt64(64))
    func `any text is read or refused`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pieces = [
            "rtmp", "s", "://", "[", "]", ":", "@", "/", "?", "%", "%41", "%zz", "h", "1", "é", "&", "=", "..", "#",
        ]
        for _ in 0..<50 {
            let count = Int.random(in: 0..<12, using: &random)
            let text = "rtmp://" + (0..<count).map { _ in pieces.randomElement(using: &random)! }.joined()
            guard let url = try? RTMPURL(text) else { continue }
            #expect(!url.app.isEmpty && !url.streamName.isEmpty && !url.host.isEmpty && url.port > 0)
            _ = url.redirected(to: text)
        }
    }
}
