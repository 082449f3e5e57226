import RTMPTransport
import Testing

struct PlayLinkTests {
    private let secret = PlayLinkSecret("  0123456789abcdef \nnot this")!

    /// `printf 'watchbox play link\nlive/door\n1700000000' | openssl dgst -sha256 -hmac 0123456789abcdef`
    private let signature = "e33d423649be052c75e54e363545a865e6afb22fdfcca9030cd4620938ca4b26"

    @Test func `a link is HMAC-SHA256 over path and time`() {
        let query = secret.query(path: "live/door", expires: 1_700_000_000)
        #expect(query == "expires=1700000000&signature=\(signature)")
    }

    @Test func `a link opens its stream until it expires, and nothing else`() {
        func permits(
            _ path: String = "live/door", _ expires: String = "1700000000", _ given: String? = nil,
            at now: Int64 = 1_700_000_000
        ) -> Bool {
            secret.permits(path: path, expires: expires, signature: given ?? signature, at: now)
        }
        #expect(permits() && permits(at: 0))
        #expect(!permits(at: 1_700_000_001))
        #expect(!permits("live/hall") && !permits("live/door", "1700000001") && !permits("live/door", "01700000000"))
        #expect(!permits("live/door", "+1700000000") && !permits("live/door", "") && !permits("live/door", "never"))
        #expect(
            !permits("live/door", "1700000000", "") && !permits("live/door", "1700000000", String(signature.dropLast()))
        )
        #expect(
            !PlayLinkSecret("0123456789abcdeF")!.permits(
                path: "live/door", expires: "1700000000", signature: signature, at: 0))
    }

    @Test func `a short secret is refused, and none is ever shown`() {
        #expect(PlayLinkSecret("0123456789abcde") == nil && PlayLinkSecret("") == nil)
        #expect("\(secret) \(String(reflecting: secret))" == "play link secret play link secret")
        #expect(Mirror(reflecting: secret).children.isEmpty)
    }
}
