import Platform
import Testing

struct SocketAddressTests {
    @Test(arguments: ["127.0.0.1", "::1", "fe80::1", "239.1.2.3", "ff05::1"])
    func `addresses keep what they are`(text: String) throws {
        let address = try #require(SocketAddress(host: text, port: 4711))
        #expect(address.port == 4711)
        #expect(address.bytes.count == (text.contains(":") ? 16 : 4))
        #expect(address.isMulticast == (text.hasPrefix("239") || text.hasPrefix("ff")))
        #expect(address.isSameHost(as: address.with(port: 1)))
        #expect(SocketAddress(host: "nonsense", port: 1) == nil)
        #expect(SocketAddress(host: "", port: 1) == nil)
    }

    @Test func `an IPv4 address inside an IPv6 one is the same host`() throws {
        let plain = try #require(SocketAddress(host: "192.0.2.9", port: 1))
        let mapped = try #require(SocketAddress(host: "::ffff:192.0.2.9", port: 2))
        #expect(plain.isSameHost(as: mapped))
        #expect(!plain.isSameHost(as: try #require(SocketAddress(host: "192.0.2.8", port: 1))))
    }
}
