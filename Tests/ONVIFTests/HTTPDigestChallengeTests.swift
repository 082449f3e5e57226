import Cryptography
import ONVIF
import Testing

struct HTTPDigestChallengeTests {
    private func hash(_ algorithm: HTTPDigestChallenge.Algorithm, _ bytes: [UInt8]) -> [UInt8] {
        algorithm == .md5 ? Digest.md5(bytes) : Digest.sha256(bytes)
    }

    /// RFC 7616 §3.9.1.
    static let realm = #"realm="http-auth@example.org", qop="auth, auth-int", "#
    static let nonce =
        #"nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS""#

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `the standard's example`(_ algorithm: String, _ response: String) throws {
        let challenge = try #require(HTTPDigestChallenge(["Digest \(Self.realm)algorithm=\(algorithm), \(Self.nonce)"]))
        let value = challenge.authorization(
            user: "Mufasa", password: "Circle of Life", method: "GET", uri: "/dir/index.html",
            clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", hash: hash)
        #expect(value.contains("response=\"\(response)\""))
        #expect(value.contains("algorithm=\(algorithm)") && value.contains("opaque=\"FQhe/"))
        #expect(!value.contains("Circle"))
    }

    @Test func `the strongest of several, among other schemes`() {
        let both = [
            "Basic realm=\"x, Digest y\", Digest \(Self.realm)\(Self.nonce)",
            "Digest \(Self.realm)algorithm=SHA-256, \(Self.nonce)",
        ]
        #expect(HTTPDigestChallenge(both)?.algorithm == .sha256)
        #expect(HTTPDigestChallenge([both[0]])?.algorithm == .md5)
    }

    @Test(arguments: [
        "", "Digest", "Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"y\"",
        "Digest realm=\"x\", nonce=\"y\", qop=\"auth-int\"",
        "Digest realm=\"x\", qop=auth", "Digest realm=\"x\", nonce=\"y\", qop=auth, algorithm=MD5-sess",
        "Basic realm=\"Digest nonce=1, qop=auth\"", "Digest realm=\"x", "=,=,=", "Digest realm=\"x\\",
    ])
    func `what is none, or one that must not be answered`(_ header: String) {
        #expect(HTTPDigestChallenge([header]) == nil)
    }

    @Test func `any beginning of a challenge is harmless`() {
        let whole = Array("Digest \(Self.realm)algorithm=SHA-256, \(Self.nonce)".utf8)
        for end in whole.indices { _ = HTTPDigestChallenge([String(decoding: whole[..<end], as: UTF8.self)]) }
        #expect(HTTPDigestChallenge([String(decoding: whole, as: UTF8.self)]) != nil)
    }
}
