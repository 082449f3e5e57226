import RTMP
import Testing

@Suite struct RedirectRuleTests {
    private let home = try! RTMPURL("rtmp://u:p@relay:1936/live/cam1?key=1")

    private func decide(
        _ target: String?, allowed: [String] = [], from: RTMPURL? = nil, home: RTMPURL? = nil
    ) -> RedirectRule.Decision {
        var rule = RedirectRule(allowed: allowed)
        let home = home ?? self.home
        return rule.asked(toMoveTo: target, from: from ?? home, home: home, at: 0)
    }

    private func refusal(_ decision: RedirectRule.Decision) -> (why: String, isNews: Bool)? {
        if case .refuse(let why, let isNews) = decision { (why, isNews) } else { nil }
    }

    @Test(arguments: [
        ("rtmp://relay:1936/other", "rtmp://relay:1936/other"),
        ("rtmp://RELAY.:1936/other", "rtmp://relay:1936/other"),
        ("rtmp://relay/live", "rtmp://relay/live"), ("/node2", "rtmp://relay:1936/node2"),
        ("rtmps://relay/live", "rtmps://relay/live"), ("//relay:1936/a/b", "rtmp://relay:1936/a/b"),
    ])
    func `the relay's own host is followed, with user, password and key`(target: String, tcURL: String) throws {
        guard case .move(.elsewhere(let url)) = decide(target) else {
            Issue.record("not followed")
            return
        }
        #expect(url.tcURL == tcURL && url.streamName == "cam1?key=1" && url.credentials == home.credentials)
    }

    @Test(arguments: [
        "rtmp://192.168.1.1/live", "rtmp://192.168.1.1:1936/live", "rtmp://localhost:1936/live",
        "rtmp://relay:22/live", "rtmp://relay:80/live", "//evil/live", "rtmp://relay.evil/live",
        "rtmp://relay@evil/live", "http://relay/live", "rtmp://", "rtmp://relay:0/live", "\u{1b}[31m",
        "rtmp://\u{1b}[31m/live", String(repeating: "a", count: 5000), "rtmp://\u{FF52}elay/live",
    ])
    func `anything else is not followed, and is news once an hour`(target: String) throws {
        var rule = RedirectRule(allowed: [])
        let (why, isNews) = try #require(
            refusal(rule.asked(toMoveTo: target, from: home, home: home, at: 0)))
        #expect(isNews)
        #expect(why.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F } && why.utf8.count < 700)
        let again = rule.asked(toMoveTo: target, from: home, home: home, at: 1)
        #expect(again == .refuse(why: why, isNews: false))
        let later = rule.asked(toMoveTo: target, from: home, home: home, at: RedirectRule.newsLasts)
        #expect(later == .refuse(why: why, isNews: true))
        // What is allowed is still followed.
        guard case .move(.elsewhere) = rule.asked(toMoveTo: "/live2", from: home, home: home, at: 2) else {
            Issue.record("not followed")
            return
        }
    }

    @Test func `a relay that thinks of a new target each time is not news each time`() throws {
        var rule = RedirectRule(allowed: [])
        let news = try (0..<1000).filter { number in
            let decision = rule.asked(toMoveTo: "rtmp://10.0.0.\(number)/live", from: home, home: home, at: 0)
            return try #require(refusal(decision)).isNews
        }
        #expect(news == Array(0..<RedirectRule.maxNews))
    }

    @Test func `letters that only look like those of an allowed host are others`() {
        // Kelvin sign: lower case k to Unicode.
        #expect(refusal(decide("rtmp://\u{212A}am/live", allowed: ["kam"])) != nil)
        let home = RTMPURL(scheme: .rtmp, host: "\u{212A}am", app: "live", streamName: "cam1")
        #expect(refusal(decide("rtmp://kam/live", home: home)) != nil)
    }

    @Test func `a place that failed is not gone to for ten minutes`() throws {
        var rule = RedirectRule(allowed: ["two"])
        func ask(_ now: UInt64) -> RedirectRule.Decision {
            rule.asked(toMoveTo: "rtmp://two/live", from: home, home: home, at: now)
        }
        guard case .move(.elsewhere(let two)) = ask(0) else {
            Issue.record("not followed")
            return
        }
        rule.failed(two, at: 5)
        #expect(refusal(ask(5 + RedirectRule.failureLasts - 1))?.why.contains("two") == true)
        #expect(ask(5 + RedirectRule.failureLasts) == .move(.elsewhere(two)))
    }

    @Test func `a place is gone to with the key that the operator's URL has by then`() throws {
        let rule = RedirectRule(allowed: ["two"])
        let two = try RTMPURL("rtmp://two/live/cam1?key=1")
        #expect(rule.renewed(two, home: try RTMPURL("rtmp://u:p@relay/live/cam1?key=2"))?.streamName == "cam1?key=2")
        #expect(rule.renewed(two, home: try RTMPURL("rtmps://relay/live/cam1")) == nil)
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
        case .move(.elsewhere(let url)):
            #expect(follows && url.streamName == "cam1?key=1")
            // User and password are the own host's.
            #expect((url.credentials == nil) == (url.host != "relay"))
        case .move(.home): Issue.record("home")
        case .refuse: #expect(!follows)
        }
    }

    @Test func `where a relay has sent a camera, the operator's list counts as at home`() throws {
        let two = try RTMPURL("rtmp://two/live/cam1?key=1")
        let why = refusal(decide("rtmp://three/live", allowed: ["two"], from: two))?.why
        #expect(why == "three is not its own host, and not among those that are allowed")
        // Relative to where it is; and the way back has user and password again.
        guard case .move(.elsewhere(let there)) = decide("/live2", allowed: ["two"], from: two),
            case .move(.elsewhere(let back)) = decide("rtmp://relay/live2", allowed: ["two"], from: two)
        else {
            Issue.record("not followed")
            return
        }
        #expect(decide("rtmp://RELAY:1936/live", allowed: ["two"], from: two) == .move(.home))
        #expect(there.tcURL == "rtmp://two/live2" && there.credentials == nil)
        #expect(back.credentials == home.credentials)
    }

    @Test func `TLS is never lowered, not even by two steps`() throws {
        let home = try RTMPURL("rtmps://relay/live/cam1")
        for target in ["rtmp://relay/live", "rtmp://relay:443/live", "rtmp://two/live"] {
            #expect(refusal(decide(target, allowed: ["two", "relay:443"], home: home)) != nil, "\(target)")
        }
        let clear = try RTMPURL("rtmp://relay/live/cam1")
        #expect(refusal(decide("/live2", from: clear, home: home)) != nil)
        #expect(refusal(decide(nil, from: clear, home: home)) != nil)
    }

    @Test func `a request without a place means the same place`() throws {
        #expect(decide(nil) == .move(.home))
        #expect(decide("") == .move(.home))
        let two = try RTMPURL("rtmp://u:p@two/live/cam1?key=0")
        #expect(
            decide(nil, allowed: ["two"], from: two)
                == .move(.elsewhere(try RTMPURL("rtmp://two/live/cam1?key=1"))))
        // The operator has taken it out of the list meanwhile.
        #expect(refusal(decide(nil, from: two)) != nil)
    }

    @Test func `whoever sends a client on at once does not make it hurry`() {
        #expect(RedirectRule.pace(after: 1_999_999_999) == .transient)
        #expect(RedirectRule.pace(after: 2_000_000_000) == .immediately)
    }

    @Test func `home is not to blame for what ended elsewhere, and a short stay there is a failure`() throws {
        var rule = RedirectRule(allowed: [])
        let place = try RTMPURL("rtmp://relay:1936/other/cam1?key=1")
        func decision() -> RedirectRule.Decision {
            rule.asked(toMoveTo: "/other", from: home, home: home, at: 1)
        }
        #expect(rule.ended(.authentication, at: nil, after: 0, now: 0) == .authentication)
        #expect(rule.ended(.authentication, at: place, after: 30_000_000_000, now: 0) == .transient)
        #expect(rule.ended(.never, at: place, after: 0, now: 0) == .never)
        guard case .move(let destination) = decision() else {
            Issue.record("not followed")
            return
        }
        #expect(destination.place?.app == "other" && RedirectRule.Destination.home.place == nil)
        #expect(rule.ended(.badName, at: place, after: 29_999_999_999, now: 0) == .transient)
        #expect(refusal(decision())?.why.contains("a short time ago") == true)
    }
}
