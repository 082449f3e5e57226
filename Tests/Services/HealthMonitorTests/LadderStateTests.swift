import ControlAPI
import Foundation
import Platform
import Systemd
import Testing

@testable import HealthMonitor

struct LadderStateTests {
    @Test func `the age goes on over restarts and boots, and not while the box is off`() {
        var state = LadderState()
        state.begin(boot: "a", uptime: 500)
        #expect(state.age == 500)
        state.advance(uptime: 1000)
        // The monitor is restarted within this boot.
        state.begin(boot: "a", uptime: 1200)
        #expect(state.age == 1200)
        state.begin(boot: "b", uptime: 30)
        #expect(state.age == 1230)
        // A kernel without boot ids: the age never jumps.
        state.begin(boot: "", uptime: 5000)
        #expect(state.age == 1230)
        state.advance(uptime: 5060)
        #expect(state.age == 1290)
    }

    @Test func `the end of the last boot is remembered`() {
        var state = LadderState()
        state.begin(boot: "a", uptime: 1)
        #expect(state.lastEnd == .unknown)
        state.begin(boot: "b", uptime: 1)
        #expect(state.lastEnd == .sudden)
        state.endOrderly()
        state.begin(boot: "b", uptime: 50)
        #expect(state.lastEnd == .sudden)
        state.endOrderly()
        state.begin(boot: "c", uptime: 1)
        #expect(state.lastEnd == .orderly)
        state.addReboot(reason: "a hang", time: 1)
        state.endOrderly()
        state.begin(boot: "d", uptime: 1)
        #expect(state.lastEnd == .ladder(reason: "a hang"))
        state.begin(boot: "e", uptime: 1)
        #expect(state.lastEnd == .sudden)
    }

    @Test func `an exhausted record lets nothing large happen before its time`() {
        var state = LadderState()
        state.begin(boot: "a", uptime: 1_000_000)
        state.exhaust()
        #expect(state.hasRoom(.restartCamera, object: "front"))
        for level in LadderLevel.allCases.dropFirst() { #expect(!state.hasRoom(level, object: "front"), "\(level)") }
        #expect(state.recoveries == [:])
        state.advance(uptime: 1_000_000 + 901)
        #expect(state.hasRoom(.renewNetwork, object: "eth0"))
        #expect(!state.hasRoom(.reboot, object: "box"))
        state.advance(uptime: 1_000_000 + 86_401)
        for level in LadderLevel.allCases { #expect(state.hasRoom(level, object: "front"), "\(level)") }
    }

    @Test func `the record stays small`() {
        var state = LadderState()
        state.begin(boot: "a", uptime: 0)
        for second in 0..<5000 as Range<UInt64> {
            state.advance(uptime: second)
            state.add(.restartCamera, object: "front", time: 0)
        }
        #expect(state.uses[.restartCamera]?.count == LadderState.maxUses)
        #expect(state.totals[.restartCamera] == 5000)
        state.advance(uptime: 200_000)
        #expect(state.uses[.restartCamera]?.isEmpty == true)
    }
}

struct LadderFileTests {
    private func state() -> LadderState {
        var state = LadderState()
        state.begin(boot: "11111111-2222-3333-4444-555555555555", uptime: 4000)
        state.add(.restartTarget, object: "box", time: 1_780_000_000)
        state.add(.restartCamera, object: "front", time: 1_780_000_001)
        state.addReboot(reason: "because", time: 1_780_000_002)
        return state
    }

    @Test func `what was saved is loaded`() throws {
        let tree = try FixtureTree()
        let file = LadderFile(directory: tree.paths.stateDirectory)
        #expect(file.load() == LadderFile.Loaded(state: LadderState()))
        try file.save(state())
        #expect(file.load() == LadderFile.Loaded(state: state()))
        #expect(try FileManager.default.contentsOfDirectory(atPath: tree.paths.stateDirectory) == ["ladder.json"])
    }

    @Test(arguments: [
        "", "{", "[]", "{}", "null", "{\"schema\":\"watchbox.ladder/2\"}", String(repeating: "[", count: 100_000),
    ])
    func `a damaged file is reported and set aside`(text: String) throws {
        let tree = try FixtureTree(["state/ladder.json": text])
        let file = LadderFile(directory: tree.paths.stateDirectory)
        let loaded = file.load()
        #expect(loaded.trouble != nil)
        #expect(loaded.state == LadderState())
        #expect(try tree.text("state/ladder.json.damaged") == text)
        try file.save(state())
        #expect(file.load().trouble == nil)
    }

    @Test func `numbers that cannot be are damage`() throws {
        let text = JSONDocument.text(state())
        for (good, bad) in [
            ("\"age\":4000", "\"age\":18446744073709551615"), ("\"ageAtBoot\":0", "\"ageAtBoot\":5000"),
            ("watchbox.ladder/1", "watchbox.ladder/9"), ("\"L4\"", "\"L9\""),
            ("because", String(repeating: "x", count: 600)),
        ] {
            let broken = text.replacingOccurrences(of: good, with: bad)
            #expect(broken != text)
            let tree = try FixtureTree(["state/ladder.json": broken])
            #expect(LadderFile(directory: tree.paths.stateDirectory).load().trouble != nil, "\(bad.prefix(40))")
        }
    }

    @Test func `a file that was cut anywhere is never half a state`() throws {
        let tree = try FixtureTree()
        let file = LadderFile(directory: tree.paths.stateDirectory)
        let text = JSONDocument.text(state())
        for length in stride(from: 0, to: text.utf8.count, by: 7) {
            try tree.write("state/ladder.json", String(decoding: text.utf8.prefix(length), as: UTF8.self))
            #expect(file.load().trouble != nil, "\(length) bytes")
        }
    }

    @Test func `a directory that is not there is a readable error`() throws {
        let file = LadderFile(directory: "/nonexistent/watchbox")
        let failure = #expect(throws: LadderFile.Failure.self) { try file.save(LadderState()) }
        #expect(failure?.description.contains("/nonexistent/watchbox/ladder.json.new: open: ") == true)
    }
}
