import CameraModel
import ControlAPI
import ErrorCatalog
import Platform
import Systemd
import Testing

@testable import BoxReadings
@testable import HealthMonitor

final class CheckRunnerTests {
    private var runner = CheckRunner(lastEnd: .unknown)
    private let main = HealthServiceSettings.Peer(name: "main", host: "live.example.net", port: 443, tls: true)

    @discardableResult
    private func took(_ probe: Probe, _ reading: Reading, _ second: Double) -> [CheckRunner.News] {
        runner.took(probe, reading, at: .at(second))
    }

    private func state(_ check: CheckName, _ object: String? = nil) -> HealthState? {
        runner.ledger.state(check, object)
    }

    private func observed(_ second: Double) -> EscalationLadder.Observation {
        runner.observation(at: .at(second))
    }

    @Test func `a stream that is acknowledged speaks for its relay`() {
        runner.use(.init(relays: [main], cameras: [.init(id: "front", relay: "main")]))
        #expect(runner.probes.contains(.relay("main")))
        #expect(runner.witness(of: "main") == nil)
        #expect(runner.isInTrouble(.relay("main")))
        took(.camera("front"), .camera(.answered(status(frames: 10, acknowledgedSecondsAgo: 0.5))), 1)
        #expect(runner.witness(of: "main") == "front was acknowledged 0.5 s ago")
        took(.relay("main"), .peer(main, .vouched("front")), 1)
        #expect(state(.relay, "main") == .ok)
        #expect(!runner.isInTrouble(.relay("main")))
        #expect(state(.certificate, "main") == .unknown)
        took(.camera("front"), .camera(.answered(status("front", .waitingToReconnect, frames: 10))), 3)
        #expect(runner.witness(of: "main") == nil)
        #expect(runner.isInTrouble(.relay("main")))
    }

    @Test func `a relay that was away is there again with the first stream that it acknowledges`() {
        runner.use(.init(relays: [main], cameras: [.init(id: "front", relay: "main")]))
        took(.camera("front"), .camera(.answered(status("front", .waitingToReconnect, frames: 10))), 1)
        took(.relay("main"), .peer(main, .refused("Connection refused")), 2)
        #expect(state(.relay, "main") == .fail)
        // Better is reported after ten seconds of it, though nothing has tried the relay since.
        for second in stride(from: 30.0, through: 42, by: 2) {
            let document = status(frames: UInt64(second), acknowledgedSecondsAgo: 0.5)
            took(.camera("front"), .camera(.answered(document)), second)
            #expect(state(.relay, "main") == (second < 40 ? .fail : .ok), "\(second)")
        }
        #expect(!runner.isInTrouble(.relay("main")))
    }

    @Test func `the ladder learns a camera's USB port from its process`() {
        runner.use(.init(cameras: [.init(id: "front"), .init(id: "yard")]))
        let document = status(frames: 1) {
            $0.capture = CaptureStatistics(path: "/dev/video0")
            $0.capture?.usbPort = "1-1.4"
        }
        took(.camera("front"), .camera(.answered(document)), 1)
        #expect(observed(2).cameras.map(\.usbPort) == ["1-1.4", nil])
    }

    @Test func `a relay that is away is reported as such, and gives no reason for a step`() {
        runner.use(.init(relays: [main], cameras: [.init(id: "front", relay: "main")]))
        took(.units, .units(.units([])), 0)
        for second in stride(from: 1.0, to: 600, by: 2) {
            let document = status("front", .waitingToReconnect, frames: UInt64(second))
            took(.camera("front"), .camera(.answered(document)), second)
            took(.relay("main"), .peer(main, .refused("no answer within 3 s")), second)
        }
        #expect(state(.relay, "main") == .fail)
        #expect(state(.networkDNS, "live.example.net") == .ok)
        #expect(state(.publish, "front") == .fail)
        #expect(state(.camera, "front") == .ok)
        let observation = observed(600)
        guard case .remote = observation.cameras.first?.trouble else {
            Issue.record("\(observation.cameras)")
            return
        }
        // systemd knows no unit of it, but its process answers.
        #expect(observation.cameras.first?.phase == .running)
        #expect(observation.link == nil)
        #expect(observation.faults == [])
    }

    @Test func `what is not configured any more is forgotten`() {
        runner.use(.init(relays: [main], kas: main, cameras: [.init(id: "front")]))
        took(.relay("main"), .peer(main, .refused("x")), 1)
        took(.kas, .peer(main, .noNameServer("x")), 1)
        took(.camera("front"), .camera(.silent("x")), 1)
        runner.use(HealthServiceSettings())
        #expect(runner.ledger.checks(at: .at(2)).isEmpty)
        // What was under way when it went comes too late.
        took(.relay("main"), .peer(main, .refused("x")), 3)
        took(.camera("front"), .camera(.silent("x")), 3)
        #expect(runner.ledger.checks(at: .at(4)).isEmpty)
    }

    @Test func `what was read long ago is not a ground for a step`() throws {
        let broken = NetworkReading(interfaces: [.init(name: "eth0", hasCarrier: true)])
        took(.network, .network(broken), 1)
        #expect(observed(1).link?.interface == "eth0")
        _ = runner.late(.network, seconds: 6, at: .at(7))
        #expect(observed(7).link == nil)
        #expect(state(.networkAddress) == .unknown)

        let task = TaskReading.Waiting(
            processIdentifier: 7, name: "x", startTime: 1, slices: 1, unit: "watchbox-relay.service")
        let reading = TaskReading(seesOthers: true, waiting: [task])
        took(.tasks, .tasks(reading), 1)
        took(.tasks, .tasks(reading), 130)
        #expect(observed(130).faults.map(\.kind) == [.stuckTask])
        _ = runner.late(.tasks, seconds: 6, at: .at(140))
        #expect(observed(140).faults == [])
    }

    @Test func `a stuck process of somebody else is never a reason to reboot`() {
        let task = TaskReading.Waiting(processIdentifier: 7, name: "nfs", startTime: 1, slices: 1, unit: nil)
        let reading = TaskReading(seesOthers: true, waiting: [task])
        took(.tasks, .tasks(reading), 1)
        took(.tasks, .tasks(reading), 600)
        #expect(state(.tasks) == .warn)
        #expect(observed(600).faults == [])
    }

    /// - Parameter own: allocations that failed at the camera's own limit.
    private func tookKills(ours: Int64, own: Int64 = 0, all: Int64? = nil, _ second: Double) {
        let counts = GroupReading.Counts(killed: ours, atOwnLimit: own)
        let groups = GroupReading(units: ["watchbox-camera@front.service": counts], slice: counts)
        took(.load, .load(PressureReading(memory: 0, killedForMemory: all ?? ours), groups), second)
    }

    @Test func `a box that runs out of memory five times in 10 minutes is in a loop while it goes on`() {
        for look in 0...4 { tookKills(ours: Int64(look) * 2, 1 + Double(look) * 10) }
        #expect(observed(41).faults == [], "two processes each time are one incident each")
        tookKills(ours: 10, 51)
        #expect(observed(51).faults.map(\.kind) == [.memoryLoop])
        #expect(observed(170).faults.map(\.kind) == [.memoryLoop])
        // Quiet for 2 minutes: what happened is still reported, and nothing is done about it.
        tookKills(ours: 10, 172)
        #expect(observed(172).faults == [])
        #expect(state(.memory) == .fail)
        tookKills(ours: 11, 180)
        #expect(observed(180).faults.map(\.kind) == [.memoryLoop])
        _ = runner.late(.load, seconds: 6, at: .at(190))
        #expect(observed(190).faults == [])
        tookKills(ours: 11, 800)
        #expect(observed(800).faults == [])
    }

    @Test func `a camera at its own memory limit is that camera's fault, and never leads to a reboot`() {
        tookKills(ours: 0, 1)
        var ladder = EscalationLadder(state: LadderState())
        for round in 1...720 {
            let second = Double(round * 10)
            tookKills(ours: Int64(round * 3), own: Int64(round * 8), second)
            let observation = observed(second)
            #expect(observation.faults == [])
            #expect(ladder.observe(observation) == [])
        }
        #expect(
            runner.report(state: LadderState(), at: .at(7200)).checks.contains {
                $0.check == "memory" && $0.object == "watchbox-camera@front" && $0.state == .fail
            })
        #expect(state(.memory) == .ok, "the box has memory")
    }

    @Test func `kills in somebody else's container never lead to a reboot`() {
        tookKills(ours: 0, all: 0, 1)
        var ladder = EscalationLadder(state: LadderState())
        for round in 1...720 {
            let second = Double(round * 10)
            tookKills(ours: 0, all: Int64(round * 2), second)
            let observation = observed(second)
            #expect(observation.faults == [])
            #expect(ladder.observe(observation) == [])
        }
        #expect(state(.memory) == .fail)
    }

    @Test func `a link over which a stream is acknowledged is not renewed`() {
        runner.use(.init(relays: [main], cameras: [.init(id: "front", relay: "main")]))
        let broken = NetworkReading(interfaces: [.init(name: "eth0", hasCarrier: true)])
        var ladder = EscalationLadder(state: LadderState())
        func renewals(_ seconds: ClosedRange<Int>, _ document: CameraStatusDocument) -> Int {
            seconds.count { second in
                took(.network, .network(broken), Double(second))
                took(.camera("front"), .camera(.answered(document)), Double(second))
                return ladder.observe(observed(Double(second))).contains { action in
                    if case .renewNetwork = action { true } else { false }
                }
            }
        }
        for second in 1...600 {
            let document = status(frames: UInt64(second * 25), acknowledgedSecondsAgo: 0.2)
            #expect(renewals(second...second, document) == 0)
        }
        // The fault is reported all the same.
        #expect(state(.networkAddress) == .fail)
        // The stream ends: then it may be the link, after its grace period.
        let waiting = status("front", .waitingToReconnect, frames: 20_000)
        #expect(renewals(601...720, waiting) == 0)
        #expect(renewals(721...1200, waiting) == 1)
    }

    @Test func `a root that somebody made read-only is a warning, one with an error a reason to reboot`() throws {
        func mounts(_ options: String, errors: Int64) throws -> Reading {
            let root = try #require(Mount(line: "1 0 179:2 / / ro - ext4 /dev/mmcblk0p2 \(options)"))
            let data = try #require(Mount(line: "2 1 179:3 / /var rw - ext4 /dev/mmcblk0p3 rw"))
            return .mounts(MountReading(data: data, root: root, rootErrors: errors))
        }
        took(.canary, .canary(CanaryReading()), 1)
        took(.mounts, try mounts("rw,errors=remount-ro", errors: 3), 1)
        #expect(state(.storageReadOnly) == .ok)
        took(.mounts, try mounts("ro,errors=remount-ro", errors: 3), 11)
        #expect(state(.storageReadOnly) == .warn)
        #expect(observed(11).faults == [])
        took(.mounts, try mounts("rw,errors=remount-ro", errors: 3), 21)
        took(.mounts, try mounts("ro,errors=remount-ro", errors: 4), 31)
        #expect(state(.storageReadOnly) == .fail)
        #expect(observed(31).faults.map(\.kind) == [.readOnlyRoot])
        _ = runner.late(.mounts, seconds: 6, at: .at(41))
        #expect(observed(41).faults == [])
    }

    @Test func `a hanging camera is reported as a camera, not as a check`() {
        runner.use(.init(cameras: [.init(id: "front")]))
        took(.camera("front"), .camera(.answered(status(frames: 10, acknowledgedSecondsAgo: 0.5))), 1)
        _ = runner.late(.camera("front"), seconds: 4, at: .at(6))
        #expect(state(.publish, "front") == .warn)
        _ = runner.late(.camera("front"), seconds: 40, at: .at(40))
        #expect(state(.publish, "front") == .fail)
        guard case .local = observed(40).cameras.first?.trouble else {
            Issue.record("no trouble")
            return
        }
    }
}
