import CameraModel
import ErrorCatalog
import Settings
import Testing

@testable import BoxConfiguration

struct ConfigurationReaderTests {
    @Test func `each key reaches its setting`() throws {
        let (read, issues) = Samples.read(Samples.full)
        #expect(issues.isEmpty)
        let settings = try #require(read)
        #expect(settings.name == "porch-box")
        #expect(
            settings.relays == [
                "main": RelaySettings(url: "rtmps://live.example.net/live", caFile: "/etc/watchbox/ca.pem"),
                "spare": RelaySettings(secret: "relay-spare"),
            ])
        #expect(
            settings.kas
                == KeyAccessSettings(
                    url: "https://kas.example.net/kas", caFile: "/etc/watchbox/ca.pem", secret: "kas-token"))
        var front = CameraSettings(source: "test:")
        front.name = "Front door"
        front.video = .init(
            width: 640, height: 360, frameRate: 25, bitrate: 1_500_000, gopSeconds: 2, audio: false)
        (front.loop, front.stream, front.grid, front.rotateSeconds) = (false, "front-1", 3, 30.5)
        front.attributes = ["https://example.net/attr/a/value/b"]
        front.viewers = ["alice", "bob"]
        (front.user, front.secret) = ("admin", "password")
        #expect(settings.cameras["front"] == front)
        var back = CameraSettings(source: "file:/srv/film.mp4")
        back.relay = "spare"
        #expect(settings.cameras["back"] == back)
        #expect(settings.health == HealthSettings(reboot: false, metricsListen: "127.0.0.1:9464"))
        #expect(
            settings.relayServer
                == RelayServerSettings(
                    enabled: true, listen: "[::]:1935", publishKeys: "/etc/watchbox/publish-keys",
                    tlsCertificate: "/etc/watchbox/relay.pem", tlsKey: "/etc/watchbox/relay.key"))
        #expect(
            settings.kasServer
                == KeyAccessServerSettings(
                    enabled: true, listen: "127.0.0.1:9444", tlsCertificate: "/etc/watchbox/kas.pem",
                    tlsKey: "/etc/watchbox/kas.key"))
        #expect(settings.origins["camera.front"] == "watchbox.toml:7")
        #expect(settings.origins["kas"] == "watchbox.toml:5")
    }

    @Test func `nothing at all is a box with defaults`() throws {
        let (settings, issues) = ConfigurationReader.read(files: [])
        #expect(issues.isEmpty)
        #expect(settings == BoxSettings())
        #expect(settings?.health.reboot == true)
        #expect(settings?.relayServer == RelayServerSettings())
        #expect(settings?.kasServer == KeyAccessServerSettings())
        let camera = CameraSettings(source: "test:")
        #expect(camera.video == CameraConfiguration.TestPattern())
        #expect(camera.loop && camera.active && camera.relay == "main" && camera.rotateSeconds == 60)
        #expect(camera.displayName("front") == "front" && camera.streamName("front") == "front")
    }

    @Test func `files and store become one, and a file wins`() throws {
        let (settings, issues) = ConfigurationReader.read(
            files: [
                SourceFile(name: "watchbox.toml", text: "version = 1\nkas.url = 'https://kas.example.net'\n"),
                SourceFile(
                    name: "conf.d/10-cams.toml", text: "\n\n# the door\n[camera.front]\nsource = \"test:\"\nrate = 10\n"
                ),
            ],
            stored: [
                StoredPart(object: "relay.main", settings: ["url": .string("rtmp://relay.example.net/live")]),
                StoredPart(object: "camera.front", settings: ["source": .string("test:"), "rate": .integer(20)]),
                StoredPart(object: "camera.back", settings: ["source": .string("test:"), "gop": .integer(2)]),
            ])
        let merged = try #require(settings)
        #expect(merged.cameras["front"]?.video.frameRate == 10)
        #expect(merged.cameras["back"]?.video.gopSeconds == 2)
        #expect(merged.origins["camera.front"] == "conf.d/10-cams.toml:4")
        #expect(merged.origins["camera.back"] == "store")
        #expect(issues.count == 1)
        #expect(issues.first?.code == .definedInFile && issues.first?.isWarning == true)
        #expect(issues.first?.file == nil)
        #expect(issues.first?.reason.contains("conf.d/10-cams.toml:4") == true)
    }

    @Test func `an object in two files names both places`() {
        let (settings, issues) = ConfigurationReader.read(files: [
            SourceFile(name: "watchbox.toml", text: Samples.small),
            SourceFile(name: "conf.d/20.toml", text: "# again\ncamera.front = { source = \"test:\", rate = 1000 }"),
        ])
        #expect(settings == nil)
        // Its own faults are reported, too.
        #expect(issues.map(\.key) == ["camera.front", "camera.front.rate"])
        #expect(issues.first?.file == "conf.d/20.toml" && issues.first?.line == 2 && issues.first?.column == 8)
        #expect(issues.first?.reason.contains("watchbox.toml:3") == true)
    }

    @Test func `an object twice in one file is reported by name and line`() throws {
        let (_, issues) = Samples.read("camera.front = { source = \"test:\" }\n\ncamera.front = { source = \"test:\" }")
        let issue = try #require(issues.first)
        #expect(issues.count == 1)
        #expect(issue.code == .invalidSyntax && issue.line == 3)
        #expect(issue.reason == "is not TOML: `camera.front` is defined twice")
    }

    @Test(arguments: ["2", "0", "-1", "\"1\"", "1.0", "true"])
    func `a version that is not known is the only thing reported of its file`(version: String) {
        let (settings, issues) = Samples.read("camra = 1\nversion = \(version)\n")
        #expect(settings == nil)
        #expect(issues.map(\.key) == ["version"])
        #expect(issues.first?.line == 2)
    }

    @Test func `each key misspelt once is reported with its line and its name`() throws {
        var lines: [String] = []
        var expected: [(line: Int, name: String)] = []
        for object in KeyTable.objects {
            lines.append("[\(object.isNamed ? "\(object.name).one" : object.name)]")
            for key in object.keys {
                // Without its last letter, so that it is not a key.
                let wrong = String(key.name.dropLast())
                #expect(object.key(wrong) == nil)
                lines.append("\(wrong) = 1")
                expected.append((lines.count, key.name))
            }
        }
        let (settings, issues) = Samples.read(lines.joined(separator: "\n"))
        #expect(settings == nil)
        for (line, name) in expected {
            let issue = issues.first { $0.line == line && $0.code == .unknownKey }
            #expect(issue?.reason == "is not known, did you mean `\(name)`?", "line \(line)")
            #expect(issue?.column == 1)
        }
        #expect(issues.count { $0.code == .unknownKey } == expected.count)
    }

    @Test func `a misspelt object is reported with its name`() {
        let (_, issues) = Samples.read(
            "[camra.front]\nsource = \"test:\"\n[kass]\n[heath]\n[relayserver]\nsource = 'x'\n")
        #expect(issues.map(\.code) == Array(repeating: .unknownKey, count: 4))
        #expect(issues.map(\.line) == [1, 3, 4, 5])
        for (issue, name) in zip(issues, ["camera", "kas", "health", "relay_server"]) {
            #expect(issue.reason.contains("did you mean `\(name)`?"))
        }
    }

    @Test func `the error for a key of another table says where it belongs`() {
        let (_, issues) = Samples.read(Samples.small + "[health]\nbitrate = 1\n")
        #expect(issues.map(\.key) == ["health.bitrate"])
        #expect(issues.first?.hint == "It belongs to [camera.ID]")
    }

    /// A value of each other type for each key.
    @Test func `a wrong type is reported for each key`() {
        let values: [(text: String, node: WrittenValue)] = [
            ("true", .boolean(true)), ("12345678901", .integer(12_345_678_901)), ("1.5", .real(1.5)),
            ("1979-05-27", .date), ("{ a = 1 }", .table([:])), ("[1]", .array([.integer(1)])), ("\"\"", .string("")),
        ]
        for object in KeyTable.objects {
            for key in object.keys {
                for (text, node) in values {
                    if case .boolean = key.kind, case .boolean = node { continue }
                    if case .real = key.kind, case .real = node { continue }
                    let name = object.isNamed ? "\(object.name).one" : object.name
                    let (settings, issues) = Samples.read("[\(name)]\n  \(key.name) = \(text)\n")
                    let issue = issues.first { $0.key == "\(name).\(key.name)" && $0.line == 2 }
                    #expect(settings == nil)
                    #expect(issue?.code == .invalidValue, "\(key.name) = \(text): \(issues)")
                    #expect(issue?.column == 3 && issue?.hint.isEmpty == false)
                }
            }
        }
    }

    @Test func `the ends of each range hold, and what lies beyond does not`() {
        func issues(_ key: KeyDefinition, _ value: String, _ object: ObjectDefinition) -> [ConfigurationIssue] {
            let name = object.isNamed ? "\(object.name).front" : object.name
            let rest = key.name == "source" ? "" : "source = \"test:\"\n"
            let text =
                "kas.url = 'https://k'\nrelay.main.url = 'rtmp://r/a'\n[\(name)]\n\(key.name) = \(value)\n"
                + (object.name == "camera" ? rest : "")
            return Samples.read(text).issues.filter { $0.key == "\(name).\(key.name)" }
        }
        var count = 0
        for object in KeyTable.objects {
            for key in object.keys {
                switch key.kind {
                case .integer(let range):
                    #expect(issues(key, "\(range.lowerBound)", object).isEmpty)
                    #expect(issues(key, "\(range.upperBound)", object).isEmpty)
                    for outside in [range.lowerBound - 1, range.upperBound + 1, .min, .max] {
                        #expect(issues(key, "\(outside)", object).count == 1)
                    }
                case .real(let range):
                    #expect(issues(key, "\(range.lowerBound)", object).isEmpty)
                    #expect(issues(key, "\(range.upperBound)", object).isEmpty)
                    let below = range.lowerBound > 0 ? range.lowerBound / 2 : -0.001
                    let beyond = ["\(below)", "\(range.upperBound * 1.001)"]
                    for outside in beyond + ["-1", "nan", "inf", "-inf", "1e300"] {
                        #expect(issues(key, outside, object).count == 1)
                    }
                default: continue
                }
                count += 1
            }
        }
        #expect(count == 17)
    }

    @Test(arguments: [
        "../", "..", "a/b", "📷", "Front", "front_door", "-front", "front-", "a--b", "", "a b", "front.door",
        "aaaaaaaaaaaaaaaaaaaaaaaaa", "a\\nb", "%i", "ä",
    ])
    func `a bad ID is refused`(id: String) {
        for kind in ["camera", "relay"] {
            let (settings, issues) = Samples.read("[\(kind).\"\(id)\"]\n")
            #expect(settings == nil)
            #expect(issues.count == 1)
            #expect(issues.first?.code == .invalidValue && issues.first?.line == 1)
        }
        #expect(
            ConfigurationReader.read(files: [], stored: [StoredPart(object: "camera.\(id)", settings: [:])]).settings
                == nil)
    }

    @Test func `an ID of 24 characters is taken`() {
        let id = "abcdefghij-abcdefghij-ab"
        #expect(Samples.read(Samples.small + "camera.\(id) = { source = \"test:\" }").settings?.cameras[id] != nil)
    }

    @Test(arguments: [
        #""a\nb""#, #""\u001b[31mred""#, #""a\tb""#, #""\u007f""#, #""\u0085""#, #""\u202Etxet""#, #""\u2028""#, #""""#,
    ])
    func `a name with control characters is refused with a sentence`(name: String) {
        let (settings, issues) = Samples.read("[box]\nname = \(name)\n")
        #expect(settings == nil)
        #expect(issues.map(\.key) == ["box.name"])
    }

    @Test func `a name has at most 64 characters, whatever they are made of`() {
        let family = "👨‍👩‍👧‍👦"
        #expect(Samples.read("box.name = \"\(String(repeating: family, count: 64))\"").settings != nil)
        for count in [65, 300] {
            let (settings, issues) = Samples.read("box.name = \"\(String(repeating: family, count: count))\"")
            #expect(settings == nil)
            #expect(issues.first?.reason == "is empty or has more than 64 characters")
            #expect(issues.first?.hint == "Use 1 to 64 characters")
        }
    }

    @Test func `all faults of all files are told at once, in order`() {
        let (settings, issues) = ConfigurationReader.read(
            files: [
                SourceFile(name: "watchbox.toml", text: "[health]\nreboot = 1\nrebot = true\n[kas]\n"),
                SourceFile(name: "conf.d/a.toml", text: "camera.front = { source = \"\n"),
                SourceFile(name: "conf.d/b.toml", text: "camera.x = { source = 'test:', rate = 0, relay = 'none' }\n"),
            ], stored: [StoredPart(object: "camera.y", settings: ["colour": .boolean(true)])])
        #expect(settings == nil)
        #expect(
            issues.map { "\($0.place) \($0.key)" } == [
                "watchbox.toml:2 health.reboot", "watchbox.toml:3 health.rebot", "watchbox.toml:4 kas.url",
                "conf.d/a.toml:1 ", "conf.d/b.toml:1 camera.x.rate", "conf.d/b.toml:1 camera.x.relay",
                "store camera.y.colour", "store camera.y.source",
            ])
    }

    @Test func `more issues than a person reads are cut off with their number`() {
        let text = (0..<1000).map { "k\($0) = 1" }.joined(separator: "\n")
        let (_, issues) = Samples.read(text)
        #expect(issues.count == ConfigurationReader.issueLimit)
        #expect(issues.last?.reason == "There are 801 more")
    }

    @Test func `an array of tables and a plain value are refused where a table has to be`() {
        for text in [
            "[[camera.front]]", "camera.front = 1", "camera = 1", "[[camera]]", "kas = 'x'", "[[kas]]", "box = []",
        ] {
            let (settings, issues) = Samples.read(text)
            #expect(settings == nil)
            #expect(issues.count == 1 && issues.first?.line == 1)
            #expect(issues.first?.reason.hasSuffix("but must be a table") == true)
        }
    }
}
