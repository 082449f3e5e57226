import ErrorCatalog
import Settings
import Testing

@testable import BoxConfiguration

struct SettingPathTests {
    private static let files = """
        version = 1
        box = { name = "Gate \\"7\\"" }
        kas = { url = "https://kas.example.net/kas" }
        relay.main = { url = "rtmps://live.example.net/live" }
        camera.front = { source = "test:", bitrate = 300000, name = "Front" }

        """

    private func settings(_ text: String = files) throws -> BoxSettings { try BoxSettings(exported: text) }

    @Test(arguments: [
        ("camera.front.bitrate", "300000"), ("camera.front.name", "Front"), ("box.name", "Gate \"7\""),
        ("relay_server.listen", "0.0.0.0:1935"), ("health.reboot", "true"), ("relay_server.allow", ""),
        ("relay.main.url", "rtmps://live.example.net/live"),
    ])
    func `a setting is read, its default when it was not set`(path: String, value: String) throws {
        #expect(try settings().value(of: SettingPath(path))?.plain == value)
    }

    @Test func `one without a value has none`() throws {
        #expect(try settings().value(of: SettingPath("relay.main.ca_file")) == nil)
    }

    @Test(arguments: [
        ("camera.front.bitrat", ErrorCode.unknownKey, "camera.front.bitrate"),
        ("camra.front.name", .unknownKey, "camera"),
        ("camera.front", .unknownKey, "camera.ID"), ("camera", .unknownKey, "camera.ID"), ("", .unknownKey, "camera"),
        ("box.name.x", .unknownKey, "box."), ("....", .unknownKey, ""),
    ])
    func `what there is not is refused with the nearest`(path: String, code: ErrorCode, near: String) throws {
        let error = try #require(throws: CodedError.self) { try SettingPath(path) }
        #expect(error.code == code)
        #expect(error.hint?.contains(near) == true, "\(error)")
    }

    @Test func `an object that there is not is not made`() throws {
        let path = try SettingPath("camera.back.bitrate")
        #expect(throws: CodedError.self) { try settings().value(of: path) }
        #expect(throws: CodedError.self) { try settings().toml(setting: path, to: "1") }
    }

    @Test(arguments: [
        ("camera.front.bitrate", "500000"), ("camera.front.name", "Back \"yard\" # = [x]"),
        ("box.name", "12"), ("health.reboot", "false"), ("relay_server.allow", "192.0.2.0/24"),
        ("relay_server.allow", "[\"192.0.2.0/24\", \"198.51.100.0/24\"]"), ("kas.url", "https://other.example.net/kas"),
    ])
    func `one setting is changed, and the object's others stay`(path: String, value: String) throws {
        let before = try settings()
        let path = try SettingPath(path)
        let text = try before.toml(setting: path, to: value)
        // As an import takes it: this object alone.
        let rest = Self.files.split(separator: "\n").filter { !$0.hasPrefix(path.object) }.joined(separator: "\n")
        let (after, issues) = ConfigurationReader.read(
            files: [SourceFile(name: "rest", text: rest + "\n"), SourceFile(name: "set", text: text)], stored: [])
        let settings = try #require(after, "\(issues)")
        let set = try #require(try settings.value(of: path))
        if value.hasPrefix("[") {
            #expect(set == .strings(["192.0.2.0/24", "198.51.100.0/24"]))
        } else {
            #expect(set.plain == value)
        }
        var others = before.values(path.object) ?? [:]
        others[path.key] = set
        #expect(settings.values(path.object) == others)
    }

    @Test func `without a value the default holds`() throws {
        let path = try SettingPath("camera.front.bitrate")
        let text = try settings().toml(setting: path, to: nil)
        #expect(text.contains("[camera.front]") && !text.contains("bitrate"))
    }

    @Test(arguments: [
        ("camera.front.bitrate", "many"), ("camera.front.bitrate", "1.5"), ("health.reboot", "yes"),
        ("relay_server.allow", "[1, 2]"), ("relay_server.allow", "[\"a\"]\nenabled = true"),
        ("relay_server.allow", "[\"a\""),
    ])
    func `a value of another kind is refused`(path: String, value: String) throws {
        let path = try SettingPath(path)
        let error = try #require(throws: CodedError.self) { try settings().toml(setting: path, to: value) }
        #expect(error.code == .invalidValue)
    }
}
