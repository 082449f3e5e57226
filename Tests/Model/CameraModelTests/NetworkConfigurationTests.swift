import FoundationEssentials
import Settings
import Testing

@testable import CameraModel

/// Cameras on the network.
@Suite struct NetworkConfigurationTests {
    private typealias Network = CameraConfiguration.Network

    private func camera(_ network: CameraConfiguration.Network) -> CameraConfiguration {
        CameraConfiguration(
            id: "yard", source: .network(network), relay: .init(url: "rtmp://127.0.0.1/live/yard"),
            kas: KASConfiguration(url: "https://kas.example.net/kas"))
    }

    private func fields(_ network: CameraConfiguration.Network) -> [String] {
        do {
            try network.validate()
            return []
        } catch {
            return error.problems.map(\.field)
        }
    }

    @Test func `what a document leaves out has its default`() throws {
        let json = """
            {"id": "yard", "source": {"network": {"url": "rtsp://cam/1"}},
             "relay": {"url": "rtmps://live.example.net/live"}, "kas": {"url": "https://kas.example.net/kas"}}
            """
        let read = try CameraConfiguration.decode(Data(json.utf8))
        #expect(read.source == .network(Network(url: "rtsp://cam/1")))
        guard case .network(let network) = read.source else { return }
        #expect(network.timestamps == .auto)
        #expect(network.transport == .tcp && network.audio && !network.allowsBasic && network.events)
        #expect(network.user == nil && network.pin == nil && network.identity == nil && network.memoryFile == nil)
        #expect(!read.isUnthrottled)
    }

    @Test func `a document that says everything is read again from what it is written as`() throws {
        let everything = camera(
            Network(
                url: "onvif://[2001:db8::1]:8000/onvif/device_service", user: "ad min\"", passwordFile: "credential:x",
                transport: .multicast, timestamps: .camera, audio: false, allowsBasic: true,
                pin: "sha256//\(String(repeating: "A", count: 43))=", profile: "sub", rtspHost: "2001:db8::2",
                rtspPort: 65_535, events: false,
                identity: .init(endpoint: "urn:uuid:1", serial: "S", mac: "00:11:22:aa:bb:cc"),
                memoryFile: "/var/lib/x/network.json", transcoding: .init(bitrate: 500_000, gopSeconds: 2)))
        #expect(try CameraConfiguration.decode(JSONEncoder().encode(everything)) == everything)
    }

    @Test func `host and port of a stream`() {
        func fields(_ url: String, _ host: String?, _ port: Int?) -> [String] {
            self.fields(Network(url: url, rtspHost: host, rtspPort: port))
        }
        for host in ["cam", "192.0.2.1", "2001:db8::1", "fe80::1%eth0", "a.b-c_d"] {
            #expect(fields("onvif://cam", host, 554) == [])
        }
        for host in ["", "rtsp://cam", "cam/x", "cam?", "a@b", "[::1]", "a b", String(repeating: "a", count: 254)] {
            #expect(fields("onvif://cam", host, nil) == ["rtspHost"], "\(host)")
        }
        for port in [0, -1, 65_536] { #expect(fields("onvif://cam", nil, port) == ["rtspPort"]) }
    }

    @Test(arguments: [
        "rtsp://cam", "rtsp://cam/", "rtsp://192.0.2.1:8554/a/b?c=d&e=f", "rtsps://cam.local:322/1", "rtsp://cam_1/x",
        "rtsp://[2001:db8::1]/x", "rtsp://[fe80::1%25eth0]:554/", "rtsp://[fe80::1%eth0]/", "onvif://cam",
        "onvif://cam/",
        "onvif://cam:2020/onvif/device_service", "rtsp://cam/cam/realmonitor?channel=1&subtype=0", "rtsp://cam?a=b",
        "rtsp://cam/x?compass=5", "rtsp://cam/x?password=", "rtsp://cam/a%40b", "rtsp://cam:65535/;a|b",
        "rtsp://cam/?profile_token=main", "rtsp://cam/pass", "rtsp://cam/?x=%zz&y=%4", "http://cam/stream?auth=basic",
    ]) func `an address`(url: String) {
        #expect(fields(Network(url: url)) == [])
    }

    @Test(arguments: [CameraConfiguration.Network.Transport.udp, .multicast])
    func `a person chooses no transport that would leave frames readable, and what is stored stays valid`(
        transport: CameraConfiguration.Network.Transport
    ) {
        for url in ["rtsps://cam/1", "RTSPS://cam/1"] {
            #expect(Network.readable(transport, url: url)?.reason.hasPrefix("is \(transport.rawValue):") == true)
            #expect(Network.readable(.tcp, url: url) == nil)
        }
        #expect(Network.readable(transport, url: "rtsp://cam/1") == nil)
        #expect(Network.readable(transport, url: "onvif://cam") == nil)
        #expect(fields(Network(url: "rtsps://cam/1", transport: transport)) == [])
    }

    @Test(arguments: [
        ("", Network.AddressFault.length), ("rtsp://\(String(repeating: "a", count: 2048))", .length),
        ("rtsp://cam/a b", .characters), ("rtsp://cam/\n", .characters), ("rtsp://cam/\u{0}", .characters),
        ("rtsp://cäm/", .characters), ("rtsp://cam/\u{202E}", .characters), ("ftp://cam/", .scheme),
        ("RTSP://cam/", .scheme), ("cam", .scheme), ("rtsp:/cam", .scheme), ("://cam", .scheme), ("rtsp://", .host),
        ("rtsp:///x", .host), ("rtsp://?x", .host), ("rtsp://:554/", .host), ("rtsp://[::1/", .host),
        ("rtsp://[]/", .host), ("rtsp://[cam]/", .host), ("rtsp://[::1]x/", .host), ("rtsp://ca!m/", .host),
        ("rtsp://cam:/", .port), ("rtsp://cam:0/", .port), ("rtsp://cam:65536/", .port), ("rtsp://cam:-1/", .port),
        ("rtsp://cam:+1/", .port), ("rtsp://cam:99999999999999999999/", .port), ("rtsp://[::1]:x/", .port),
        ("rtsp://::1/", .host), ("rtsp://a@cam/", .credentials), ("rtsp://a:b@cam/", .credentials),
        ("rtsp://a:b/c@cam/", .credentials), ("rtsp://cam/a@b", .credentials), ("rtsp://cam/?user=a", .credentials),
        ("rtsp://cam/?a=b&PassWord=c", .credentials), ("rtsp://cam/?p%77d=c", .credentials),
        ("rtsp://cam/user=a_password=b_channel=1", .credentials), ("rtsp://cam/x;token=b", .credentials),
        ("http://cam/videostream.cgi?loginuse=a&x=1", .credentials),
        ("http://cam/videostream.cgi?LoginPas=b", .credentials),
        ("http://cam/snap?usr=a", .credentials), ("http://cam/snap?userpwd=a:b", .credentials),
        ("http://cam/snap?auth=YWRtaW46YQ==", .credentials),
        ("onvif://u:p@cam", .credentials), ("rtsp://cam/#a", .query), ("onvif://cam/?a=b", .query),
    ]) func `not an address`(url: String, fault: CameraConfiguration.Network.AddressFault) {
        #expect(throws: fault) { try Network.check(address: url) }
        #expect(fields(Network(url: url)) == ["url"])
    }

    @Test func `each field has its limits`() {
        func with(_ change: (inout Network) -> Void) -> [String] {
            var network = Network(url: "rtsp://cam/1")
            change(&network)
            return fields(network)
        }
        for text in ["", String(repeating: "x", count: 65), "a\u{1B}", String(repeating: "👨‍👩‍👧‍👦", count: 65)] {
            #expect(with { $0.user = text } == ["user"])
            #expect(with { $0.profile = text } == ["profile"])
        }
        #expect(with { $0.user = String(repeating: "👨‍👩‍👧‍👦", count: 64) } == [])
        for text in ["", String(repeating: "x", count: 1025), "/a\nb"] {
            #expect(with { $0.passwordFile = text } == ["passwordFile"])
            #expect(with { $0.memoryFile = text } == ["memoryFile"])
        }
        for text in ["", "sha256//", "sha256//x", "A"] { #expect(with { $0.pin = text } == ["pin"]) }
        #expect(with { $0.identity = .init(endpoint: "", serial: "", mac: "") }.count == 3)
        #expect(with { $0.identity = .init(mac: "00:11:22:AA:BB:CC") } == ["identity.mac"])
        #expect(with { $0.transcoding.bitrate = 1 } == ["transcoding.bitrate"])
        #expect(with { $0.transcoding.gopSeconds = .nan } == ["transcoding.gopSeconds"])
        #expect(
            with {
                $0.url = "x"
                $0.user = ""
                $0.pin = "x"
            } == ["url", "user", "pin"])
    }

    @Test func `a camera is refused with the path of the field, and nothing of its value`() throws {
        let bad = camera(
            Network(url: "rtsp://admin:hunter2@cam/hunter2", pin: "hunter2", identity: .init(mac: "hunter2")))
        let error = #expect(throws: ConfigurationError.self) { try bad.validate() }
        #expect(
            error?.problems.map(\.field) == ["source.network.url", "source.network.pin", "source.network.identity.mac"])
        #expect(error?.problems.allSatisfy { !$0.reason.isEmpty && !$0.hint.isEmpty } == true)
        for text in ["\(error!)", bad.description] { #expect(!text.contains("hunter2"), "\(text)") }
    }

    @Test(arguments: [
        ("rtsp://cam:554/live?x=key", "rtsp://cam:554/…"), ("onvif://cam", "onvif://cam"),
        ("rtsp://u:hunter2@cam/x", "rtsp://cam/…"), ("rtsp://u:hunt/er2@cam/x", "(an address)"),
        ("hunter2", "(an address)"), ("rtsp://u:a@hunter2@cam", "rtsp://cam"),
    ]) func `a log line names scheme and host`(url: String, shown: String) {
        #expect(Network.redacted(url) == shown)
        #expect(camera(Network(url: url)).description == "camera yard: \(shown) over tcp to rtmp://127.0.0.1/live/***")
    }

    @Test func `nothing of a network camera changes while it publishes`() {
        let old = camera(Network(url: "rtsp://cam/1"))
        var new = old
        #expect(old.videoChange(to: new) == nil)
        new.source = .network(Network(url: "rtsp://cam/1", transcoding: .init(bitrate: 100_000)))
        #expect(old.videoChange(to: new) == nil)
    }

    /// What a person or a file gives for an address; checked without a trap, and never repeated.
    @Test(arguments: UInt64(0)..<20) func `no address makes the check trap`(seed: UInt64) {
        var random = LinearCongruential(state: seed &* 0x9E37_79B9_7F4A_7C15 | 1)
        let seeds = [
            "rtsp://[fe80::1%25eth0]:554/a?b=c&d=%41#e", "onvif://u:p@cam:8000/x", "rtsps://cam/user=a_password=b",
        ]
        let pieces = [
            "%", "[", "]", ":", "@", "/", "?", "#", "=", "&", "_", "%4", "%zz", "\u{0}", "é", "://", "password", " ",
        ]
        for _ in 0..<200 {
            var bytes = Array(seeds[Int(random.next() % 3)].utf8)
            for _ in 0..<(1 + random.next() % 4) {
                let place = Int(random.next() % UInt64(bytes.count + 1))
                if random.next() % 3 == 0, place < bytes.count {
                    bytes.remove(at: place)
                } else {
                    bytes.insert(contentsOf: Array(pieces[Int(random.next() % 18)].utf8), at: place)
                }
            }
            let url = String(decoding: bytes, as: UTF8.self)
            let isValid = fields(Network(url: url)).isEmpty
            if isValid { #expect(!url.contains("@") && !url.contains("#")) }
            _ = camera(Network(url: url)).description
        }
    }
}

private struct LinearCongruential {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}

/// What can be asked of a network camera that runs.
@Suite struct NetworkControlTests {
    private func fields(_ command: PTZCommand) -> [String] {
        do {
            try command.validate()
            return []
        } catch {
            return error.problems.map(\.field)
        }
    }

    private func fields(_ change: CameraEncoder.Change) -> [String] {
        do {
            try change.validate()
            return []
        } catch {
            return error.problems.map(\.field)
        }
    }

    @Test func `a movement keeps within its ranges`() {
        #expect(fields(.continuous(pan: -1, tilt: 1, zoom: 0, seconds: 10)) == [])
        #expect(fields(.continuous(pan: -1.1, tilt: .nan, zoom: .infinity, seconds: 0)).count == 4)
        #expect(fields(.continuous(pan: 0, tilt: 0, zoom: 0, seconds: 10.5)) == ["continuous.seconds"])
        #expect(fields(.absolute(pan: nil, tilt: nil, zoom: 1)) == [])
        #expect(fields(.absolute(pan: nil, tilt: nil, zoom: -0.1)) == ["absolute.zoom"])
        #expect(fields(.absolute(pan: nil, tilt: nil, zoom: nil)) == ["absolute"])
        #expect(fields(.stop) == [] && fields(.home) == [] && fields(.goTo(preset: "Door ü")) == [])
        for name in ["", String(repeating: "x", count: 65), "a\n", "a\u{200F}b", "a\u{FEFF}b"] {
            #expect(fields(.goTo(preset: name)) == ["goTo.preset"])
            #expect(fields(.store(preset: name)) == ["store.preset"])
        }
    }

    @Test(arguments: [
        (
            #"{"continuous":{"pan":0.5,"tilt":0,"zoom":0,"seconds":1}}"#,
            PTZCommand.continuous(pan: 0.5, tilt: 0, zoom: 0, seconds: 1)
        ),
        (#"{"absolute":{"pan":0.5}}"#, .absolute(pan: 0.5, tilt: nil, zoom: nil)), (#"{"stop":{}}"#, .stop),
        (#"{"goTo":{"preset":"1"}}"#, .goTo(preset: "1")), (#"{"store":{"preset":"1"}}"#, .store(preset: "1")),
        (#"{"home":{}}"#, .home),
    ]) func `a movement has one form in JSON`(json: String, command: PTZCommand) throws {
        #expect(try JSONDecoder().decode(PTZCommand.self, from: Data(json.utf8)) == command)
        #expect(try JSONDecoder().decode(PTZCommand.self, from: JSONEncoder().encode(command)) == command)
    }

    @Test func `a change of an encoder keeps within what any takes`() {
        typealias Change = CameraEncoder.Change
        #expect(
            fields(Change(token: "1", codec: "hevc", size: .init(width: 640, height: 360), rate: 12.5, gop: 25)) == [])
        #expect(fields(Change(token: "1")) == ["token"])
        #expect(fields(Change(token: "", bitrate: 1)) == ["token", "bitrate"])
        #expect(
            fields(
                Change(token: "1", codec: "vp9", size: .init(width: 0, height: .max), rate: .nan, bitrate: .min, gop: 0)
            )
                == ["codec", "size", "rate", "bitrate", "gop"])
    }

    @Test func `an invalid range is refused, not trapped on`() throws {
        let good = CameraEncoder(
            token: "1", name: "n", profiles: ["p"], codec: "h264", size: .init(width: 2, height: 2), rates: 1...30,
            gops: 1...10)
        let json = String(decoding: try JSONEncoder().encode(good), as: UTF8.self)
        #expect(try JSONDecoder().decode(CameraEncoder.self, from: Data(json.utf8)) == good)
        #expect(json.contains("[1,10]"))
        #expect(throws: (any Error).self) {
            try JSONDecoder().decode(CameraEncoder.self, from: Data(json.replacing("[1,10]", with: "[10,1]").utf8))
        }
    }
}
