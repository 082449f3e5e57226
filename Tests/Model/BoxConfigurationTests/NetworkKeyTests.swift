import CameraModel
import ErrorCatalog
import FoundationEssentials
import Settings
import Testing

@testable import BoxConfiguration

/// Keys of cameras whose source is `rtsp://`, `rtsps://` or `onvif://`.
struct NetworkKeyTests {
    private static let pin = "sha256//AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

    static let full = """
        kas.url = "https://kas.example.net/kas"
        relay.main.url = "rtmp://relay.example.net/live"

        [camera.yard]
        source = "onvif://192.168.1.50:8000/onvif/device_service"
        user = "admin"
        secret = "yard-login"
        bitrate = 1500000
        gop = 2
        audio = false
        transport = "udp"
        timestamps = "arrival"
        allow_basic = true
        pin = "\(pin)"
        profile = "sub"
        rtsp_host = "media.example.net"
        rtsp_port = 10554
        events = false
        identity_endpoint = "urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3"
        identity_serial = "S 1"
        identity_mac = "44:19:b6:a1:c2:d3"

        """

    private static func camera(_ source: String, _ lines: String = "") -> String {
        Samples.small + "[camera.yard]\nsource = '\(source)'\n" + lines
    }

    private func network(_ text: String) throws -> CameraConfiguration.Network? {
        let document = try Samples.settings(text).cameraConfiguration("yard", stateDirectory: "/var/lib/w/yard")
        guard case .network(let network) = document.source else { return nil }
        return network
    }

    @Test func `each key reaches the camera's document`() throws {
        let settings = Samples.settings(Self.full)
        #expect(settings.runningCameras == ["yard"])
        let document = try settings.cameraConfiguration("yard", stateDirectory: "/var/lib/watchbox-camera/yard")
        #expect(
            document.source
                == .network(
                    .init(
                        url: "onvif://192.168.1.50:8000/onvif/device_service", user: "admin",
                        passwordFile: "credential:yard-login", transport: .udp, timestamps: .arrival, audio: false,
                        allowsBasic: true,
                        pin: Self.pin, profile: "sub", rtspHost: "media.example.net",
                        rtspPort: 10554, events: false,
                        identity: .init(
                            endpoint: "urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3", serial: "S 1",
                            mac: "44:19:b6:a1:c2:d3"), memoryFile: "/var/lib/watchbox-camera/yard/network.json",
                        transcoding: .init(bitrate: 1_500_000, gopSeconds: 2))))
        // What the process reads is what was meant.
        let json = try JSONEncoder().encode(document)
        #expect(try CameraConfiguration.decode(json) == document)
    }

    @Test func `what is left out has the defaults of the keys`() throws {
        let expected = CameraConfiguration.Network(
            url: "rtsp://cam/1", memoryFile: "/var/lib/w/yard/network.json")
        #expect(try network(Self.camera("rtsp://cam/1")) == expected)
        #expect(!expected.allowsBasic && expected.events && expected.audio && expected.transport == .tcp)
        #expect(expected.timestamps == .auto)
    }

    @Test func `the password is looked for under its usual name, where there is a user`() throws {
        let named = "user = 'admin'\n"
        #expect(try network(Self.camera("rtsp://cam/1", named))?.passwordFile == "credential:password")
        #expect(try network(Self.camera("rtsp://cam/1", named + "secret = 'x'"))?.passwordFile == "credential:x")
        #expect(try network(Self.camera("rtsp://cam/1"))?.passwordFile == nil)
        #expect(Samples.settings(Self.camera("rtsp://cam/1", named)).cameras["yard"]?.passwordSecret == "password")
        for source in ["test:", "file:/srv/a.mp4", "v4l2:/dev/video0"] {
            let camera = Samples.settings(Self.camera(source, named)).cameras["yard"]
            #expect(camera?.passwordSecret == nil && camera?.isNetworkCamera == false)
        }
    }

    @Test func `what is written is read again as the same`() {
        let settings = Samples.settings(Self.full)
        let text = settings.toml()
        #expect(
            text.contains(
                "transport = \"udp\"\ntimestamps = \"arrival\"\nallow_basic = true\npin = \"\(Self.pin)\"\nprofile = \"sub\"\n"
            ))
        #expect(Samples.settings(text) == settings)
        let plain = Samples.settings(Self.camera("rtsp://cam/1")).toml()
        #expect(!plain.contains("transport") && !plain.contains("timestamps") && !plain.contains("identity"))
        #expect(Samples.settings("box.pulls = 3").toml().contains("[box]\npulls = 3\n"))
        #expect(!BoxSettings().previews && Samples.settings("box.previews = true").previews)
        #expect(Samples.settings("box.previews = true").toml().contains("previews = true\n"))
    }

    @Test(arguments: [
        "rtsp://192.168.1.50/main", "rtsp://cam/cam/realmonitor?channel=1&subtype=0", "rtsps://cam.local:322/1",
        "rtsp://[2001:db8::1]:554/x", "onvif://192.168.1.50", "onvif://cam:8000/onvif/device_service", "rtsp://cam",
        "rtsp://cam/?password=", "rtsp://cam/?profile_token=main", "rtsp://cam/a%40b",
        "http://192.168.1.64:81/stream", "https://cam/video.mjpg?size=1", "http://cam/?action=stream",
    ])
    func `an address of a network camera`(source: String) throws {
        #expect(try network(Self.camera(source))?.url == source)
    }

    @Test func `settings that an HTTP camera has no use for are reported, and it runs`() throws {
        let useless = "transport = 'udp'\ntimestamps = 'arrival'\nprofile = 'sub'\n"
        let (settings, issues) = Samples.read(Self.camera("http://cam/video", useless))
        #expect(settings?.cameras["yard"] != nil)
        #expect(Set(issues.map(\.key)) == ["camera.yard.transport", "camera.yard.timestamps", "camera.yard.profile"])
        for issue in issues {
            #expect(issue.isWarning && issue.line != nil && issue.reason.hasSuffix("it does nothing"), "\(issue)")
        }
        #expect(Samples.read(Self.camera("http://cam/video", "transport = 'tcp'\ntimestamps = 'auto'\n")).1.isEmpty)
        #expect(Samples.read(Self.camera("onvif://cam", useless)).1.isEmpty)
    }

    @Test(arguments: [
        ("rtsp://admin:secret@cam/", "carries a user or a password"),
        ("http://admin:secret@cam/", "carries a user or a password"),
        ("http://cam/videostream.cgi?user=a&pwd=b", "carries a user or a password"),
        ("http://cam/#a", "has a query or a fragment where none can be"),
        ("rtsp://cam/?user=a&password=b", "carries a user or a password"), ("rtsp:cam", "has no address"),
        ("onvif://cam/?a=b", "has a query or a fragment where none can be"),
        ("rtsp://cam/#a", "has a query or a fragment where none can be"),
        ("rtsp://cam:99999/", "has an invalid port"),
        ("rtsp:///x", "has no host, or one that is neither a name nor an IP address"),
        ("rtsp://2001:db8::1/x", "has an invalid port"),
        ("rtsp://cam/a b", "has white space, control characters, or characters that an address cannot have"),
        ("rtsp://cam/ü", "has white space, control characters, or characters that an address cannot have"),
    ])
    func `an address that cannot be used says why`(source: String, reason: String) throws {
        let (settings, issues) = Samples.read("camera.yard.source = '\(source)'")
        #expect(settings == nil)
        #expect(issues.first?.key == "camera.yard.source" && issues.first?.reason == reason)
        #expect(issues.first?.hint.isEmpty == false)
        if reason.contains("password") {
            #expect(issues.first?.hint.contains("watchboxctl camera password yard") == true)
        }
    }

    @Test(arguments: [
        ("transport = 'TCP'", "transport", "is not one of its values, did you mean \"tcp\"?"),
        ("timestamps = 'arrivals'", "timestamps", "is not one of its values, did you mean \"arrival\"?"),
        ("allow_basic = 'yes'", "allow_basic", "is a string, but must be true or false"),
        ("pin = 'sha256//abc'", "pin", "is not the pin of a certificate's key"),
        ("pin = 5", "pin", "is an integer, but must be a pin in quotes"),
        ("snapshot_rate = 0.05", "snapshot_rate", "is out of range"),
        ("profile = ''", "profile", "is empty or has more than 64 characters"),
        ("identity_mac = '00-11-22-33-44-55'", "identity_mac", "is not a MAC address"),
        ("identity_mac = '00:11:22:33:44:5G'", "identity_mac", "is not a MAC address"),
        ("masks = ['0,0,1,1']", "masks", "can only be applied to cameras of this machine"),
    ])
    func `a value that is not allowed is reported with its key`(line: String, key: String, reason: String) {
        let found = Samples.read(Self.camera("rtsp://cam/1", line)).issues
        #expect(found.map(\.key) == ["camera.yard.\(key)"])
        #expect(found.first?.reason == reason)
        #expect(found.first?.hint.isEmpty == false && found.first?.line == 6)
    }

    @Test(arguments: [
        ("onvif://cam", "rtsp_host = 'rtsp://cam'", "rtsp_host"), ("onvif://cam", "rtsp_port = 0", "rtsp_port"),
        ("onvif://cam", "rtsp_port = 70000", "rtsp_port"), ("onvif://cam", "rtsp_host = 'cam:554'", "rtsp_host"),
    ])
    func `where a stream is must be a host and a port`(source: String, line: String, key: String) {
        let found = Samples.read(Self.camera(source, line)).issues
        #expect(found.map(\.key) == ["camera.yard.\(key)"])
        #expect(found.first?.hint.isEmpty == false)
    }

    @Test func `a setting of a network camera restarts it alone`() {
        let before = Samples.settings(Self.full)
        func actions(_ old: String, _ new: String) -> [ConfigurationAction] {
            precondition(Self.full.contains(old))
            return before.changes(to: Samples.settings(Self.full.replacing(old, with: new))).map(\.action)
        }
        #expect(actions("transport = \"udp\"", "transport = \"tcp\"") == [.restartCamera])
        #expect(actions("user = \"admin\"", "user = \"viewer\"") == [.restartCamera])
        #expect(actions("bitrate = 1500000", "bitrate = 1000000") == [.restartCamera])
        #expect(actions("gop = 2", "gop = 2\nsize = '640x360'\nrate = 5\nmicrophone = 'x'") == [.none])
        // What it shows of an address is scheme and host.
        let moved = Samples.settings(Self.full.replacing("192.168.1.50:8000", with: "192.168.1.51"))
        #expect(
            before.changes(to: moved).map(\.details) == [
                ["source: onvif://192.168.1.50:8000/… → onvif://192.168.1.51/…"]
            ])
    }

    @Test func `a pin has 32 bytes and one spelling`() {
        for text in [
            "", "sha256//", "sha256//\(String(repeating: "A", count: 44))",
            "sha256//\(String(repeating: "A", count: 42))=",
            "sha256//\(String(repeating: "A", count: 42))==", "sha1//\(String(repeating: "A", count: 43))=",
            "sha256//\(String(repeating: "A", count: 42))B=", "sha256//\(String(repeating: "-", count: 43))=",
        ] { #expect(!CameraConfiguration.Network.isPin(text), "\(text)") }
        #expect(CameraConfiguration.Network.isPin(Self.pin))
    }
}
