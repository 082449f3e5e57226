import RTSP
import Testing

struct RTSPURLTests {
    @Test(
        arguments: [
            ("rtsp://10.0.0.7/cam", "10.0.0.7", 554, "/cam", "rtsp://10.0.0.7/cam"),
            ("RTSP://cam.local:8554", "cam.local", 8554, "/", "rtsp://cam.local:8554/"),
            ("rtsps://cam/x", "cam", 322, "/x", "rtsps://cam/x"),
            ("rtsps://cam:554/x", "cam", 554, "/x", "rtsps://cam:554/x"),
            ("rtsp://cam:/x", "cam", 554, "/x", "rtsp://cam/x"),
            (
                "rtsp://h/cam/realmonitor?channel=1&subtype=0", "h", 554, "/cam/realmonitor?channel=1&subtype=0",
                "rtsp://h/cam/realmonitor?channel=1&subtype=0"
            ),
            ("rtsp://h?x=1", "h", 554, "/?x=1", "rtsp://h/?x=1"),
            ("rtsp://h/a@b", "h", 554, "/a@b", "rtsp://h/a@b"),
            ("rtsp://[2001:db8::7]:8554/s", "2001:db8::7", 8554, "/s", "rtsp://[2001:db8::7]:8554/s"),
            ("rtsp://[fe80::1%eth0]/s", "fe80::1%eth0", 554, "/s", "rtsp://[fe80::1]/s"),
        ] as [(String, String, UInt16, String, String)])
    func `an address is taken apart and put together`(
        text: String, host: String, port: UInt16, path: String, sent: String
    ) throws {
        let url = try RTSPURL(text)
        #expect(url.host == host)
        #expect(url.port == port)
        #expect(url.path == path)
        #expect(url.description == sent)
        #expect(url.isSecure == sent.hasPrefix("rtsps"))
    }

    @Test(
        arguments: [
            ("http://h/", .unknownScheme), ("rtsp:/h/", .unknownScheme), ("", .unknownScheme),
            ("rtspu://h/", .unknownScheme),
            ("rtsp://user:pa55@h/", .userInformation), ("rtsp://user@h/", .userInformation),
            ("rtsp://user:pa/ss@h/", .userInformation), ("rtsp://user:p?a@h/", .userInformation),
            ("rtsp://@h/", .userInformation), ("rtsp://", .invalidHost), ("rtsp:///x", .invalidHost),
            ("rtsp://:554/x", .invalidHost), ("rtsp://[::1/x", .invalidHost), ("rtsp://[::1]x/", .invalidHost),
            ("rtsp://[host]/", .invalidHost), ("rtsp://a<b/", .invalidHost), ("rtsp://h:0/", .invalidPort),
            ("rtsp://h:65536/", .invalidPort), ("rtsp://h:5x/", .invalidPort), ("rtsp://h:-1/", .invalidPort),
            ("rtsp://h/a b", .invalidCharacter), ("rtsp://h/a\r\nX: y", .invalidCharacter),
            ("rtsp://h/#x", .invalidCharacter),
            ("rtsp://h/ä", .invalidCharacter), ("rtsp://h/\0", .invalidCharacter),
            ("rtsp://h/" + String(repeating: "x", count: 2040), .tooLong),
        ] as [(String, RTSPURLFault)])
    func `what is not an address is refused without being quoted`(text: String, fault: RTSPURLFault) {
        #expect(throws: fault) { try RTSPURL(text) }
        #expect(!fault.description.contains("pa55"))
    }

    @Test(
        arguments: [
            // control, Content-Base, result
            ("track1", "rtsp://h/cam/", "rtsp://h/cam/track1"),
            ("track1", "rtsp://h/cam", "rtsp://h/cam/track1"),
            ("/track1", "rtsp://h/cam/", "rtsp://h/cam/track1"),
            ("track1", nil, "rtsp://h/req?x=1/track1"),
            ("*", nil, "rtsp://h/req?x=1"),
            (nil, "rtsp://h/cam/", "rtsp://h/cam/"),
            ("", "rtsp://h/cam/", "rtsp://h/cam/"),
            ("*", "rtsp://h/cam/", "rtsp://h/cam/"),
            ("track1", "", "rtsp://h/req?x=1/track1"),
            (
                "trackID=1", "rtsp://h/cam/realmonitor?channel=1&subtype=0/",
                "rtsp://h/cam/realmonitor?channel=1&subtype=0/trackID=1"
            ),
            ("?ctype=video", "rtsp://h/cam", "rtsp://h/cam?ctype=video"),
            ("?ctype=video", "rtsp://h/cam/", "rtsp://h/cam/?ctype=video"),
            ("rtsp://h/cam/track1", "rtsp://h/other/", "rtsp://h/cam/track1"),
            ("RTSP://h:8554/x", nil, "rtsp://h:8554/x"),
            ("rtsp://admin:pw@h/x", nil, "rtsp://h/x"),
            ("track1", "rtsp://admin:p/w@h/cam/", "rtsp://h/cam/track1"),
            // malformed bases
            ("track1", "h/cam/", "rtsp://h/cam/track1"),
            ("track1", "h:554/cam/", "rtsp://h/cam/track1"),
            ("track1", "/cam/", "rtsp://h/cam/track1"),
            ("track1", "cam/", "rtsp://h/req?x=1/track1"),
            ("track1", "rtsp:///cam/", "rtsp://h/req?x=1/track1"),
            ("track1", "rtsp://h/cam/, rtsp://h/cam/", "rtsp://h/cam/track1"),
            ("track1", "rtsp://h/cam/rtsp://h/cam/", "rtsp://h/cam/track1"),
            ("track1", "rtsp://h/c,d/", "rtsp://h/c,d/track1"),
            ("track 1", "  rtsp://h/my cam/ ", "rtsp://h/my%20cam/track%201"),
            ("rtsp://", "rtsp://h/cam/", "rtsp://h/cam/"),
        ] as [(String?, String?, String)])
    func `a control finds its base`(control: String?, base: String?, result: String) throws {
        let url = try RTSPURL("rtsp://h/req?x=1")
        #expect(url.resolving(control: control, base: base).description == result)
    }

    @Test func `a control never makes an address longer than one can be`() throws {
        let url = try RTSPURL("rtsp://h/req")
        let long = String(repeating: "x", count: 60_000)
        #expect(url.resolving(control: long, base: nil) == url)
        #expect(url.resolving(control: "t", base: "rtsp://h/" + long).description == "rtsp://h/req/t")
    }

    @Test func `another place keeps scheme and path`() throws {
        let url = try RTSPURL("rtsps://h/a?b").with(host: "10.0.0.9", port: 8322)
        #expect(url.description == "rtsps://10.0.0.9:8322/a?b")
    }

    @Test func `credentials show neither user nor password`() {
        let credentials = RTSPCredentials(user: "adminuser", password: "topsecret")
        var dumped = ""
        dump(credentials, to: &dumped)
        for text in ["\(credentials)", String(reflecting: credentials), dumped, "\([credentials])"] {
            #expect(!text.contains("adminuser") && !text.contains("topsecret"))
        }
    }

    @Test func `five bytes show whether it is RTSP`() {
        #expect(RTSPRequest.isRTSPAnswer([]) == nil)
        #expect(RTSPRequest.isRTSPAnswer(Array("RTS".utf8)[...]) == nil)
        #expect(RTSPRequest.isRTSPAnswer(Array("RTSP/1.0 401".utf8)[...]) == true)
        for text in ["HTTP/1.1 400", "SSH-2.0", "R!", "RTSPx", "\0"] {
            #expect(RTSPRequest.isRTSPAnswer(Array(text.utf8)[...]) == false)
        }
    }

    @Test func `the request of a scan holds no credentials`() throws {
        let text = String(decoding: RTSPRequest.optionsProbe(try RTSPURL("rtsp://10.0.0.7:8554/")), as: UTF8.self)
        #expect(text == "OPTIONS rtsp://10.0.0.7:8554/ RTSP/1.0\r\nCSeq: 1\r\nUser-Agent: WatchBox\r\n\r\n")
    }
}
