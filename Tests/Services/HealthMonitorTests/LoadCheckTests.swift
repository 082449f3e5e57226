import ControlAPI
import ErrorCatalog
import Systemd
import Testing

@testable import BoxReadings
@testable import HealthMonitor

final class LoadCheckTests {
    private let limits = HealthThresholds.self

    private var incidents = MemoryIncidents()

    @Test func `pressure of memory and processor`() {
        func memory(_ share: Double?) -> [HealthState] {
            LoadChecks.memory(share, MemoryIncidents(), limits: limits.memoryPressure, was: nil, at: .at(0)).map(
                \.state)
        }
        #expect(memory(0.05) == [.ok])
        #expect(memory(0.10) == [.warn])
        #expect(memory(0.31) == [.fail])
        #expect(memory(nil) == [.unknown])
        #expect(LoadChecks.processor(0.85, limits: limits.processorPressure, was: nil).code == .processorPressure)
        #expect(LoadChecks.processor(nil, limits: limits.processorPressure, was: nil).state == .unknown)
    }

    private func took(
        _ second: Double, _ units: [String: (killed: Int64, own: Int64)], slice: (killed: Int64, own: Int64)? = nil
    ) {
        func counts(_ pair: (killed: Int64, own: Int64)) -> GroupReading.Counts {
            .init(killed: pair.killed, atOwnLimit: pair.own)
        }
        incidents.took(
            GroupReading(units: units.mapValues(counts), slice: slice.map(counts)), total: nil, at: .at(second))
    }

    private func units(_ second: Double) -> [String: Int] {
        Dictionary(uniqueKeysWithValues: incidents.units(at: .at(second)).map { ($0.unit, $0.count) })
    }

    @Test func `a unit at its own limit is a failure of that unit, and never a loop of the box`() throws {
        let camera = "watchbox-camera@front.service"
        took(0, [camera: (5, 5)], slice: (5, 5))
        #expect(units(0) == [:], "before the first look is history")
        for round in 1...60 {
            // The camera, its decoder and its frame's child, each time; the kernel tried several times.
            took(
                Double(round * 10), [camera: (5 + Int64(round) * 3, 5 + Int64(round) * 7)],
                slice: (5 + Int64(round) * 3, 5 + Int64(round) * 7))
            #expect(incidents.loop(at: .at(Double(round * 10))) == 0)
        }
        #expect(units(600) == [camera: 60], "an incident counts once, not per process")
        let findings = LoadChecks.memory(0, incidents, limits: limits.memoryPressure, was: .ok, at: .at(600))
        #expect(findings.map(\.object) == [nil, "watchbox-camera@front"])
        #expect(findings.map(\.state) == [.ok, .fail])
        let finding = try #require(findings.last)
        #expect(finding.code == .processKilledForMemory)
        #expect(finding.evidence.contains("its own memory limit 60×"))
        #expect(finding.hint?.contains("systemctl edit 'watchbox-camera@front'") == true)
    }

    private func systemd(_ second: Double, _ units: [String: (restarts: UInt32, result: String)]) {
        incidents.took(
            units.map {
                UnitState(
                    name: $0.key, load: "loaded", active: "active", sub: "running", result: $0.value.result,
                    restarts: $0.value.restarts)
            }, at: .at(second))
    }

    @Test func `the group of a unit may be made again, or be gone`() {
        systemd(0, ["a": (0, "success"), "b": (4, "success")])
        took(0, ["a": (1, 1)], slice: (1, 1))
        // systemd has started it again: its group counts from 0, and only the slice has counted.
        took(10, ["a": (0, 0)], slice: (3, 2))
        #expect(incidents.atOurLimit(at: .at(10)) == 1)
        systemd(12, ["a": (1, "success"), "b": (4, "success")])
        #expect(incidents.atOurLimit(at: .at(12)) == 0)
        #expect(units(12) == ["a": 1])
        took(20, ["a": (1, 1)], slice: (4, 3))
        #expect(units(20) == ["a": 2])
        took(30, [:], slice: (4, 3))
        #expect(incidents.loop(at: .at(30)) == 0)
        // Fine again is reported for a minute, then no more.
        took(625, [:], slice: (4, 3))
        #expect(units(625) == ["a": 0])
        took(700, [:], slice: (4, 3))
        #expect(units(700) == [:])
    }

    @Test func `a camera that is killed as a whole is named, also when another one ends as well`() throws {
        let (front, back) = ("watchbox-camera@front.service", "watchbox-camera@back.service")
        systemd(0, [front: (0, "success"), back: (0, "success")])
        took(0, [front: (0, 0), back: (0, 0)], slice: (0, 0))
        // What systemd says may also come first.
        systemd(8, [front: (0, "oom-kill"), back: (1, "success")])
        took(10, [front: (0, 0), back: (0, 0)], slice: (2, 3))
        systemd(12, [front: (1, "success"), back: (1, "success")])
        #expect(units(12) == [front: 1])
        let findings = LoadChecks.memory(0, incidents, limits: limits.memoryPressure, was: .ok, at: .at(12))
        #expect(findings.map(\.object) == [nil, "watchbox-camera@front"])
        #expect(findings.map(\.state) == [.ok, .fail])
        #expect(findings.allSatisfy { $0.hint?.contains("watchbox.slice") != true })
    }

    @Test func `the slice's own limit is a limit of ours, never a loop of the box`() throws {
        systemd(0, ["a": (0, "success")])
        took(0, ["a": (0, 0)], slice: (0, 0))
        // The kernel ends processes of a unit that is within its own limit.
        for round in 1...20 {
            took(Double(round * 10), ["a": (Int64(round), 0)], slice: (Int64(round), Int64(round)))
            #expect(incidents.loop(at: .at(Double(round * 10))) == 0)
        }
        #expect(units(200) == [:])
        let finding = try #require(
            LoadChecks.memory(0, incidents, limits: limits.memoryPressure, was: .ok, at: .at(200)).first)
        #expect(finding.state == .fail)
        #expect(finding.evidence.contains("watchbox.slice was reached 20×"))
        #expect(finding.hint?.contains("MemoryMax") != true)
    }

    @Test func `a box without memory is a loop when it goes on, seen in groups or only in the slice`() {
        took(0, ["a": (0, 0), "b": (0, 0)], slice: (0, 0))
        took(10, ["a": (2, 0), "b": (1, 0)], slice: (3, 0))
        #expect(incidents.loop(at: .at(10)) == 1, "one incident, however many were ended")
        for round in 2...5 {
            took(Double(round * 10), ["a": (0, 0), "b": (1, 0)], slice: (2 + Int64(round), 0))
            #expect(incidents.loop(at: .at(Double(round * 10))) == round)
        }
        #expect(
            LoadChecks.memory(0, incidents, limits: limits.memoryPressure, was: .ok, at: .at(50)).map(\.state) == [
                .fail
            ])
        #expect(incidents.loop(at: .at(171)) == 0, "it has ended")
        // Without a slice (an operator's own): the unit's counter is enough.
        took(180, ["a": (7, 0)])
        #expect(incidents.loop(at: .at(180)) == 6)
    }

    @Test func `what cannot be attributed is the unit's`() {
        took(0, ["a": (0, 0)], slice: (0, 0))
        took(10, ["a": (2, 1)], slice: (2, 1))
        #expect(units(10) == ["a": 1])
        #expect(incidents.ofTheBox(at: .at(10)) == 0)
    }

    @Test func `a task is stuck when it never ran for two minutes`() {
        func task(_ slices: UInt64, start: UInt64 = 1) -> TaskReading {
            TaskReading(
                seesOthers: true,
                waiting: [
                    .init(
                        processIdentifier: 7, name: "v4l2", startTime: start, slices: slices,
                        unit: "watchbox-camera@a.service")
                ])
        }
        var tasks = StuckTasks()
        func took(_ reading: TaskReading, _ second: Double) -> [Double] {
            tasks.took(reading, seconds: 120, at: .at(second)).map(\.seconds)
        }
        #expect(took(task(1), 0) == [])
        #expect(took(task(1), 119) == [])
        #expect(took(task(1), 121) == [121])
        // It ran for a moment: slow, not stuck.
        #expect(took(task(2), 130) == [])
        // Another process with the same number.
        #expect(took(task(2, start: 9), 300) == [])
        #expect(took(TaskReading(seesOthers: true), 310) == [])
        #expect(took(task(2, start: 9), 440) == [])
    }

    @Test func `a stuck process of somebody else is a warning`() {
        func finding(_ unit: String?) -> Finding {
            let task = TaskReading.Waiting(processIdentifier: 7, name: "nfs", startTime: 1, slices: 1, unit: unit)
            return StuckTasks.finding(
                TaskReading(seesOthers: true, waiting: [task]), stuck: [.init(task: task, seconds: 130)])
        }
        #expect(finding(nil).state == .warn)
        #expect(finding("watchbox-camera@a.service").state == .fail)
        let hidden = StuckTasks.finding(TaskReading(), stuck: [])
        #expect(hidden.state == .unknown)
        #expect(hidden.evidence.contains("ProtectProc=invisible"))
        #expect(StuckTasks.finding(TaskReading(seesOthers: true), stuck: []).state == .ok)
    }
}
