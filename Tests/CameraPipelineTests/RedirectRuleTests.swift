import ErrorCatalog
import RTMP
import Testing

@testable import CameraPipeline

@Suite struct RedirectRuleTests {
    private let home = try! RTMPURL("rtmp://u:p@relay:1936/live/cam1?key=1")

    private func decide(
        _ target: String?, allowed: [String] = [], from: RTMPURL? = nil, home: RTMPURL? = nil
    ) -> RedirectRule.Decision {
        var rule = RedirectRule(allowed: allowed, camera: "cam1")
        let home = home ?? self.home
        return rule.asked(toMoveTo: target, from: from ?? home, home: home)
    }

    @Test(arguments: [
        ("rtmp://relay:1936/other", "rtmp://relay:1936/other"),
        ("rtmp://RELAY.:1936/other", "rtmp://RELAY.:1936/other"),
        ("rtmp://relay/live", "rtmp://relay/live"), ("/node2", "rtmp://relay:1936/node2"),
        ("rtmps://relay/live", "rtmps://relay/live"), ("//relay:1936/a/b", "rtmp://relay:1936/a/b"),
    ])
    func `the relay's own host is followed, with user, password and key`(target: String, tcURL: String) throws {
        guard case .follow(let url) = decide(target) else {
            Issue.record("not followed")
            return
        }
        #expect(url.tcURL == tcURL && url.streamName == "cam1?key=1" && url.credentials == home.credentials)
    }

    @Test(arguments: [
        "rtmp://192.168.1.1/live", "rtmp://192.168.1.1:1936/live", "rtmp://localhost:1936/live",
        "rtmp://relay:22/live", "rtmp://relay:80/live", "//evil/live", "rtmp://relay.evil/live",
        "rtmp://relay@evil/live", "http://relay/live", "rtmp://", "rtmp://relay:0/live", "\u{1b}[31m",
        "rtmp://\u{1b}[31m/live", String(repeating: "a", count: 5000),
    ])
    func `anything else is not followed, and said once`(target: String) throws {
        var rule = RedirectRule(allowed: [], camera: "cam1")
        let first = rule.asked(toMoveTo: target, from: home, home: home)
        guard case .home(let refusal?) = first else {
            Issue.record("\(first)")
            return
        }
        #expect(refusal.code == .relayRedirects && refusal.object == "cam1")
        #expect("\(refusal)".utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && "\(refusal)".utf8.count < 500)
        #expect(rule.asked(toMoveTo: target, from: home, home: home) == .home(nil))
        #expect(rule.asked(toMoveTo: "rtmp://10.0.0.1/live", from: home, home: home) == .home(nil))
        // What is allowed is still followed.
        guard case .follow = rule.asked(toMoveTo: "/live2", from: home, home: home) else {
            Issue.record("not followed")
            return
        }
    }

    @Test(arguments: [
        ("rtmp://two:1936/live", true), ("rtmp://two/live", true), ("rtmp://TWO/live", true),
        ("rtmps://two/live", true), ("rtmp://two:1937/live", false), ("rtmp://three:4000/live", true),
        ("rtmp://three/live", false), ("rtmp://[2001:DB8::1]/live", true), ("rtmp://four/live", false),
        ("rtmp://relay:4000/live", true),
    ])
    func `the operator's list counts, with its ports`(target: String, follows: Bool) throws {
        let decision = decide(target, allowed: ["two", "three:4000", "[2001:db8::1]", "relay:4000", "not a host"])
        switch decision {
        case .follow(let url):
            #expect(follows && url.streamName == "cam1?key=1")
            // User and password are the own host's.
            #expect((url.credentials == nil) == (url.host != "relay"))
        case .home: #expect(!follows)
        }
    }

    @Test func `a chain of redirects leads no further than one`() throws {
        let two = try RTMPURL("rtmp://two/live/cam1?key=1")
        #expect(decide("rtmp://three/live", allowed: ["two"], from: two) != .follow(two))
        // Relative to where it is; and the way back has user and password again.
        guard case .follow(let there) = decide("/live2", allowed: ["two"], from: two),
            case .follow(let back) = decide("rtmp://relay/live", allowed: ["two"], from: two)
        else {
            Issue.record("not followed")
            return
        }
        #expect(there.tcURL == "rtmp://two/live2" && there.credentials == nil)
        #expect(back.credentials == home.credentials)
    }

    @Test func `TLS is never lowered, not even by two steps`() throws {
        let home = try RTMPURL("rtmps://relay/live/cam1")
        for target in ["rtmp://relay/live", "rtmp://relay:443/live", "rtmp://two/live"] {
            guard case .home(.some) = decide(target, allowed: ["two", "relay:443"], home: home) else {
                Issue.record("\(target)")
                continue
            }
        }
        let clear = try RTMPURL("rtmp://relay/live/cam1")
        guard case .home(.some) = decide("/live2", from: clear, home: home) else {
            Issue.record("followed without TLS")
            return
        }
    }

    @Test func `a request without a place means the same place`() {
        #expect(decide(nil) == .follow(home))
        #expect(decide("") == .follow(home))
    }
}
