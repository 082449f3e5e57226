import RTMP
import Testing

@Suite struct RedirectHostTests {
    @Test(
        arguments: [
            ("Relay2.Example.net", "relay2.example.net", nil), ("relay2.", "relay2", nil), ("r:1935", "r", 1935),
            ("r:443", "r", 443), ("[2001:DB8::1]", "2001:db8::1", nil), ("[::1]:1936", "::1", 1936),
        ] as [(String, String, UInt16?)])
    func `a host and its port are read`(text: String, host: String, port: UInt16?) throws {
        let read = try #require(RedirectHost(text))
        #expect(read.host == host && read.port == port)
    }

    @Test(arguments: [
        "", ".", ":1935", "a b", "rtmp://a", "a/b", "u:p@a", "a?b", "a#b", "a:0", "a:65536", "a:x", "::1", "\u{1b}",
        "ü", String(repeating: "a", count: 300),
    ])
    func `what is not a host is refused`(text: String) {
        #expect(RedirectHost(text) == nil)
    }
}
