import ControlAPI
import ErrorCatalog
import Testing

@testable import HealthMonitor

struct LoadCheckTests {
    private let limits = HealthThresholds()

    @Test func `pressure of memory and processor`() {
        func memory(_ share: Double?) -> HealthState {
            LoadChecks.memory(share, killed: [:], limits: limits.memoryPressure, was: nil).state
        }
        #expect(memory(0.05) == .ok)
        #expect(memory(0.10) == .warn)
        #expect(memory(0.31) == .fail)
        #expect(memory(nil) == .unknown)
        #expect(LoadChecks.processor(0.85, limits: limits.processorPressure, was: nil).code == .processorPressure)
        #expect(LoadChecks.processor(nil, limits: limits.processorPressure, was: nil).state == .unknown)
    }

    @Test func `a kill for memory is a failure that names the unit`() {
        let finding = LoadChecks.memory(
            0, killed: ["watchbox-camera@front.service": 2], limits: limits.memoryPressure, was: .ok)
        #expect(finding.state == .fail)
        #expect(finding.code == .processKilledForMemory)
        #expect(finding.evidence.contains("watchbox-camera@front.service 2×"))
    }

    @Test func `kills are counted from the first look on, for 10 minutes, also when a group is made anew`() {
        var kills = MemoryKills()
        kills.took(GroupReading(killed: ["a": 5]), total: 9, at: .at(0))
        #expect(kills.byName == [:])
        kills.took(GroupReading(killed: ["a": 6]), total: 10, at: .at(10))
        #expect(kills.byName == ["a": 1])
        // Its unit was restarted: the counter began anew and counted one.
        kills.took(GroupReading(killed: ["a": 1]), total: 11, at: .at(20))
        #expect(kills.byName == ["a": 2])
        // The group is gone, and the kernel counted one more.
        kills.took(GroupReading(), total: 12, at: .at(30))
        #expect(kills.byName == ["a": 2, "other": 1])
        kills.took(GroupReading(), total: 12, at: .at(615))
        #expect(kills.byName == ["a": 1, "other": 1])
        kills.took(GroupReading(), total: 3, at: .at(700))
        #expect(kills.byName == [:])
    }

    @Test func `a kill in a group that is gone is still one of ours`() {
        var kills = MemoryKills()
        kills.took(GroupReading(killed: ["a": 0], inSlice: 7), total: 9, at: .at(0))
        // systemd has started it again, in a new group: only the slice and the kernel have counted.
        kills.took(GroupReading(killed: ["a": 0], inSlice: 10), total: 12, at: .at(10))
        #expect(kills.byName == ["watchbox.slice": 3])
        #expect(kills.ourLoop(at: .at(10)) == 3)
        kills.took(GroupReading(killed: ["a": 2], inSlice: 12), total: 15, at: .at(20))
        #expect(kills.byName == ["watchbox.slice": 3, "a": 2, "other": 1])
        #expect(kills.ourLoop(at: .at(20)) == 5)
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
