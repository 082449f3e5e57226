import Testing
import Wire

@Suite struct HostPortTests {
    @Test(
        arguments: [
            ("host", "host", nil), ("host:", "host", ""), ("host:80", "host", "80"), ("", "", nil), (":80", "", "80"),
            ("::1", "", ":1"), ("[::1]", "::1", nil), ("[::1]:", "::1", ""),
            ("[fe80::1%eth0]:80", "fe80::1%eth0", "80"),
            // The colon stands there, whatever comes behind it.
            ("host:\u{301}80", "host", "\u{301}80"),
        ] as [(String, String, String?)])
    func `brackets and the first colon divide`(authority: String, host: String, port: String?) throws {
        let parts = try #require(HostPort(authority: authority[...]))
        #expect(parts.host == host && parts.portText.map(String.init) == port)
        #expect(parts.isBracketed == authority.hasPrefix("["))
    }

    @Test(arguments: ["[", "[::1", "[::1]x", "[::1]x:80", "[::1]]", "[]", "[host]", "[127.0.0.1]:80"])
    func `brackets hold an address of IPv6 and close`(authority: String) {
        #expect(HostPort(authority: authority[...]) == nil)
    }

    @Test func `a port is a number of one to five digits, or the standard one`() {
        #expect(HostPort(authority: "a")?.port(defaultValue: 7) == 7)
        #expect(HostPort(authority: "a:")?.port(defaultValue: 7) == 7)
        #expect(HostPort(authority: "a:00080")?.port(defaultValue: 7) == 80)
        #expect(HostPort(authority: "a:65535")?.port(defaultValue: 7) == 65_535)
        for port in ["0", "65536", "99999", "000080", "+80", "-80", "8 0", "80:80", "٨٠", "80x"] {
            #expect(HostPort(authority: "a:\(port)")?.port(defaultValue: 7) == nil, "\(port)")
        }
        #expect(HostPort.port("0", least: 0) == 0)
        #expect(HostPort.port("", least: 0) == nil)
    }
}
