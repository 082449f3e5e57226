import CameraModel
import FoundationEssentials
import Settings
import Testing

@testable import BoxConfiguration

struct RoundTripTests {
    @Test(arguments: UInt64(0)..<150)
    func `random settings survive TOML, the store and JSON`(seed: UInt64) throws {
        var random = RandomSettings(seed: seed)
        let settings = random.box()
        let text = settings.toml()
        let (read, issues) = Samples.read(text)
        #expect(read == settings, "\(issues)\n\(text)")
        #expect(read?.toml() == text)
        let (merged, _) = ConfigurationReader.read(files: [], stored: settings.storedParts())
        #expect(merged == settings)
        var withOrigins = settings
        withOrigins.origins = Dictionary(
            uniqueKeysWithValues: settings.cameras.keys.map { ("camera.\($0)", "a.toml:1") })
        let decoded = try JSONDecoder().decode(BoxSettings.self, from: JSONEncoder().encode(withOrigins))
        #expect(decoded == settings)
        #expect(decoded.origins == withOrigins.origins)
        #expect(settings.changes(to: decoded).isEmpty)
    }

    @Test func `an export is in a stable order and holds what differs from the defaults`() {
        let text = Samples.settings(Samples.full).toml()
        #expect(text.hasPrefix("version = 1\n\n[box]\nname = \"porch-box\"\n\n[relay.main]\nurl = "))
        #expect(text.contains("[camera.back]\nsource = \"file:/srv/film.mp4\"\nrelay = \"spare\"\n"))
        #expect(BoxSettings().toml() == "version = 1\n")
    }

    @Test func `a generation holds every value, so that defaults may change`() throws {
        let json = String(decoding: try JSONEncoder().encode(Samples.settings(Samples.small)), as: UTF8.self)
        #expect(json.contains("\"bitrate\":2000000"))
        #expect(json.contains("\"reboot\":true"))
    }

    @Test(arguments: [
        "{}", "[]", "", "{\"version\":1}", "{\"version\":2,\"objects\":{}}",
        "{\"version\":1,\"objects\":{\"camera.../\":{\"source\":\"test:\"}}}",
        "{\"version\":1,\"objects\":{\"camera.a\":{\"source\":\"exec:x\"}}}",
        "{\"version\":1,\"objects\":{\"camera.a\":{\"source\":\"test:\",\"rate\":0}}}",
        "{\"version\":1,\"objects\":{\"camera.a\":{\"source\":\"test:\",\"rate\":{}}}}",
        "{\"version\":1,\"objects\":{\"moon\":{}}}", "{\"version\":1,\"objects\":{\"kas.x\":{\"url\":\"https://k\"}}}",
        "{\"version\":1,\"objects\":{\"camera\":{}}}", "{\"version\":1,\"objects\":{\"\":{}}}",
    ])
    func `a damaged generation is refused`(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(BoxSettings.self, from: Data(json.utf8)) }
    }

    @Test func `an object's values can be asked for and changed one by one`() throws {
        let settings = Samples.settings(Samples.small)
        var part = try #require(settings.part("camera.front"))
        #expect(part.settings == ["source": .string("test:")])
        #expect(settings.values("camera.front")?["rate"] == .integer(30))
        #expect(settings.part("camera.none") == nil && settings.values("moon") == nil)
        part.settings["rate"] = .integer(10)
        let parts = settings.storedParts().filter { $0.object != part.object } + [part]
        #expect(ConfigurationReader.read(files: [], stored: parts).settings?.cameras["front"]?.video.frameRate == 10)
    }

    @Test func `values in JSON have no tag`() throws {
        let values: [String: SettingValue] = [
            "a": .string("x"), "b": .integer(-5), "c": .real(1.5), "d": .boolean(true), "e": .strings(["y"]),
        ]
        let decoded = try JSONDecoder().decode(
            [String: SettingValue].self, from: Data(#"{"a":"x","b":-5,"c":1.5,"d":true,"e":["y"]}"#.utf8))
        #expect(decoded == values)
        #expect(
            try JSONDecoder().decode([String: SettingValue].self, from: JSONEncoder().encode(values)) == values)
        #expect(SettingValue.integer(2) == .real(2) && SettingValue.integer(2) != .real(2.5))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([String: SettingValue].self, from: Data(#"{"a":null}"#.utf8))
        }
    }
}
