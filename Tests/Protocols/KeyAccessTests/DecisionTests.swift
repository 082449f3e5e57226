import Foundation
import Testing

@testable import KeyAccess

@Suite struct DecisionTests {
    static func policy(_ attributes: [String] = [], dissem: [String] = []) -> AccessPolicy {
        AccessPolicy(
            uuid: "u", body: .init(dataAttributes: attributes.map(AccessPolicy.Attribute.init), dissem: dissem))
    }

    static func subject(_ streams: [String], _ attributes: [String] = []) -> Subject {
        Subject(
            identity: Identity(issuer: "i", subject: "viewer", defaultIssuer: "i"), scopes: [Scope.rewrap],
            streams: streams.map(StreamPattern.init), attributes: attributes)
    }

    @Test func `a subject with the stream gets the key of an open policy`() {
        for streams in [["front"], ["fro*"], ["*"], ["back", "front"]] {
            #expect(
                AccessDecision.decide(
                    policy: Self.policy(), origin: .registered(stream: "front"), subject: Self.subject(streams),
                    requiresRegistration: true) == .permit)
        }
    }

    @Test(arguments: [[], ["back"], ["fron"], ["front2"], ["Front"], [""]])
    func `a subject without the stream does not`(streams: [String]) {
        #expect(
            AccessDecision.decide(
                policy: Self.policy(), origin: .registered(stream: "front"), subject: Self.subject(streams),
                requiresRegistration: false) == .deny(.streamNotGranted))
    }

    @Test(arguments: ["front", "fr*", "*"])
    func `a stream that is denied is refused, whatever grants it`(denied: String) {
        var subject = Self.subject(["front", "*"])
        subject.deniedStreams = [StreamPattern(denied)]
        func decide(_ stream: String) -> AccessDecision {
            .decide(
                policy: Self.policy(), origin: .registered(stream: stream), subject: subject, requiresRegistration: true
            )
        }
        #expect(decide("front") == .deny(.streamNotGranted))
        #expect(decide("yard") == (denied == "*" ? .deny(.streamNotGranted) : .permit))
    }

    @Test func `an unregistered header needs the requirement off and a grant of everything`() {
        func decide(_ streams: [String], _ requires: Bool) -> AccessDecision {
            .decide(
                policy: Self.policy(), origin: .unregistered, subject: Self.subject(streams),
                requiresRegistration: requires)
        }
        #expect(decide(["*"], true) == .deny(.headerNotRegistered))
        #expect(decide(["*"], false) == .permit)
        #expect(decide(["front"], false) == .deny(.streamNotGranted))
        #expect(decide(["f*"], false) == .deny(.streamNotGranted))
    }

    @Test func `a file of a stream is for those who may see the stream`() {
        func decide(_ file: String?, _ streams: [String], denied: [String] = []) -> AccessDecision {
            var subject = Self.subject(streams)
            subject.deniedStreams = denied.map(StreamPattern.init)
            var policy = Self.policy()
            policy.stream = file
            return .decide(policy: policy, origin: .archive, subject: subject, requiresRegistration: true)
        }
        #expect(decide("door", ["door"]) == .permit && decide("door", ["d*"]) == .permit)
        for streams in [[], ["yard"], ["doo"], ["door2"]] {
            #expect(decide("door", streams) == .deny(.streamNotGranted), "\(streams)")
        }
        #expect(decide("door", ["*"], denied: ["door"]) == .deny(.streamNotGranted))
        #expect(decide("", ["door"]) == .deny(.streamNotGranted))
        // One that names none is anybody's whom its policy names.
        #expect(decide(nil, []) == .permit && decide(nil, ["yard"]) == .permit)
    }

    @Test func `every attribute must be granted, whatever its case`() {
        let policy = Self.policy(["https://x/attr/a/value/1", "https://x/attr/b/value/2"])
        func decide(_ granted: [String]) -> AccessDecision {
            .decide(policy: policy, origin: .archive, subject: Self.subject([], granted), requiresRegistration: true)
        }
        #expect(decide(["https://x/attr/a/value/1"]) == .deny(.attributeNotGranted))
        #expect(decide(["HTTPS://X/attr/A/value/1", "https://x/attr/b/value/2"]) == .permit)
    }

    @Test func `dissem, when it names anyone, must name the subject`() {
        func decide(_ dissem: [String]) -> AccessDecision {
            .decide(
                policy: Self.policy(dissem: dissem), origin: .archive, subject: Self.subject([]),
                requiresRegistration: true)
        }
        #expect(decide([]) == .permit)
        #expect(decide(["other", "viewer"]) == .permit)
        #expect(decide(["other"]) == .deny(.notInDissem))
        #expect(decide(["Viewer"]) == .deny(.notInDissem))
        // A name that begins alike, or goes on, is another's.
        for name in ["view", "viewer2", "viewer ", " viewer"] { #expect(decide([name]) == .deny(.notInDissem)) }
        #expect(decide(["i viewer"]) == .permit)
    }

    @Test func `a subject of another issuer is another subject`() {
        func identity(_ issuer: String, _ subject: String) -> Identity {
            Identity(issuer: issuer, subject: subject, defaultIssuer: "local")
        }
        let alice = identity("local", "alice")
        let stranger = identity("https://b", "alice")
        #expect(alice.text == "alice" && stranger.text == "https://b alice" && alice != stranger)
        #expect(alice.matches("alice") && alice.matches("local alice") && !alice.matches("https://b alice"))
        #expect(!stranger.matches("alice") && stranger.matches("https://b alice"))
        // No one can name himself into another issuer.
        let forger = identity("local", "https://b alice")
        #expect(forger != stranger && !forger.matches("https://b alice"))
        #expect(identity("https://b https://c", "x") != identity("https://b", "https://c x"))
        // Canonically equivalent, and other bytes.
        let composed = identity("local", "caf\u{E9}")
        let decomposed = identity("local", "cafe\u{301}")
        #expect(composed != decomposed && !composed.matches("cafe\u{301}"))
    }

    @Test func `a rule of the configuration adds to the token's grants`() {
        let claims = AccessClaims(
            issuer: "i", subject: "box-7", audience: ["a"], expiresAt: NumericDate(seconds: 1),
            issuedAt: NumericDate(seconds: 0), scopes: [Scope.publish], streams: ["own"], attributes: ["X"])
        let rules = AccessRules(rules: [
            .init(subject: "box-*", streams: ["shared"], attributes: ["Y"]), .init(subject: "other", streams: ["*"]),
        ])
        let subject = Subject(claims: claims, rules: rules, defaultIssuer: "i")
        #expect(subject.streams == [StreamPattern("own"), StreamPattern("shared")])
        #expect(subject.attributes == ["x", "y"])
        #expect(!subject.mayWithEveryStream(Scope.publish))
    }

    @Test func `what is granted for a stream counts for that stream alone`() throws {
        let claims = AccessClaims(
            issuer: "i", subject: "box", audience: ["a"], expiresAt: NumericDate(seconds: 100),
            issuedAt: NumericDate(seconds: 0), scopes: [Scope.publish], streams: ["own"], attributes: ["X"])
        var grants = AccessGrants()
        let holder = AccessGrants.Holder(issuer: "i", subject: "box")
        try grants.grant(
            .init(holder: holder, stream: "door", scopes: [Scope.rewrap], attributes: ["Y"]), now: 1)
        try grants.grant(.init(holder: holder, stream: "hall*"), now: 1)
        let subject = grants.applied(
            to: Subject(claims: claims, rules: AccessRules(), defaultIssuer: "i"), claims: claims, now: 1)
        #expect(subject.may(Scope.rewrap) && subject.may(Scope.rewrap, stream: "door"))
        // A grant without a scope extends what the token may do to a stream; one with a scope gives no other stream's.
        #expect(!subject.may(Scope.rewrap, stream: "own") && !subject.may(Scope.rewrap, stream: "hall-2"))
        for stream in ["own", "door", "hall-2"] { #expect(subject.may(Scope.publish, stream: stream)) }
        #expect(!subject.may(Scope.publish, stream: "yard"))
        #expect(subject.attributes(for: "door") == ["x", "y"])
        #expect(subject.attributes(for: "hall-2") == ["x"] && subject.attributes(for: nil) == ["x"])
        func decide(_ origin: AccessDecision.Origin, _ attributes: [String] = []) -> AccessDecision {
            .decide(
                policy: Self.policy(attributes), origin: origin, subject: subject, requiresRegistration: false)
        }
        #expect(decide(.registered(stream: "door"), ["Y"]) == .permit)
        #expect(decide(.registered(stream: "own")) == .deny(.streamNotGranted))
        #expect(decide(.archive) == .deny(.streamNotGranted))
        #expect(decide(.unregistered) == .deny(.streamNotGranted))
    }

    @Test(arguments: [
        ("*", "", true), ("*", "abc", true), ("a*c", "ac", true), ("a*c", "abbc", true), ("a*c", "abcb", false),
        ("a*b*c", "a-b-b-c", true), ("a*b*c", "a-c-b", false), ("", "", true), ("", "a", false), ("a", "", false),
        ("**", "x", true), ("*a", "ba", true), ("*a", "ab", false), ("a?c", "abc", false),
    ])
    func `a star stands for any run of characters`(pattern: String, name: String, matches: Bool) {
        #expect(StreamPattern(pattern).matches(name) == matches)
    }

    @Test func `a pattern made to be slow is not`() {
        let pattern = StreamPattern(String(repeating: "a*", count: 128))
        #expect(!pattern.matches(String(repeating: "a", count: 127) + String(repeating: "b", count: 129)))
        #expect(!StreamPattern(String(repeating: "*", count: 257)).matches("a"))
        #expect(!StreamPattern.any.matches(String(repeating: "a", count: 257)))
    }

    @Test(arguments: [
        ("cam/front-1", true), ("", false), ("a*", false), ("a\nb", false), ("a\u{7F}", false), ("küche", true),
        (String(repeating: "a", count: 256), true), (String(repeating: "a", count: 257), false),
    ])
    func `a name that can be registered`(name: String, isValid: Bool) {
        #expect(StreamPattern.isValidName(name) == isValid)
    }

    @Test(arguments: [
        #"{"uuid":"u","body":{"dataAttributes":[],"dissem":[]}}"#, #"{"uuid":"u","body":{}}"#,
        #"{"uuid":"u","body":{"dataAttributes":null,"dissem":null},"extra":1}"#,
    ])
    func `an open policy is read in its forms`(text: String) throws {
        #expect(try JSONDecoder().decode(AccessPolicy.self, from: Data(text.utf8)) == Self.policy())
    }

    @Test func `attributes are names or objects`() throws {
        let text = #"{"uuid":"u","body":{"dataAttributes":["a",{"attribute":"b","displayName":"B"}],"dissem":["s"]}}"#
        #expect(
            try JSONDecoder().decode(AccessPolicy.self, from: Data(text.utf8))
                == Self.policy(["a", "b"], dissem: ["s"]))
    }

    @Test(arguments: [
        #"{}"#, #"{"uuid":"u"}"#, #"{"uuid":"u","body":{"dataAttributes":"a"}}"#,
        #"{"uuid":"u","body":{"dissem":"viewer"}}"#, #"{"uuid":"u","body":{"dataAttributes":[{}]}}"#,
        #"{"uuid":"u","body":{"dissem":[null]}}"#, #"[]"#,
    ])
    func `a list of another form does not open the policy`(text: String) {
        #expect(throws: (any Error).self) { try JSONDecoder().decode(AccessPolicy.self, from: Data(text.utf8)) }
    }
}
