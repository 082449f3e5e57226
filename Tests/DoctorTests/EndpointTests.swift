import Testing

@testable import Doctor

struct EndpointTests {
    @Test(arguments: [
        ("rtmp://relay.example.net/live", "relay.example.net", UInt16(1935)),
        ("rtmps://relay.example.net/live", "relay.example.net", 443),
        ("RTMP://10.0.0.1:2000/live", "10.0.0.1", 2000),
        ("https://[2001:db8::1]:8443/kas", "2001:db8::1", 8443),
        ("https://[::1]", "::1", 443),
        ("rtmp://user:pass@host:19/live", "host", 19),
        ("rtsp://192.0.2.7/stream1", "192.0.2.7", 554), ("onvif://[2001:db8::7]", "2001:db8::7", 80),
    ])
    func `host and port of a URL`(url: String, host: String, port: UInt16) throws {
        let endpoint = try #require(Endpoint(url))
        #expect(endpoint.host == host && endpoint.port == port)
    }

    @Test(arguments: [
        "", "relay.example.net", "ftp://host/", "rtmp://", "rtmp:///live", "rtmp://host:0/", "rtmp://host:65536/",
        "rtmp://host:x/",
        "https://[::1/", "https://[::1]x/", "rtmp://a b/live", "rtmp://a\u{0}b/live",
    ])
    func `what is no URL is refused`(url: String) {
        #expect(Endpoint(url) == nil)
    }

    @Test func `routes of both families are read`() {
        let six =
            "00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     wlan0\n"
        #expect(Routes.defaultInterface6(six) == "wlan0")
        #expect(Routes.defaultInterface6(six.replacing("wlan0", with: "lo")) == nil)
        #expect(
            Routes.addresses6(
                "fe800000000000000000000000000001 02 40 20 80 eth0\n20010db8000000000000000000000001 02 40 00 80 eth0\n"
            ) == 1)
        #expect(Routes.defaultInterface("") == nil)
    }
}
