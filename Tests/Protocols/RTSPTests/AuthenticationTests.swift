import Testing

@testable import RTSP

struct AuthenticationTests {
    struct Known: Sendable, CustomTestStringConvertible {
        var header: String
        var credentials: RTSPCredentials
        var clientNonce: String
        var response: String

        var testDescription: String { header }
    }

    static let rfc7616Nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    static let rfc7616ClientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    static let known = [
        // RFC 2617 §3.5
        Known(
            header:
                "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\", "
                + "opaque=\"5ccc069c403ebaf9f0171e9517f40e41\"",
            credentials: RTSPCredentials(user: "Mufasa", password: "Circle Of Life"), clientNonce: "0a4f113b",
            response: "6629fae49393a05397450978507c4ef1"),
        // RFC 7616 §3.9.1
        Known(
            header:
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=MD5, nonce=\"\(rfc7616Nonce)\", "
                + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"",
            credentials: RTSPCredentials(user: "Mufasa", password: "Circle of Life"), clientNonce: rfc7616ClientNonce,
            response: "8ca523f5e9506fed4657c9700eebdbec"),
        Known(
            header:
                "Digest realm=\"http-auth@example.org\", qop=\"auth, auth-int\", algorithm=SHA-256, nonce=\"\(rfc7616Nonce)\", "
                + "opaque=\"FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS\"",
            credentials: RTSPCredentials(user: "Mufasa", password: "Circle of Life"), clientNonce: rfc7616ClientNonce,
            response: "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        // RFC 2069 §2.4, as corrected by its erratum 749: no qop
        Known(
            header: "Digest realm=\"testrealm@host.com\", nonce=\"dcd98b7102dd2f0e8b11d0f600bfb0c093\"",
            credentials: RTSPCredentials(user: "Mufasa", password: "CircleOfLife"), clientNonce: "0a4f113b",
            response: "1949323746fe6a43ef61f9606e7febea"),
    ]

    @Test(arguments: known)
    func `answers that the RFCs print`(known: Known) throws {
        var authenticator = Authenticator(
            credentials: known.credentials, allowsBasic: false, digest: Hashes.digest,
            makeClientNonce: { known.clientNonce })
        let challenge = try #require(authenticator.strongest(of: Challenge.parse([known.header])))
        #expect(authenticator.authorization(method: "GET", url: "/dir/index.html") == nil)
        authenticator.adopt(challenge)
        let answer = authenticator.authorization(method: "GET", url: "/dir/index.html") ?? ""
        #expect(answer.contains("response=\"\(known.response)\""))
        #expect(answer.contains("nc=00000001") == challenge.protectsQuality)
        let second = authenticator.authorization(method: "GET", url: "/dir/index.html") ?? ""
        #expect(second.contains("nc=00000002") == challenge.protectsQuality)
        #expect(second.contains(known.response) != challenge.protectsQuality)
    }

    @Test func `a session algorithm hashes the first secret with both nonces`() {
        let challenges = Challenge.parse(["Digest realm=\"r\", nonce=\"n\", algorithm=MD5-sess, qop=auth"])
        var authenticator = Authenticator(
            credentials: RTSPCredentials(user: "u", password: "p"), allowsBasic: false, digest: Hashes.digest,
            makeClientNonce: { "c" })
        authenticator.adopt(challenges[0])
        // Computed with python's hashlib: A1 = MD5(MD5(u:r:p):n:c)
        let answer = authenticator.authorization(method: "DESCRIBE", url: "rtsp://h/")
        #expect(answer?.contains("response=\"7bacd2208cf37bcd1e670c3c5e13bc6c\"") == true)
        #expect(answer?.contains("algorithm=MD5-sess") == true)
    }

    @Test func `Basic is the Base64 of UTF-8`() {
        var authenticator = Authenticator(
            credentials: RTSPCredentials(user: "Aladdin", password: "open sesame"), allowsBasic: true,
            digest: Hashes.digest, makeClientNonce: { "c" })
        authenticator.adopt(Challenge.parse(["Basic realm=\"WallyWorld\""])[0])
        // RFC 7617 §2
        #expect(
            authenticator.authorization(method: "DESCRIBE", url: "rtsp://h/") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
    }

    @Test(
        arguments: [
            (
                [
                    "Digest realm=\"a\", nonce=\"1\"", "Digest realm=\"a\", nonce=\"2\", algorithm=SHA-256",
                    "Basic realm=\"a\"",
                ],
                ["Digest MD5", "Digest SHA-256", "Basic"], "Digest SHA-256"
            ),
            (
                [
                    "Basic realm=\"a, b\", Digest realm=\"a=b\",nonce=\"1\", algorithm=\"MD5\", Digest realm=a, nonce=2, algorithm=sha-256"
                ],
                ["Basic", "Digest MD5", "Digest SHA-256"], "Digest SHA-256"
            ),
            (
                [
                    "Digest realm=\"a\", nonce=\"1\", algorithm=SHA-256", "Digest realm=\"a\", nonce=\"2\"",
                    "Digest realm=\"a\", nonce=\"3\", algorithm=MD5-sess", "Basic realm=\"a\"",
                ],
                ["Digest SHA-256", "Digest MD5", "Digest MD5-SESS", "Basic"], "Digest SHA-256"
            ),
            (["Digest  realm = \"IP Camera(1)\" , nonce = \"x\" , stale=\"FALSE\"   "], ["Digest MD5"], "Digest MD5"),
            (["Digest realm=IP Camera(1), nonce=abc=="], ["Digest MD5"], "Digest MD5"),
            (["digest realm=\"a\",nonce=\"1\",qop=\"\""], ["Digest MD5"], "Digest MD5"),
            (
                ["Digest realm=\"a\", nonce=\"1\", algorithm=SHA-512-256", "Bearer", "Negotiate abc=="],
                ["Digest SHA-512-256", "Bearer", "Negotiate"], nil
            ),
            (["Digest realm=\"a\", nonce=\"1\", qop=\"auth-int\""], ["Digest MD5"], nil),
            (["Digest realm=\"a\""], ["Digest MD5"], nil),
            (["Basic realm=\"a\""], ["Basic"], nil),
            (["", ",,,", "  "], [], nil),
        ] as [([String], [String], String?)])
    func `challenges are read and the strongest is taken`(headers: [String], names: [String], taken: String?) {
        let challenges = Challenge.parse(headers)
        #expect(challenges.map(\.name) == names)
        let authenticator = Authenticator(
            credentials: RTSPCredentials(user: "u", password: "p"), allowsBasic: false, digest: Hashes.digest,
            makeClientNonce: { "c" })
        #expect(authenticator.strongest(of: challenges)?.scheme?.name == taken)
    }

    @Test func `quotes, backslashes and control characters cannot break the header`() {
        var authenticator = Authenticator(
            credentials: RTSPCredentials(user: "a\"b\\c\r\nX: y", password: "p"), allowsBasic: false,
            digest: Hashes.digest,
            makeClientNonce: { "c" })
        let challenge = Challenge.parse(["Digest realm=\"x \\\"y\\\" z\", nonce=\"n\\\\m\", opaque=\"o\""])[0]
        #expect(challenge.realm == "x \"y\" z")
        #expect(challenge.nonce == "n\\m")
        authenticator.adopt(challenge)
        let answer = authenticator.authorization(method: "PLAY", url: "rtsp://h/") ?? ""
        #expect(answer.hasPrefix("Digest username=\"a\\\"b\\\\cX: y\", realm=\"x \\\"y\\\" z\", nonce=\"n\\\\m\""))
        #expect(!answer.contains("\r") && !answer.contains("\n"))
    }

    @Test func `challenges are bounded`() {
        let many = (0..<1000).map { "Basic realm=\"\($0)\"" }
        #expect(Challenge.parse(many).count == Challenge.maxCount)
        #expect(Challenge.parse([many.joined(separator: ", ")]).count <= Challenge.maxCount)
        let long = String(repeating: "n", count: 5000)
        #expect(Challenge.parse(["Digest realm=\"r\", nonce=\"\(long)\""])[0].scheme == nil)
        #expect(Challenge.parse(["Basic realm=\"\(long)\""])[0].scheme == nil)
    }

    @Test func `every prefix and every flipped byte of a challenge is a value`() {
        let text = Array(
            "Basic realm=\"a\\\"\", Digest realm=\"b, c\", nonce=\"1\", algorithm=SHA-256, qop=\"auth\", stale=true"
                .utf8)
        for end in text.indices {
            #expect(Challenge.parse([String(decoding: text[..<end], as: UTF8.self)]).count <= 8)
        }
        for index in text.indices {
            for bit in 0..<8 {
                var flipped = text
                flipped[index] ^= 1 << UInt8(bit)
                #expect(Challenge.parse([String(decoding: flipped, as: UTF8.self)]).count <= 8)
            }
        }
    }
}
