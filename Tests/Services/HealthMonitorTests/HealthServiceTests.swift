import BoxReadings
import CameraModel
import ControlAPI
import ErrorCatalog
import Foundation
import Logging
import PrometheusText
import Systemd
import Testing

@testable import HealthMonitor

/// A running monitor on a machine of text files, with a clock that the test moves.
private final class Stage {
    let tree: FixtureTree
    let clock = ManualClock()
    let units: StandInUnits
    let cameras = StandInCameras()
    let socket: NotifySocket
    let service: HealthService
    private var running: Task<Void, any Error>?

    init(
        _ files: [String: String] = healthyBoard, settings: HealthServiceSettings = HealthServiceSettings(),
        units: StandInUnits = StandInUnits(), onThisMachine: Bool = false
    ) throws {
        tree = try FixtureTree(files)
        self.units = units
        try tree.write("run/health.json", JSONDocument.text(settings))
        socket = NotifySocket("\(tree.root)/n")
        var paths = tree.paths
        if onThisMachine {
            paths.box.processRoot = "/proc"
            paths.box.systemRoot = "/sys"
        }
        service = HealthService(
            paths: paths, units: units, cameras: cameras, notifier: Notifier(socketPath: socket.path),
            version: "1.2.3", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: clock)
    }

    func start() {
        running = Task { [service] in try await service.run() }
    }

    /// Until the round that is under way has ended.
    func roundEnds() async { await clock.somebodySleeps(HealthService.pause) }

    /// So many rounds more.
    func rounds(_ count: Int) async {
        for _ in 0..<count {
            clock.advance(HealthService.pause)
            await roundEnds()
        }
    }

    func stop() async {
        running?.cancel()
        cameras.gate.open()
        units.gate.open()
        _ = await running?.result
    }

    func ask(_ method: APIRequest.Method, _ path: String, _ query: [String: String] = [:]) async -> APIResponse {
        await service.router.answer(
            APIRequest(
                method, path, query: query,
                peer: .init(processIdentifier: 1, userIdentifier: 0, groupIdentifier: 0, isAdministrator: true)))
    }

    func report() async throws -> HealthReport {
        guard case .json(let bytes) = await ask(.get, "/api/v1/health").body else { throw CancellationError() }
        return try JSONDocument.decode(HealthReport.self, from: bytes)
    }

    func history(_ query: [String: String] = [:]) async throws -> [HealthEvent] {
        guard case .json(let bytes) = await ask(.get, "/api/v1/health/history", query).body else {
            throw CancellationError()
        }
        return try JSONDocument.decode(HealthHistoryDocument.self, from: bytes).events
    }

    func state(_ check: String, _ object: String? = nil) async throws -> HealthState? {
        try await report().checks.first { $0.check == check && $0.object == object }?.state
    }
}

private let boardWithHangingCamera = healthyBoard.merging(
    [
        "proc/812/stat": "812 (watchboxd) D 1 812 812 0 -1 4194304 0 0 0 0 7 8 0 0 20 0 1 0 4711",
        "proc/812/schedstat": "1 2 3\n",
        "proc/812/cgroup": "0::/watchbox.slice/watchbox-camera@front.service\n",
        "pmsg0": "",
    ], uniquingKeysWith: { $1 })

private func running(_ camera: String, restarts: UInt32 = 0) -> UnitState {
    UnitState(
        name: "watchbox-camera@\(camera).service", load: "loaded", active: "active", sub: "running", result: "success",
        restarts: restarts)
}

@Suite(.timeLimit(.minutes(15)))
struct HealthServiceTests {
    @Test func `a healthy box says so after its first round`() async throws {
        let stage = try Stage(
            settings: .init(cameras: [.init(id: "front")]), units: StandInUnits([running("front")]))
        stage.cameras.set("front", status(frames: 100, acknowledgedSecondsAgo: 0.4))
        stage.start()
        await stage.roundEnds()
        let messages = stage.socket.messages()
        #expect(messages.first?.hasPrefix("READY=1") == true)
        #expect(messages.first?.contains("1 of 1 cameras live; all checks fine") == true)
        #expect(messages.contains("WATCHDOG=1"))
        let report = try await stage.report()
        #expect(report.state == .ok)
        for (check, object) in [
            ("publish", "front"), ("camera", "front"), ("unit", "watchbox-camera@front"), ("power", nil), ("heat", nil),
            ("watchdog", nil), ("memory", nil), ("cpu", nil), ("tasks", nil), ("network-link", nil),
            ("network-address", nil), ("network-gateway", nil), ("monitor", nil),
        ] as [(String, String?)] {
            #expect(report.checks.contains { $0.check == check && $0.object == object && $0.state == .ok }, "\(check)")
        }
        #expect(report.checks.first { $0.check == "frozen-picture" }?.state == .unknown)
        #expect(report.ladder.steps.map(\.level) == ["L1", "L2", "L3", "L4", "L5"])
        await stage.stop()
        #expect(stage.socket.messages().contains { $0.hasPrefix("STOPPING=1") })
    }

    @Test func `every round that ends pings once`() async throws {
        let stage = try Stage()
        stage.start()
        await stage.roundEnds()
        _ = stage.socket.messages()
        await stage.rounds(5)
        #expect(stage.socket.messages().count { $0 == "WATCHDOG=1" } == 5)
        await stage.stop()
    }

    @Test func `a round that hangs does not ping`() async throws {
        let stage = try Stage(settings: .init(cameras: [.init(id: "front")]))
        stage.start()
        // The camera does not answer, and nothing says that the time for it is over.
        await stage.clock.somebodySleeps(HealthService.timeout)
        #expect(stage.socket.messages().isEmpty)
        stage.clock.advance(HealthService.timeout)
        await stage.roundEnds()
        #expect(stage.socket.messages().contains("WATCHDOG=1"))
        await stage.stop()
    }

    @Test func `a check that hangs is a finding of its own`() async throws {
        let stage = try Stage()
        stage.units.fallSilent()
        stage.start()
        await stage.clock.somebodySleeps(HealthService.timeout)
        stage.clock.advance(HealthService.timeout)
        await stage.roundEnds()
        await stage.rounds(1)
        let check = try #require(try await stage.report().checks.first { $0.check == "unit" })
        #expect(check.state == .unknown)
        #expect(check.evidence.contains("did not end in 5.0 s"))
        await stage.stop()
    }

    @Test func `a camera without frames is restarted, and the history shows it`() async throws {
        let stage = try Stage(
            settings: .init(cameras: [.init(id: "front")]), units: StandInUnits([running("front")]))
        stage.cameras.set("front", status(frames: 100, acknowledgedSecondsAgo: 0.1))
        stage.start()
        await stage.roundEnds()
        await stage.rounds(16)
        await stage.units.called("restart watchbox-camera@front.service")
        #expect(try await stage.state("camera", "front") == .fail)
        #expect(try await stage.report().recoveries == ["L1": 1])
        let events = try await stage.history()
        #expect(events.contains { $0.kind == "recovery" && $0.level == "L1" && $0.object == "front" })
        #expect(events.contains { $0.kind == "state" && $0.check == "camera" && $0.to == .warn && $0.from == .ok })
        #expect(events.contains { $0.check == "camera" && $0.to == .fail && $0.code == .noFrames })
        #expect(try await stage.history(["check": "publish"]).allSatisfy { $0.check == "publish" })
        // On disk before it was done.
        #expect(try stage.tree.text("state/ladder.json").contains("\"L1\":[{"))
        await stage.stop()
    }

    @Test func `a relay that is away for hours restarts nothing`() async throws {
        let stage = try Stage(
            settings: .init(cameras: [.init(id: "a"), .init(id: "b")]),
            units: StandInUnits([running("a"), running("b")]))
        for id in ["a", "b"] {
            stage.cameras.set(id, status(id, .waitingToReconnect, frames: 10) { $0.reason = "connection refused" })
        }
        stage.start()
        await stage.roundEnds()
        for _ in 0..<60 {
            stage.clock.advance(.seconds(120))
            await stage.roundEnds()
        }
        #expect(stage.units.calls == [])
        let check = try #require(try await stage.report().checks.first { $0.check == "publish" && $0.object == "a" })
        #expect(check.state == .fail)
        #expect(check.code == .relayUnreachable)
        await stage.stop()
    }

    @Test func `a helper unit that is not installed is skipped and reported`() async throws {
        var board = healthyBoard
        board["proc/net/fib_trie"] = ""
        let unit = "watchbox-link-renew@eth0.service"
        let stage = try Stage(board, units: StandInUnits(missing: [unit]))
        stage.start()
        await stage.roundEnds()
        await stage.rounds(62)
        await stage.units.called("start \(unit)")
        var events: [HealthEvent] = []
        // The answer of systemd is put into the history by a task of its own.
        while !events.contains(where: { $0.text.contains("this system has no \(unit)") }) {
            await Task.yield()
            events = try await stage.history()
        }
        #expect(events.contains { $0.level == "L3" && $0.code == .noAddress })
        await stage.stop()
    }

    @Test func `the ladder is written when it has news, and seldom for the box's age alone`() async throws {
        let stage = try Stage()
        stage.start()
        await stage.roundEnds()
        var saves = 0
        var age: UInt64 = 0
        for _ in 0..<1440 {
            stage.clock.advance(.seconds(60))
            await stage.roundEnds()
            let state = LadderFile(directory: stage.tree.paths.stateDirectory).load().state
            saves += state.age != age ? 1 : 0
            age = state.age
            let uptime = stage.clock.now().uptime / 1_000_000_000
            // What a power cut would take from the age.
            #expect(uptime - age <= max(660, min(uptime / 2, 3600) + 60))
        }
        #expect((20...32).contains(saves))
        let text = try stage.tree.text("state/ladder.json")
        await stage.rounds(5)
        #expect(try stage.tree.text("state/ladder.json") == text)
        await stage.stop()
    }

    /// Where health may see others' processes: in the units as they are installed it may not (docs/ref/units.md).
    @Test func `a hanging camera process reboots the box when it must, and the next boot knows why`() async throws {
        let stage = try Stage(boardWithHangingCamera)
        stage.start()
        await stage.roundEnds()
        // A fault that has to wait for its reboot costs the card nothing meanwhile.
        stage.clock.advance(.seconds(900))
        await stage.roundEnds()
        let waiting = try stage.tree.text("state/ladder.json")
        await stage.rounds(60)
        #expect(try stage.tree.text("state/ladder.json") == waiting)
        #expect(try await stage.history().contains { $0.text.contains("it reboots when it has run for 30 min") })
        #expect(stage.units.calls == [])
        stage.clock.advance(.seconds(900))
        await stage.roundEnds()
        await stage.rounds(40)
        await stage.units.called("start irreversibly reboot.target")
        #expect(try stage.tree.text("pmsg0").contains("watchboxd (812)"))
        await stage.stop()

        // The same disk, another boot.
        var state = LadderFile(directory: stage.tree.paths.stateDirectory).load().state
        state.begin(boot: "another", uptime: 10)
        #expect(
            state.lastEnd == .ladder(reason: "watchboxd (812) of watchbox-camera@front.service hangs in the kernel"))
        #expect(state.uses[.reboot]?.count == 1)
    }

    /// Else a box that forgets its reboots reboots for ever.
    @Test func `a reboot that cannot be put on record is not ordered`() async throws {
        let stage = try Stage(boardWithHangingCamera)
        stage.start()
        await stage.roundEnds()
        stage.clock.advance(.seconds(1800))
        await stage.roundEnds()
        await stage.rounds(10)
        // The last save worked.
        try stage.tree.remove("state")
        await stage.rounds(80)
        #expect(!stage.units.calls.contains { $0.contains("reboot") })
        #expect(try await stage.history().contains { $0.text.contains("it reboots when it has run for 480 min") })
        await stage.stop()
    }

    @Test func `a disk that cannot be written stops nothing and is reported`() async throws {
        let stage = try Stage()
        try stage.tree.remove("state")
        stage.start()
        await stage.roundEnds()
        await stage.rounds(3)
        let check = try #require(try await stage.report().checks.first { $0.check == "monitor" })
        #expect(check.state == .warn)
        #expect(check.evidence.contains("budgets cannot be saved"))
        #expect(stage.socket.messages().contains("WATCHDOG=1"))
        await stage.stop()
    }

    @Test func `a damaged ladder is reported, and larger steps wait`() async throws {
        var board = healthyBoard
        board["state/ladder.json"] = "{\"schema\":"
        let stage = try Stage(board)
        stage.start()
        await stage.roundEnds()
        let report = try await stage.report()
        #expect(report.checks.first { $0.check == "monitor" }?.evidence.contains("was damaged") == true)
        #expect(report.ladder.steps.filter { $0.level != "L1" }.allSatisfy { $0.used == $0.allowed && $0.last == nil })
        #expect(report.recoveries == [:])
        await stage.stop()
    }

    @Test func `a clock that is set is reported once, and spoils no time`() async throws {
        let stage = try Stage()
        stage.start()
        await stage.roundEnds()
        stage.clock.step(seconds: -3600)
        await stage.rounds(6)
        let events = try await stage.history(["check": "clock"])
        #expect(events.count { $0.code == .clockStepped } == 1)
        #expect(events.first { $0.code == .clockStepped }?.text == "the clock was set by -3600.0 s")
        await stage.stop()
    }

    @Test func `settings that change are followed, and bad ones do no harm`() async throws {
        let stage = try Stage(settings: .init(cameras: [.init(id: "front")]))
        stage.cameras.set("front", status(frames: 1, acknowledgedSecondsAgo: 0))
        stage.start()
        await stage.roundEnds()
        #expect(try await stage.state("publish", "front") == .ok)
        try stage.tree.write("run/health.json", "{")
        await stage.rounds(1)
        #expect(try await stage.state("publish", "front") == .ok)
        #expect(try await stage.state("monitor") == .warn)
        // A person stopped it: nothing is expected of it.
        try stage.tree.write("run/health.json", JSONDocument.text(HealthServiceSettings()))
        await stage.rounds(1)
        #expect(try await stage.state("publish", "front") == nil)
        #expect(try await stage.report().checks.allSatisfy { $0.object != "front" })
        await stage.stop()
    }

    @Test func `acknowledging is for checks that there are`() async throws {
        let stage = try Stage()
        stage.start()
        await stage.roundEnds()
        #expect(await stage.ask(.post, "/api/v1/health/power/acknowledge").status == 204)
        #expect(try await stage.report().checks.first { $0.check == "power" }?.isAcknowledged == true)
        #expect(await stage.ask(.post, "/api/v1/health/nonsense/acknowledge").status == 404)
        #expect(await stage.ask(.post, "/api/v1/health/publish/acknowledge").status == 404)
        #expect(await stage.ask(.get, "/api/v1/health/history", ["hours": "25"]).status == 400)
        #expect(await stage.ask(.get, "/api/v1/health/history", ["check": "nonsense"]).status == 404)
        await stage.stop()
    }

    @Test func `metrics are served`() async throws {
        let stage = try Stage()
        stage.start()
        await stage.roundEnds()
        guard case .text(let text, let type) = await stage.ask(.get, "/metrics").body else {
            Issue.record("no text")
            return
        }
        #expect(type == MetricFamily.mediaType)
        #expect(text.contains("watchbox_build_info{version=\"1.2.3\",slot=\"none\"} 1\n"))
        #expect(text.contains("watchbox_temperature_celsius 51.234\n"))
        #expect(text.contains("watchbox_health_state{check=\"watchdog\",state=\"ok\"} 1\n"))
        await stage.stop()
    }

    @Test func `this very machine is reported as far as it can be read, and no step is taken`() async throws {
        let stage = try Stage([:], onThisMachine: true)
        stage.start()
        await stage.roundEnds()
        await stage.rounds(6)
        let report = try await stage.report()
        let expected: Set = [
            "power", "heat", "watchdog", "boot", "memory", "cpu", "tasks", "clock", "network-link", "network-address",
            "network-gateway", "storage-read-only", "monitor",
        ]
        #expect(expected.isSubset(of: Set(report.checks.map(\.check))))
        #expect(report.checks.allSatisfy { !$0.evidence.isEmpty })
        #expect(report.checks.allSatisfy { ($0.state == .warn || $0.state == .fail) == ($0.code != nil) })
        #expect(stage.units.calls == [])
        await stage.stop()
    }
}
