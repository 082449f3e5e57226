import FoundationEssentials
import RTMP
import Settings
import Testing

@testable import CameraModel

@Suite struct CameraConfigurationTests {
    private static let smallest = """
        {"id": "front-door", "source": {"testPattern": {}},
         "relay": {"url": "rtmps://live.example.net/live"}, "kas": {"url": "https://kas.example.net/kas"}}
        """

    private static func withSource(_ source: String) -> String {
        smallest.replacing(#"{"testPattern": {}}"#, with: source)
    }

    private func decode(_ json: String) throws -> CameraConfiguration {
        try CameraConfiguration.decode(Data(json.utf8))
    }

    private func valid(_ change: (inout CameraConfiguration) -> Void = { _ in }) -> CameraConfiguration {
        var configuration = CameraConfiguration(
            id: "cam1", source: .testPattern(.init()), relay: .init(url: "rtmp://127.0.0.1/live/cam1"),
            kas: KASConfiguration(url: "https://kas.example.net/kas"))
        change(&configuration)
        return configuration
    }

    private func problems(_ configuration: CameraConfiguration) -> [ConfigurationProblem] {
        do {
            try configuration.validate()
            return []
        } catch {
            return error.problems
        }
    }

    @Test func `what a document leaves out has its default`() throws {
        let configuration = try decode(Self.smallest)
        #expect(configuration.id == "front-door")
        #expect(configuration.stream == "front-door")
        #expect(configuration.source == .testPattern(.init(width: 1280, height: 720, frameRate: 30)))
        #expect(configuration.rotation == .init(seconds: 60, items: 1 << 20, everyKeyFrame: false))
        #expect(configuration.queue.seconds == 2)
        #expect(configuration.policy == .init())
        #expect(configuration.relayProfile == .keepsMetadata)
        #expect(!configuration.repeatsHeader)
        #expect(!configuration.isUnthrottled)
        #expect(configuration.duration == nil)
    }

    @Test func `a document that says everything is read, and read again from what it is written as`() throws {
        let configuration = try decode(
            """
            {"id": "a1", "streamName": "yard", "source": {"file": {"path": "/m/clip.mp4", "loop": true,
             "pace": "real-time"}}, "relay": {"urlFile": "/run/credentials/relay", "caFile": "/etc/ca.pem"},
             "kas": {"url": "https://kas.example.net:8443/kas", "tokenFile": "/run/credentials/kas"},
             "policy": {"dataAttributes": ["https://a.example/attr/x/value/y"], "dissem": ["alice"]},
             "rotation": {"seconds": 30, "items": 1000, "everyKeyFrame": true},
             "queue": {"seconds": 1, "bytes": 1000000},
             "repeatHeader": "keyframe", "relayProfile": "drops-metadata", "frameLog": "/tmp/log", "duration": 10}
            """)
        #expect(configuration.source == .file(.init(path: "/m/clip.mp4", loop: true, pace: .realTime)))
        #expect(configuration.stream == "yard")
        #expect(configuration.policy.dissem == ["alice"])
        #expect(configuration.rotation == .init(seconds: 30, items: 1000, everyKeyFrame: true))
        #expect(configuration.repeatsHeader)
        #expect(try CameraConfiguration.decode(JSONEncoder().encode(configuration)) == configuration)
    }

    @Test(arguments: [
        ("[]", "(document)"),
        ("{", "(document)"),
        (#"{"source": {"testPattern": {}}}"#, "id"),
        (smallest.replacing("{}", with: #"{"width": "wide"}"#), "source.testPattern.width"),
        (withSource("{}"), "source"),
        (withSource(#"{"testPattern": {}, "file": {"path": "x"}}"#), "source"),
        (withSource(#"{"file": {}}"#), "source.file.path"),
        (withSource(#"{"file": {"path": "x", "pace": "fast"}}"#), "source.file.pace"),
        (smallest.replacing("front-door", with: "Front"), "id"),
        (smallest.replacing("live.example.net/live", with: ""), "relay.url"),
    ])
    func `an error names the field`(json: String, field: String) throws {
        let error = #expect(throws: ConfigurationError.self) { try decode(json) }
        #expect(error?.problems.map(\.field) == [field])
        #expect(error?.problems.allSatisfy { !$0.reason.isEmpty && !$0.hint.isEmpty } == true)
    }

    @Test(arguments: ["a", "0", "front-door", "a-b-c", "abcdefghijklmnopqrstuvwx", "1-2-3-4-5-6-7-8-9-a-b-c"])
    func `a camera ID`(id: String) {
        #expect(problems(valid { $0.id = id }) == [])
    }

    @Test(arguments: [
        "", "-", "-a", "a-", "a--b", "A", "front_door", "ä", "a b", "a/b", "..", "abcdefghijklmnopqrstuvwxy", "a\n",
        "a\u{1B}[2J", "a\u{202E}b",
    ])
    func `not a camera ID`(id: String) {
        let found = problems(valid { $0.id = id })
        #expect(found.map(\.field) == ["id"])
        #expect(found[0].description.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 0x202E })
    }

    @Test(arguments: [
        "rtmp://user:hunter2@relay.example/live/a", "rtmp://relay.example/live/a?token=hunter2",
        "rtmps://relay.example/live?key=hunter2/x",
    ])
    func `a URL with a secret does not stand in the configuration, nor in an error or a description`(url: String) {
        let configuration = valid { $0.relay.url = url }
        let found = problems(configuration)
        #expect(found.map(\.field) == ["relay.url"])
        #expect(found[0].reason.contains("password"))
        for text in ["\(found)", "\(configuration)", found[0].description] { #expect(!text.contains("hunter2")) }
    }

    @Test func `a description keeps the stream key to itself`() {
        let configuration = valid { $0.relay.url = "rtmp://relay.example/live/s3cr3t-key" }
        #expect(!configuration.description.contains("s3cr3t"))
        #expect(configuration.description.contains("relay.example"))
        #expect(configuration.description.contains("cam1"))
    }

    @Test(arguments: [
        ("rtmp://relay.example/live", "live", "cam1"),
        ("rtmp://relay.example/live/other", "live", "other"),
        ("rtmp://relay.example/a/b/other", "a/b", "other"),
        ("rtmp://relay.example/live/", "live", "cam1"),
    ])
    func `a relay's URL without a stream name gets the camera's`(url: String, app: String, name: String) throws {
        let parsed = try valid().relayURL(url)
        #expect(parsed.app == app)
        #expect(parsed.streamName == name)
    }

    @Test func `everything that is wrong is said at once`() {
        let found = problems(
            valid {
                $0.id = "A"
                $0.streamName = "a b"
                $0.source = .testPattern(.init(width: 3, height: 9001, frameRate: 0, bitrate: 1, gopSeconds: 0))
                $0.relay = .init()
                $0.kas.url = "kas"
                $0.rotation = .init(seconds: 0, items: 1 << 24)
                $0.queue = .init(seconds: 0, bytes: 0)
                $0.duration = -1
                $0.frameLog = ""
                $0.uplink = .init(minBitrate: 15_999)
                $0.policy.dataAttributes = [""]
            })
        #expect(
            found.map(\.field) == [
                "id", "streamName", "source.testPattern.width", "source.testPattern.height",
                "source.testPattern.frameRate", "source.testPattern.bitrate", "source.testPattern.gopSeconds",
                "relay.url", "kas.url", "rotation.seconds", "rotation.items", "queue.seconds", "queue.bytes",
                "duration",
                "frameLog", "uplink.minBitrate", "policy.dataAttributes[0]",
            ])
    }

    @Test func `the bitrate follows the uplink unless it is said otherwise`() throws {
        func uplink(_ json: String) throws -> CameraConfiguration.Uplink {
            try JSONDecoder().decode(CameraConfiguration.Uplink.self, from: Data(json.utf8))
        }
        #expect(try uplink("{}") == .init(adapt: true, minBitrate: nil))
        #expect(try uplink(#"{"adapt": false, "minBitrate": 300000}"#) == .init(adapt: false, minBitrate: 300_000))
        #expect(CameraConfiguration.Uplink().least(of: 4_000_000) == 400_000)
        #expect(CameraConfiguration.Uplink().least(of: 500_000) == 100_000)
        #expect(CameraConfiguration.Uplink().least(of: 50_000) == 50_000)
        #expect(CameraConfiguration.Uplink(minBitrate: 1_000_000).least(of: 400_000) == 400_000)
    }

    @Test func `it follows where frames are encoded on the box`() {
        let device = CameraConfiguration.Device(path: "/dev/video0", bitrate: 700_000)
        var passing = device
        passing.pixelFormat = .h264
        #expect(valid { $0.source = .device(device) }.encodedBitrate == 700_000)
        #expect(valid { $0.source = .device(passing) }.encodedBitrate == nil)
        #expect(valid { $0.source = .testPattern(.init(bitrate: 900_000)) }.encodedBitrate == 900_000)
        #expect(valid { $0.source = .file(.init(path: "/x")) }.encodedBitrate == nil)
        #expect(valid { $0.source = .network(.init(url: "rtsp://192.0.2.1/")) }.encodedBitrate == nil)
        let images = CameraConfiguration.Network(url: "HTTP://192.0.2.1/stream", transcoding: .init(bitrate: 800_000))
        #expect(valid { $0.source = .network(images) }.encodedBitrate == 800_000)
    }

    @Test func `a pin needs TLS, and a host a host's name`() {
        let pin = "sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        #expect(
            problems(
                valid {
                    $0.relay = .init(url: "rtmps://r/live", publicKeyPin: pin, redirectHosts: ["two", "three:1"])
                    $0.kas.publicKeyPin = pin
                }) == [])
        #expect(problems(valid { $0.relay = .init(urlFile: "/f", publicKeyPin: pin) }) == [])
        let found = problems(
            valid {
                $0.relay.publicKeyPin = pin
                $0.relay.redirectHosts = ["two", "a b"]
                $0.kas.publicKeyPin = "sha1//x"
            })
        #expect(found.map(\.field) == ["relay.publicKeyPin", "relay.redirectHosts[1]", "kas.publicKeyPin"])
        #expect(problems(valid { $0.relay.redirectHosts = Array(repeating: "a", count: 17) }).count == 1)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func `an invalid number is refused, not trapped on`(value: Double) {
        let found = problems(
            valid {
                $0.rotation.seconds = value
                $0.queue.seconds = value
                $0.duration = value
                $0.source = .testPattern(.init(gopSeconds: value))
            })
        #expect(found.count == 4)
    }

    @Test func `a file that would loop unpaced for ever is refused`() {
        var configuration = valid { $0.source = .file(.init(path: "x", loop: true, pace: .unthrottled)) }
        #expect(problems(configuration).map(\.field) == ["source.file.loop"])
        configuration.duration = 5
        #expect(problems(configuration) == [])
        #expect(configuration.isUnthrottled)
    }

    @Test(arguments: [
        (CameraConfiguration.RelayProfile.keepsMetadata, CameraConfiguration.RepeatHeader?.none, false),
        (.dropsMetadata, nil, true), (.dropsMetadata, .off, false), (.keepsMetadata, .keyframe, true),
    ])
    func `the relay's profile decides about repeated headers unless configured otherwise`(
        profile: CameraConfiguration.RelayProfile, repeats: CameraConfiguration.RepeatHeader?, expected: Bool
    ) {
        let configuration = valid {
            $0.relayProfile = profile
            $0.repeatHeader = repeats
        }
        #expect(configuration.repeatsHeader == expected)
    }
}
