import ArgumentParser
import Settings
import Testing

@testable import BoxCommands

struct RecordingCommandTests {
    @Test(arguments: [
        ["--before", "61"], ["--before", "-1"], ["--after", "0"], ["--after", "601"], ["--schedule", "mon-fry"],
        ["--schedule", "sat", "--schedule", "always"], ["--schedule", ""],
    ])
    func `a recording that cannot be is refused before anybody is asked`(options: [String]) {
        #expect(throws: (any Error).self) { try RecordingOnCommand.parse(["front", "--events"] + options) }
    }

    @Test func `what can be is taken`() throws {
        let command = try RecordingOnCommand.parse([
            "front", "--events", "--before", "0", "--after", "600", "--schedule", "mon-fri 18:00-07:00", "--schedule",
            "sat-sun",
        ])
        #expect(command.events && command.schedule.count == 2)
        #expect(try RecordingOnCommand.parse(["front", "--schedule", "always"]).schedule == ["always"])
        #expect(try RecordingMarkCommand.parse(["front", "--for", "3600"]).seconds == 3600)
        for seconds in ["0", "3601", "-1", "nan"] {
            #expect(throws: (any Error).self) { try RecordingMarkCommand.parse(["front", "--for=\(seconds)"]) }
        }
    }

    @Test(arguments: [
        ("onvif://192.0.2.7", true, true), ("ONVIF://192.0.2.7", nil, true), ("onvif://192.0.2.7", false, false),
        ("rtsp://192.0.2.7/1", true, false), ("test:", nil, false),
    ])
    func `a camera reports events where it is asked for them`(source: String, events: Bool?, reports: Bool) {
        var settings: [String: SettingValue] = ["source": .string(source)]
        settings["events"] = events.map { .boolean($0) }
        #expect(RecordingOnCommand.reportsEvents(settings) == reports)
    }
}
