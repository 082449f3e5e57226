import ErrorCatalog
import FoundationEssentials
import Settings
import Testing

@testable import BoxConfiguration

/// What is left of a configuration when this version refuses a part of it.
struct AdmissionTests {
    private static let connections = """
        relay.main = { url = "rtmps://relay.example.net/live" }
        relay.spare = { url = "rtmps://spare.example.net/live" }
        kas = { url = "https://kas.example.net/kas" }

        """

    private static func admit(
        _ text: String, stored: [StoredPart] = [], connections: String = connections
    ) -> (settings: BoxSettings?, issues: [ConfigurationIssue]) {
        ConfigurationReader.admit(files: [SourceFile(name: "a.toml", text: connections + text)], stored: stored)
    }

    /// - Parameters:
    ///   - refused: all that is quarantined.
    ///   - running: all cameras that can run.
    private static func check(
        _ text: String, stored: [StoredPart] = [], connections: String = connections, refused: Set<String>,
        running: [String], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (settings, issues) = admit(text, stored: stored, connections: connections)
        let found = try #require(settings, "\(issues)", sourceLocation: sourceLocation)
        #expect(Set(found.quarantined.keys) == refused, "\(found.quarantined)", sourceLocation: sourceLocation)
        #expect(found.runningCameras == running, sourceLocation: sourceLocation)
        #expect(issues.allSatisfy { $0.isWarning }, sourceLocation: sourceLocation)
        for (object, known) in found.quarantined {
            #expect(known.object == object && !known.issues.isEmpty && !known.hint.isEmpty)
            #expect(found.origins[object] == nil && (found.values(object) == nil || !object.contains(".")))
        }
        // What is left is valid as a whole.
        let (again, _) = ConfigurationReader.read(files: [], stored: found.storedParts())
        #expect(again == found || !refused.isDisjoint(with: ["relay.spare", "box"]), sourceLocation: sourceLocation)
    }

    @Test func `what needs a quarantined object is read back as it was`() throws {
        let text = """
            relay.studio = { url = "moon" }
            camera.a = { source = "test:", relay = "studio" }

            """
        let found = try #require(Self.admit(text).settings)
        #expect(Set(found.quarantined.keys) == ["relay.studio"])
        #expect(found.cameras["a"]?.relay == "studio")
        // A generation, and what the API gives out.
        let decoded = try JSONDecoder().decode(AdmittedSettings.self, from: JSONEncoder().encode(found)).settings
        #expect(decoded == found && decoded.quarantined.isEmpty)
        #expect(try BoxSettings(exported: found.toml()) == found)
        // A person's change is read more strictly.
        #expect(ConfigurationReader.read(files: [SourceFile(name: "a.toml", text: found.toml())]).settings == nil)
    }

    @Test func `one by one, each for what is wrong with itself`() throws {
        let good = "camera.a = { source = \"test:\" }\n"
        for bad in [
            "camera.b = { source = \"test:\", rate = 0 }", "camera.b = { source = \"test:\", sharpen = true }",
            "camera.b = { rate = 5 }", "camera.b = 3", "camera.b = { source = \"test:\", viewers = \"me\" }",
            "camera.b = { source = \"exec:x\" }", "camera.b = { source = \"test:\", masks = [\"0,0,1,1\"] }",
            "camera.b = { source = \"test:\", relay = \"mian\" }",
        ] {
            try Self.check(good + bad, refused: ["camera.b"], running: ["a"])
        }
        try Self.check(good + "camera.B = { source = \"test:\" }", refused: ["camera.B"], running: ["a"])
        try Self.check(good + "schedule.night = { from = 22 }", refused: ["schedule"], running: ["a"])
        try Self.check(good + "hook = 3", refused: ["hook"], running: ["a"])
        try Self.check(good + "hook.h = { cameras = [\"a\"] }", refused: ["hook.h"], running: ["a"])
        try Self.check(
            good + "relay_server = { tls_key = \"/k\" }\nkas_server = { enabled = true, listen = \"0.0.0.0:9443\" }",
            refused: ["relay_server", "kas_server"], running: ["a"])
        try Self.check(good, refused: [], running: ["a"])
    }

    @Test func `nothing is sent elsewhere, or unencrypted, for want of what is refused`() throws {
        let cameras = "camera.a = { source = \"test:\" }\ncamera.b = { source = \"test:\", relay = \"spare\" }\n"
        let spare = Self.connections.replacing("rtmps://spare", with: "http://spare")
        try Self.check(cameras, connections: spare, refused: ["relay.spare"], running: ["a"])
        let settings = try #require(Self.admit(cameras, connections: spare).settings)
        let obstacle = try #require(settings.obstacle(to: "b"))
        #expect(obstacle.code == .objectQuarantined && obstacle.why?.contains("relay spare is quarantined") == true)
        #expect(throws: CodedError.self) { try settings.cameraConfiguration("b", stateDirectory: "/") }
        // A pin that cannot hold stops all that it would protect.
        let pinned = Self.connections.replacing("/kas\" }", with: "/kas\", public_key_pin = \"sha256//x\" }")
        try Self.check(cameras, connections: pinned, refused: ["kas"], running: [])
        let kas = try #require(Self.admit(cameras, connections: pinned).settings)
        #expect(kas.kas == nil && kas.obstacle(to: "a")?.code == .objectQuarantined)
        #expect(throws: CodedError.self) { try kas.cameraConfiguration("a", stateDirectory: "/") }
    }

    @Test func `what a refused owner may have forbidden is not done`() throws {
        let settings = try #require(Self.admit("health = { reboot = false, metrics_listen = \"x\" }").settings)
        #expect(!settings.health.reboot && settings.health.metricsListen == nil)
    }

    @Test func `a limit that cannot be read switches nothing off`() throws {
        let cameras = (10...40).map { "camera.c\($0) = { source = \"rtsp://192.0.2.\($0)/1\" }\n" }.joined()
        try Self.check(
            cameras + "box = { pulls = 64, sharpen = 1 }", refused: ["box"], running: (10...40).map { "c\($0)" })
        // One that can leaves out what is beyond it, and not itself.
        try Self.check(
            cameras + "box = { pulls = 30 }", refused: ["camera.c40"], running: (10...39).map { "c\($0)" })
    }

    @Test func `of several that exclude each other the first stays`() throws {
        let three = ["a", "b", "c"].map { "camera.\($0) = { source = \"test:\", stream = \"x\" }\n" }.joined()
        try Self.check(three, refused: ["camera.b", "camera.c"], running: ["a"])
        // Without the first, which is refused for itself, the second can stay.
        try Self.check(
            three.replacing("camera.a = { ", with: "camera.a = { rate = 0, "), refused: ["camera.a", "camera.c"],
            running: ["b"])
        let many = (100..<170).map { "camera.c\($0) = { source = \"test:\" }\n" }.joined()
        try Self.check(
            many, refused: Set((164..<170).map { "camera.c\($0)" }), running: (100..<164).map { "c\($0)" })
    }

    @Test func `what is defined twice is neither of the two`() throws {
        let (settings, _) = ConfigurationReader.admit(
            files: [
                SourceFile(name: "a.toml", text: Self.connections + "camera.a = { source = \"test:\" }\n"),
                SourceFile(name: "b.toml", text: "camera.a = { source = \"test:\", viewers = [\"me\"] }\n"),
            ], stored: [])
        #expect(settings?.cameras.isEmpty == true && settings?.quarantined.keys.sorted() == ["camera.a"])
    }

    @Test func `a file hides a stored object also with what is refused`() throws {
        let stored = [StoredPart(object: "camera.a", settings: ["source": .string("test:")])]
        try Self.check("camera.a = 3", stored: stored, refused: ["camera.a"], running: [])
        try Self.check("camera.a = { rate = 0 }", stored: stored, refused: ["camera.a"], running: [])
        try Self.check("", stored: stored, refused: [], running: ["a"])
        let unread = [StoredPart(object: "camera.a", settings: [:], fault: "its field x is not known")]
        try Self.check("", stored: unread, refused: ["camera.a"], running: [])
        try Self.check("camera.a = { source = \"test:\" }", stored: unread, refused: [], running: ["a"])
    }

    @Test func `a file that cannot be read at all is nothing that objects can be taken from`() {
        for text in ["camera.a = {", "version = 2\n", "a = \"\n"] {
            let (settings, issues) = Self.admit(text, connections: "")
            #expect(settings == nil && issues.contains { !$0.isWarning }, "\(text)")
        }
    }

    @Test func `many that are refused are named, each with a few reasons`() throws {
        let keys = (0..<30).map { "k\($0) = 1" }.joined(separator: ", ")
        let text = (0..<300).map { "camera.c\($0) = { source = \"test:\", \(keys) }\n" }.joined()
        let settings = try #require(Self.admit(text).settings)
        #expect(settings.quarantined.count == 300)
        #expect(settings.quarantined.values.allSatisfy { $0.issues.count <= QuarantinedObject.issueLimit })
    }

    @Test func `which reason is shown is the same each time`() throws {
        var relay: [String: SettingValue] = ["url": .string("rtmps://relay.example.net/live")]
        for number in 10..<40 { relay["k\(number)"] = .integer(1) }
        let parts = [StoredPart(object: "relay.main", settings: relay)]
        let settings = try #require(ConfigurationReader.admit(files: [], stored: parts).settings)
        let keys = settings.quarantined["relay.main"]?.issues.map(\.key)
        #expect(keys == (10..<18).map { "relay.main.k\($0)" })
    }

    @Test func `no command is offered that would be refused again`() throws {
        let url = SettingValue.string("https://example.net/x")
        let objects = [
            ("relay.main", "relay edit main"), ("hook.phone", "hook edit phone"), ("kas", "kas set --url URL"),
        ]
        for (object, command) in objects {
            for key in ["url", "sharpen"] {
                var values: [String: SettingValue] = ["url": url]
                values[key] = .integer(1)
                let parts = [StoredPart(object: object, settings: values)]
                let settings = try #require(ConfigurationReader.admit(files: [], stored: parts).settings)
                let hint = try #require(settings.quarantined[object]?.hint)
                let expected = key == "url" ? command : "config import FILE --replace"
                #expect(hint.hasSuffix("watchboxctl \(expected)"), "\(hint)")
            }
        }
        // However many other reasons come before.
        var camera: [String: SettingValue] = ["source": .string("test:"), "zzz": .integer(1)]
        for key in ["attributes", "bitrate", "gop", "rate", "relay", "size", "stream", "viewers"] {
            camera[key] = .integer(-1)
        }
        let parts = [StoredPart(object: "camera.a", settings: camera)]
        let settings = try #require(ConfigurationReader.admit(files: [], stored: parts).settings)
        #expect(settings.quarantined["camera.a"]?.hint.hasSuffix("config import FILE --replace") == true)
    }

    /// Whatever is damaged: what is not, and needs nothing of it, is as it was.
    @Test(arguments: UInt64(0)..<100) func `only what is damaged is lost`(seed: UInt64) throws {
        var random = RandomSettings(seed: seed)
        let settings = random.box()
        var parts = settings.storedParts()
        var damaged: Set<String> = []
        for index in parts.indices where (seed &+ UInt64(index)) % 3 == 0 {
            damaged.insert(parts[index].object)
            parts[index].settings["sharpen"] = .boolean(true)
        }
        let admitted = try #require(ConfigurationReader.admit(files: [], stored: parts).settings)
        #expect(Set(admitted.quarantined.keys) == damaged)
        for part in parts where !damaged.contains(part.object) {
            #expect(admitted.values(part.object) == settings.values(part.object), "\(part.object)")
        }
        for object in damaged where object.contains(".") || object == "kas" { #expect(admitted.values(object) == nil) }
        for id in admitted.runningCameras {
            let relay = try #require(admitted.cameras[id]).relay
            #expect(damaged.isDisjoint(with: ["relay.\(relay)", "kas", "camera.\(id)"]))
        }
    }
}
