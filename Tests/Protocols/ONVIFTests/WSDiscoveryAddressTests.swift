import ONVIF
import Testing

struct WSDiscoveryAddressTests {
    @Test(arguments: [
        ("http://10.0.0.5/onvif/device_service", "10.0.0.5", 80, "/onvif/device_service"),
        ("HTTP://10.0.0.5:8000", "10.0.0.5", 8000, "/"),
        ("https://cam.local/x?a=1&b=2#f", "cam.local", 443, "/x?a=1&b=2"),
        ("http://[fe80::1%25eth0]:81/o", "fe80::1%eth0", 81, "/o"),
        ("http://[2001:db8::5]?q", "2001:db8::5", 80, "/?q"),
        ("http://10.0.0.5:/x", "10.0.0.5", 80, "/x"),
    ])
    func `a URL is taken apart`(text: String, host: String, port: UInt16, path: String) throws {
        let address = try #require(DiscoveryAddress(text))
        #expect(address.host == host && address.port == port && address.path == path)
        #expect(DiscoveryAddress(address.url) == address)
    }

    @Test(arguments: [
        "", "10.0.0.5", "ftp://10.0.0.5/", "http://admin:secret@10.0.0.5/", "http://10.0.0.5:0/",
        "http://10.0.0.5:65536/",
        "http://10.0.0.5:80:80/", "http://10.0.0.5:+8/", "http://[fe80::1/", "http://[10.0.0.5]/", "http://[::1]x/",
        "http://a b/", "http://a\u{1B}[2J/", "http://kücheñ/", "http://a/\"><script>", "http://a\\b/",
        "http://" + String(repeating: "a", count: 600) + "/",
    ])
    func `what is not such a URL is rejected`(text: String) {
        #expect(DiscoveryAddress(text) == nil)
    }

    @Test func `a source leaves out what is usual`() {
        #expect(DiscoveryAddress("http://10.0.0.5/onvif/device_service")?.source == "onvif://10.0.0.5")
        #expect(DiscoveryAddress("http://10.0.0.5:8000/onvif/device_service")?.source == "onvif://10.0.0.5:8000")
        #expect(DiscoveryAddress("https://10.0.0.5/onvif/x?a=1")?.source == "onvif://10.0.0.5:443/onvif/x")
        #expect(DiscoveryAddress("http://[fe80::1%25eth0]/onvif/device_service")?.source == "onvif://[fe80::1%25eth0]")
        #expect(DiscoveryAddress("https://10.0.0.5:8443/onvif/device_service")?.source == "onvif://10.0.0.5:8443")
        // No one would look for TLS there without knowing the port.
        #expect(DiscoveryAddress("https://10.0.0.5:80/onvif/device_service")?.source == "onvif://10.0.0.5:80")
    }

    @Test(arguments: [
        // Unspecified addresses mean the device itself.
        ("http://0.0.0.0:8080/onvif/device_service", ["http://10.0.0.5:8080/onvif/device_service"]),
        ("http://127.0.0.1/o", ["http://10.0.0.5/o"]),
        ("http://localhost/o", ["http://10.0.0.5/o"]),
        ("http://[::]/o", ["http://10.0.0.5/o"]),
        ("http://[::1]/o", ["http://10.0.0.5/o"]),
        ("http:///o", ["http://10.0.0.5/o"]),
        ("http://239.255.255.250/o", ["http://10.0.0.5/o"]),
        // Within a link only: not beside another, and repaired when alone.
        ("http://10.0.0.5/o http://[fe80::1]/p", ["http://10.0.0.5/o"]),
        ("http://[fe80::1]:81/p", ["http://10.0.0.5:81/p"]),
        ("http://169.254.3.4/p", ["http://10.0.0.5/p"]),
        // Others stay, behind the one that was seen.
        ("http://192.168.0.9/o", ["http://10.0.0.5/o", "http://192.168.0.9/o"]),
        ("http://192.168.0.9/o http://10.0.0.5/o", ["http://10.0.0.5/o", "http://192.168.0.9/o"]),
        ("http://[fd00::7]/o", ["http://10.0.0.5/o", "http://[fd00::7]/o"]),
        // What could be anybody's does not, nor what some read as another address.
        ("http://cam.local:81/o", ["http://10.0.0.5:81/o"]),
        ("http://collector.example/o http://10.0.0.6/o", ["http://10.0.0.5/o", "http://10.0.0.6/o"]),
        ("http://203.0.113.9/o", ["http://10.0.0.5/o"]),
        ("http://[2001:db8::7]/o", ["http://10.0.0.5/o"]),
        ("http://[::ffff:203.0.113.9]/o http://[::fd00:1]/o", ["http://10.0.0.5/o"]),
        ("http://012.0.0.9/o http://10.0.0.010/o", ["http://10.0.0.5/o"]),
        ("http://3405803785/o http://0xcb.0.0x71.9/o http://10.1/o http://10.0.0.9./o", ["http://10.0.0.5/o"]),
        // Each once, and what is not an address not at all.
        ("  http://10.0.0.5/o\n\thttp://10.0.0.5/o rubbish http://a:b@10.0.0.5/ ", ["http://10.0.0.5/o"]),
        ("", []), ("rubbish", []),
    ])
    func `addresses are repaired from where the datagram came`(list: String, repaired: [String]) {
        #expect(DiscoveryAddress.repaired(list, source: "10.0.0.5") == repaired)
    }

    @Test func `a device with a public address is at the one that it spoke from`() {
        #expect(
            DiscoveryAddress.repaired("http://203.0.113.8/o http://203.0.113.9/o", source: "203.0.113.9")
                == ["http://203.0.113.9/o"])
        #expect(
            DiscoveryAddress.repaired("http://[2001:db8::7]/o", source: "fe80::9%eth0")
                == ["http://[fe80::9%25eth0]/o"])
    }

    @Test func `over IPv6 within a link, an address that all can use comes first`() {
        let source = "fe80::9%eth0"
        #expect(
            DiscoveryAddress.repaired("http://[fe80::9]/o", source: source) == ["http://[fe80::9%25eth0]/o"])
        #expect(DiscoveryAddress.repaired("http://10.0.0.5/o", source: source) == ["http://10.0.0.5/o"])
        #expect(DiscoveryAddress.repaired("http://0.0.0.0/o", source: source) == ["http://[fe80::9%25eth0]/o"])
        #expect(
            DiscoveryAddress.repaired("http://[fe80::9%25eth0]/o http://10.0.0.5/o", source: source)
                == ["http://10.0.0.5/o", "http://[fe80::9%25eth0]/o"])
    }

    @Test func `no more than 16 are kept`() {
        let list = (1...200).map { "http://10.0.1.\($0)/o" }.joined(separator: " ")
        let repaired = DiscoveryAddress.repaired(list, source: "10.0.0.5")
        #expect(repaired.count == 16)
        #expect(repaired.first == "http://10.0.0.5/o")
    }
}
