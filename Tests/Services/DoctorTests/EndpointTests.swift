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
    func `what is not a URL is refused`(url: String) {
        #expect(Endpoint(url) == nil)
    }
}
