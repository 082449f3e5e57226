import CameraModel
import Testing

@testable import BoxReadings
@testable import HealthMonitor

struct SettingsFileTests {
    @Test func `the file is followed`() throws {
        let tree = try FixtureTree()
        var file = SettingsFile(path: tree.paths.settingsFile)
        guard case nil = file.changes() else {
            Issue.record("a file that is not there changed")
            return
        }
        try tree.write("run/health.json", "{\"cameras\":[{\"id\":\"front\"}],\"reboot\":false}")
        guard case .settings(let settings) = file.changes() else {
            Issue.record("not read")
            return
        }
        #expect(settings == HealthServiceSettings(reboot: false, cameras: [.init(id: "front")]))
        guard case nil = file.changes() else {
            Issue.record("read twice")
            return
        }
        try tree.write("run/health.json", "{\"cameras\":[{\"name\":\"front\"}]}")
        guard case .invalid(let why) = file.changes() else {
            Issue.record("taken")
            return
        }
        #expect(why.contains("id is missing"))
    }

    @Test(arguments: [
        "{\"cameras\":[{\"id\":\"../../etc\"}]}", "{\"cameras\":[{\"id\":\"\"}]}", "{\"cameras\":[{\"id\":\"a b\"}]}",
        "{\"relays\":[{\"name\":\"a\",\"host\":\"h\",\"port\":70000,\"tls\":false}]}",
        "[", "",
    ])
    func `settings that cannot be meant are refused`(text: String) throws {
        let tree = try FixtureTree(["run/health.json": text])
        var file = SettingsFile(path: tree.paths.settingsFile)
        guard case .invalid = file.changes() else {
            Issue.record("taken")
            return
        }
    }

    @Test func `a file of one field leaves the others at their defaults`() throws {
        let tree = try FixtureTree(["run/health.json": "{\"configurationProblem\":\"WB-1005\",\"unheard\":{\"of\":1}}"])
        var file = SettingsFile(path: tree.paths.settingsFile)
        guard case .settings(let settings) = file.changes() else {
            Issue.record("not read")
            return
        }
        #expect(settings == HealthServiceSettings(configurationProblem: "WB-1005"))
        #expect(settings.reboot)
    }
}
