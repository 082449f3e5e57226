import ArgumentParser
import ControlAPI
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

    private static func note(
        _ record: String, _ source: String, events: Bool? = nil, _ schedule: [String]? = nil
    ) -> String? {
        var settings: [String: SettingValue] = ["record": .string(record), "source": .string(source)]
        settings["events"] = events.map { .boolean($0) }
        settings["record_schedule"] = schedule.map { .strings($0) }
        return RecordingOnCommand.note(settings, of: "front")
    }

    @Test func `what a camera is not recorded for is said`() {
        #expect(Self.note("events", "onvif://192.0.2.7", events: true) == nil)
        #expect(Self.note("events", "ONVIF://192.0.2.7", ["sat-sun"]) == nil)
        #expect(
            Self.note("events", "onvif://192.0.2.7", events: false)
                == "for marks alone, since `events` of this camera is off: watchboxctl camera edit front --events takes them"
        )
        #expect(
            Self.note("events", "rtsp://192.0.2.7/1", events: true, ["sat-sun"])
                == "for marks and its schedule alone, since cameras of this kind report no events")
        #expect(Self.note("events", "test:", []) == "for marks alone, since cameras of this kind report no events")
    }

    @Test func `a schedule that was kept from before is said`() {
        #expect(Self.note("continuous", "test:", []) == nil && Self.note("continuous", "test:") == nil)
        #expect(
            Self.note("continuous", "onvif://192.0.2.7", ["mon-fri 18:00-07:00", "sat-sun"])
                == "in its schedule alone: mon-fri 18:00-07:00, sat-sun; --schedule always takes it back")
    }

    @Test func `a mark says what became of it`() {
        #expect(RecordingMarkCommand.done(.init(isMarked: true)) == "marked")
        #expect(RecordingMarkCommand.done(.init(isMarked: false)) == "recorded all the time, nothing to mark")
    }
}
