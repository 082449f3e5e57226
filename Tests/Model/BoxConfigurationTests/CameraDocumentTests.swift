import CameraModel
import ErrorCatalog
import FoundationEssentials
import Settings
import Testing

@testable import BoxConfiguration

struct CameraDocumentTests {
    @Test func `a camera's document has all that its process needs, and names its secrets`() throws {
        let settings = Samples.settings(Samples.full)
        let front = try settings.cameraConfiguration("front", stateDirectory: "/var/lib/watchbox/camera/front")
        #expect(front.id == "front" && front.stream == "front-1")
        #expect(
            front.source
                == .testPattern(
                    .init(width: 640, height: 360, frameRate: 25, bitrate: 1_500_000, gopSeconds: 2, audio: false)))
        #expect(front.relay.url == "rtmps://live.example.net/live/front-1" && front.relay.urlFile == nil)
        #expect(front.relay.caFile == "/etc/watchbox/ca.pem" && front.relayProfile == .keepsMetadata)
        #expect(front.policy.dataAttributes == ["https://example.net/attr/a/value/b"])
        #expect(front.policy.dissem == ["alice", "bob"] && front.rotation.seconds == 30.5)
        let json = String(decoding: try JSONEncoder().encode(front), as: UTF8.self).replacing("\\/", with: "/")
        #expect(json.contains("\"tokenFile\":\"credential:kas-token\""))
        #expect(json.contains("\"publicKeyCacheFile\":\"/var/lib/watchbox/camera/front/kas-public-key.json\""))
        #expect(json.contains("\"url\":\"https://kas.example.net/kas\""))
        // What the process reads is what was meant.
        #expect(try CameraConfiguration.decode(Data(json.utf8)) == front)

        let back = try settings.cameraConfiguration("back", stateDirectory: "/s")
        #expect(back.source == .file(.init(path: "/srv/film.mp4", loop: true)))
        #expect(back.relay == .init(urlFile: "credential:relay-spare"))
    }

    @Test func `a camera that cannot run says why`() throws {
        let (settings, _) = Samples.read(
            Samples.small + "camera.side.source = 'test:'\ncamera.off = { source = 'test:', active = false }")
        var box = try #require(settings)
        // No file and no store can say this; a later version's settings may.
        box.cameras["side"]?.source = "srt://cam/"
        let obstacle = try #require(box.obstacle(to: "side"))
        #expect(throws: obstacle) { try box.cameraConfiguration("side", stateDirectory: "/s") }
        #expect(obstacle.code == .unsupportedSource)
        let error = #expect(throws: CodedError.self) { try box.cameraConfiguration("none", stateDirectory: "/s") }
        #expect(error?.code == .notFound)
        #expect(try box.cameraConfiguration("off", stateDirectory: "/s").id == "off")
        #expect(box.runningCameras == ["front"])
        let alone = try #require(Samples.read("camera.front.source = 'test:'").settings)
        let incomplete = #expect(throws: CodedError.self) {
            try alone.cameraConfiguration("front", stateDirectory: "/s")
        }
        #expect(incomplete?.code == .incompleteCamera)
    }

    @Test func `a camera is recorded all the time, around events, or in spans of the week`() throws {
        func occasions(_ settings: String) throws -> CameraConfiguration.Recording.Occasions?? {
            let box = Samples.settings(Samples.small + "\n[camera.side]\nsource = 'test:'\n\(settings)")
            let document = try box.cameraConfiguration("side", stateDirectory: "/s")
            let json = try JSONEncoder().encode(document)
            #expect(try CameraConfiguration.decode(json) == document)
            return document.recording.map(\.occasions)
        }
        let night = [try WeekSpan("18:00-07:00")]
        #expect(try occasions("") == .none)
        #expect(try occasions("record_schedule = ['18:00-07:00']") == .none)
        #expect(try occasions("record = 'continuous'") == .some(nil))
        #expect(
            try occasions("record = 'continuous'\nrecord_schedule = ['18:00-07:00']")
                == .init(sensors: false, before: 10, after: 30, schedule: night))
        #expect(try occasions("record = 'events'") == .init(sensors: true, before: 10, after: 30, schedule: []))
        #expect(
            try occasions("record = 'events'\nrecord_before = 0\nrecord_after = 600\nrecord_schedule = ['18:00-07:00']")
                == .init(sensors: true, before: 0, after: 600, schedule: night))
    }

    @Test func `whether the bitrate follows the uplink reaches the camera`() throws {
        func uplink(_ settings: String) throws -> CameraConfiguration.Uplink? {
            let box = Samples.settings(Samples.small + "\n[camera.side]\nsource = 'test:'\n\(settings)")
            #expect(Samples.settings(box.toml()) == box)
            let document = try box.cameraConfiguration("side", stateDirectory: "/s")
            #expect(try CameraConfiguration.decode(JSONEncoder().encode(document)) == document)
            return document.uplink
        }
        // A camera that says nothing of it has the document that it had.
        #expect(try uplink("") == nil)
        #expect(try uplink("adapt = true") == nil)
        #expect(try uplink("adapt = false") == .init(adapt: false))
        #expect(try uplink("min_bitrate = 250000") == .init(adapt: true, minBitrate: 250_000))
        let low = Samples.small + "\n[camera.side]\nsource = 'test:'\nmin_bitrate = 15999"
        #expect(Samples.read(low).issues.count == 1)
        var settings = Samples.settings(Samples.small)
        settings.cameras["front"]?.minBitrate = 5
        let error = #expect(throws: CodedError.self) { try settings.cameraConfiguration("front", stateDirectory: "/s") }
        #expect(error?.code == .invalidValue && error?.what.contains("`camera.front.min_bitrate`") == true)
    }

    @Test(arguments: [(-1.0, 30.0), (61, 30), (10, 0.5), (10, 601), (.nan, 30), (10, .infinity)])
    func `times around events that cannot be are refused by the camera`(before: Double, after: Double) throws {
        var settings = Samples.settings(Samples.small)
        settings.cameras["front"]?.record = .events
        settings.cameras["front"]?.recordBefore = before
        settings.cameras["front"]?.recordAfter = after
        let error = #expect(throws: CodedError.self) { try settings.cameraConfiguration("front", stateDirectory: "/s") }
        #expect(error?.code == .invalidValue && error?.what.contains("`camera.front.record_") == true)
    }

    @Test func `settings that were made in the program are checked, too`() throws {
        var settings = Samples.settings(Samples.small)
        settings.cameras["front"]?.video.frameRate = 0
        let error = #expect(throws: CodedError.self) { try settings.cameraConfiguration("front", stateDirectory: "/s") }
        #expect(error?.code == .invalidValue)
        #expect(error?.what.contains("`camera.front.rate`") == true)
    }

    @Test(arguments: ["auto", "always", "never"])
    func `whether headers name the key of the KAS reaches the camera`(use: String) throws {
        let text = "kas = { url = 'https://k/kas', key_identifiers = '\(use)' }"
        let settings = Samples.settings("\(text)\nrelay.main.url = 'rtmps://r/live'\ncamera.front.source = 'test:'")
        let front = try settings.cameraConfiguration("front", stateDirectory: "/s")
        let json = String(decoding: try JSONEncoder().encode(front), as: UTF8.self)
        #expect(json.contains("\"keyIdentifier\":\"\(use)\""))
        #expect(Samples.settings(settings.toml()) == settings)
        #expect(settings.toml().contains("key_identifiers") == (use != "auto"), "a default is not written down")
        let (_, issues) = Samples.read(text.replacing(use, with: "sometimes"))
        #expect("\(issues)".contains("key_identifiers"), "\(issues)")
    }

    @Test func `pins and allowed hosts reach the camera`() throws {
        let pin = "sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let relay =
            "relay.main = { url = 'rtmps://r/live', public_key_pin = '\(pin)', redirect_hosts = ['two', 'Three:1936'] }"
        let settings = Samples.settings(
            "\(relay)\nkas = { url = 'https://k/kas', public_key_pin = '\(pin)' }\ncamera.front.source = 'test:'")
        let front = try settings.cameraConfiguration("front", stateDirectory: "/s")
        let json = String(decoding: try JSONEncoder().encode(front), as: UTF8.self).replacing("\\/", with: "/")
        #expect(front.relay.publicKeyPin == pin)
        #expect(json.split(separator: "\"publicKeyPin\":\"\(pin)\"").count == 3, "of the relay and of the KAS")
        #expect(front.relay.redirectHosts == ["two", "Three:1936"])
        #expect(Samples.settings(settings.toml()) == settings)
    }

    @Test(arguments: [
        (
            "relay.main = { url = 'rtmp://r/live', public_key_pin = 'sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' }",
            "is set for a URL without TLS"
        ),
        ("relay.main = { url = 'rtmps://r/live', public_key_pin = 'sha256//x' }", "is not the pin of a"),
        (
            "relay.main = { url = 'rtmps://r/live', redirect_hosts = ['a/b'] }",
            "has an entry that is not a host, entry 1"
        ),
        ("relay.main = { url = 'rtmps://r/live', redirect_hosts = ['a', 'A.'] }", "says one thing twice, entry 2"),
        (
            "kas = { url = 'http://127.0.0.1/kas', public_key_pin = 'sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' }",
            "is set for a URL without TLS"
        ),
    ])
    func `an impossible pin, or an invalid host, is reported`(line: String, reason: String) {
        let rest = [("relay", "relay.main.url = 'rtmps://r/live'"), ("kas", "kas.url = 'https://k/kas'")]
            .filter { !line.hasPrefix($0.0) }.map(\.1)
        let text = ([line, "camera.front.source = 'test:'"] + rest).joined(separator: "\n")
        let (_, issues) = Samples.read(text)
        #expect(issues.count == 1 && "\(issues)".contains(reason), "\(issues)")
    }

    @Test func `each field that a camera refuses comes from a key`() {
        let fields = [
            "streamName", "source.file.path", "source.testPattern.width", "source.testPattern.height",
            "source.testPattern.frameRate", "source.testPattern.bitrate", "source.testPattern.gopSeconds", "relay.url",
            "relay.urlFile", "relay.redirectHosts[2]", "relay.publicKeyPin", "kas.publicKeyPin", "kas.url",
            "source.device.path", "source.device.encoderMemoryFile", "rotation.seconds",
            "policy", "policy.dissem[3]", "policy.dataAttributes[0]",
        ]
        for field in fields {
            let origin = CameraDocumentField.origin(of: ConfigurationProblem(field: field, reason: "is x", hint: "y"))
            #expect(KeyTable.object(origin.object)?.key(origin.key) != nil, "\(field)")
            #expect(!origin.reason.isEmpty && !origin.hint.isEmpty)
        }
        let ofDevices = [
            ("width", "size"), ("height", "size"), ("frameRate", "rate"), ("bitrate", "bitrate"), ("gopSeconds", "gop"),
            ("pixelFormat", "pixel_format"), ("encoder", "encoder"), ("rotation", "rotate"), ("flip", "flip"),
            ("masks[3]", "masks"), ("overlay.name", "overlay"), ("controls", "controls"), ("microphone", "microphone"),
            ("path", "source"), ("encoderMemoryFile", "source"),
        ]
        let ofRecording = [
            ("directory", "source"), ("maxBytes", "record_gigabytes"), ("maxDays", "record_days"),
            ("minFreeBytes", "record_free_gigabytes"), ("before", "record_before"), ("after", "record_after"),
            ("schedule", "record_schedule"), ("recoveryKey", "record_recovery_key"),
        ]
        for (field, key) in ofRecording {
            let problem = ConfigurationProblem(field: "recording.\(field)", reason: "is x", hint: "y")
            let origin = CameraDocumentField.origin(of: problem)
            #expect(origin.object == "camera" && origin.key == key, "\(field)")
        }
        let ofNetwork = [
            ("url", "source"), ("memoryFile", "source"), ("user", "user"), ("passwordFile", "secret"), ("pin", "pin"),
            ("profile", "profile"), ("identity.endpoint", "identity_endpoint"), ("identity.serial", "identity_serial"),
            ("identity.mac", "identity_mac"), ("transcoding.bitrate", "bitrate"), ("transcoding.gopSeconds", "gop"),
        ]
        for (field, key) in ofNetwork {
            let problem = ConfigurationProblem(field: "source.network.\(field)", reason: "is x", hint: "y")
            let origin = CameraDocumentField.origin(of: problem)
            #expect(origin.object == "camera" && origin.key == key && origin.reason == "it is x" && origin.hint == "y")
            #expect(KeyTable.camera.key(key) != nil)
        }
        for (field, key) in ofDevices {
            let problem = ConfigurationProblem(field: "source.device.\(field)", reason: "is x", hint: "y")
            let origin = CameraDocumentField.origin(of: problem)
            #expect(origin.object == "camera" && origin.key == key && origin.reason == "it is x" && origin.hint == "y")
        }
    }
}
