import Testing

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
        #expect(settings == HealthSettings(reboot: false, cameras: [.init(id: "front")]))
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
        "{\"cameras\":[{\"id\":\"a\",\"usbPort\":\"1-1;x\"}]}",
        "{\"thresholds\":{\"diskUsed\":{\"warn\":0.9,\"fail\":0.5}}}",
        "{\"thresholds\":{\"stuckSeconds\":0}}",
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

    @Test func `thresholds that are not given keep their defaults`() throws {
        let tree = try FixtureTree(["run/health.json": "{\"thresholds\":{\"heatCelsius\":{\"warn\":60,\"fail\":70}}}"])
        var file = SettingsFile(path: tree.paths.settingsFile)
        guard case .settings(let settings) = file.changes() else {
            Issue.record("not read")
            return
        }
        var expected = HealthThresholds()
        expected.heatCelsius = .init(warn: 60, fail: 70)
        #expect(settings.thresholds == expected)
        #expect(settings.reboot)
    }
}
