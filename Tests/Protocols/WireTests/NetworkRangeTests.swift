import Testing
import Wire

struct NetworkRangeTests {
    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("::1", "0:0:0:0::/64"),
        ("2001:db8::", "2001:db8:0:0::/64"), ("::ffff:192.0.2.7", "192.0.2.7"), ("fe80::1:2.3.4.5", "fe80:0:0:0::/64"),
    ])
    func `one holder of addresses has one share`(text: String, share: String) {
        #expect(NetworkAddress(text)?.share == share)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.+4", ":", ":::", "1::2::3", "1:2:3:4:5:6:7",
        "1:2:3:4:5:6:7:8:9", "12345::", "::g", "[::1]", "fe80::1%eth0", "::1.2.3", "1.2.3.4::", "1:2:3:4:5:6:7::8:9",
        "10.0.0.0/8", "example.net",
    ])
    func `what is not an address is refused`(text: String) {
        #expect(NetworkAddress(text) == nil)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.128/25", "192.0.2.127", false),
        ("192.0.2.128/25", "192.0.2.200", true), ("0.0.0.0/0", "203.0.113.9", true),
        ("0.0.0.0/0", "2001:db8::1", false),
        ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
        ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false), ("::/0", "::1", true),
        ("127.0.0.0/8", "::ffff:127.0.0.1", true),
    ])
    func `a range holds its addresses and no others`(range: String, address: String, holds: Bool) throws {
        #expect(try #require(NetworkRange(range)).contains(try #require(NetworkAddress(address))) == holds)
    }

    @Test(arguments: ["10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/8/8", "/8", "all"])
    func `what is not a range is refused`(text: String) {
        #expect(NetworkRange(text) == nil)
    }

    @Test func `deny comes before allow, and with allow everybody else is out`() throws {
        let near = try #require(NetworkAddress("192.0.2.7"))
        let bad = try #require(NetworkAddress("192.0.2.66"))
        let far = try #require(NetworkAddress("203.0.113.1"))
        let network = try #require(NetworkRange("192.0.2.0/24"))
        let one = try #require(NetworkRange("192.0.2.66"))
        let both = NetworkRules(allow: [network], deny: [one])
        #expect(both.permits(near) && !both.permits(bad) && !both.permits(far) && !both.permits(nil))
        let deny = NetworkRules(deny: [one])
        #expect(deny.permits(near) && !deny.permits(bad) && deny.permits(far))
        #expect(NetworkRules().permits(far) && NetworkRules().permits(nil))
    }
}

@Suite struct LoopbackTests {
    @Test(arguments: ["localhost", "::1", "127.0.0.1", "127.255.255.254"])
    func `this machine`(host: String) {
        #expect(NetworkAddress.isLoopback(host: host))
    }

    /// What somebody else may read otherwise is not taken for this machine, even where it is.
    @Test(arguments: [
        "", "LOCALHOST", "localhost.", "localhost.example.net", "[::1]", "::", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1",
        "::2",
        "127.1", "127.0.0.256", "127.0.0.01", "0127.0.0.1", "127.0.0.1.", "127.0.0", "127.0.0.1 ", "128.0.0.1",
        "0.0.0.0",
        "127.0.0.1.example.net", "２127.0.0.1",
    ])
    func `not this machine`(host: String) {
        #expect(!NetworkAddress.isLoopback(host: host))
    }

    @Test func `an address is, however it was spelled`() throws {
        for text in ["127.0.0.1", "::1", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"] {
            #expect(try #require(NetworkAddress(text)).isLoopback)
        }
        for text in ["128.0.0.1", "::", "::2", "1::1", "::ffff:10.0.0.1"] {
            #expect(try !#require(NetworkAddress(text)).isLoopback)
        }
    }
}
