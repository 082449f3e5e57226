import Platform
import Testing

@testable import Discovery

struct NearbyAddressesTests {
    private let nearby = NearbyAddresses([
        NetworkInterfaces.Interface(
            name: "eth0", index: 2,
            ipv4: [.init(address: "203.0.113.2", prefix: 25), .init(address: "198.51.100.1", prefix: 0)])
    ])

    @Test(arguments: [
        "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.9.9", "100.64.0.1", "169.254.1.1", "203.0.113.1",
        "203.0.113.127", "fe80::1", "febf::1", "fd00::1", "fc00::1",
    ])
    func `announcements come from near`(host: String) throws {
        #expect(nearby.contains(try #require(SocketAddress(host: host, port: 3702))))
    }

    @Test(arguments: [
        "8.8.8.8", "172.32.0.1", "192.169.0.1", "100.128.0.1", "203.0.113.128", "198.51.100.2", "0.0.0.0",
        "2001:db8::1", "::ffff:10.0.0.1", "fec0::1", "ff02::c", "::",
    ])
    func `and who says that they are elsewhere is not believed`(host: String) throws {
        #expect(!nearby.contains(try #require(SocketAddress(host: host, port: 3702))))
    }
}
