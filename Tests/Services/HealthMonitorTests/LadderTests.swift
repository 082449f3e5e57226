import Testing

@testable import HealthMonitor

/// The ladder as a dialogue: what is seen, and what is done.
final class LadderTests {
    typealias Camera = EscalationLadder.Camera
    typealias Observation = EscalationLadder.Observation

    private var ladder: EscalationLadder = {
        var state = LadderState()
        state.begin(boot: "boot", uptime: 0)
        return EscalationLadder(state: state)
    }()

    private func camera(
        _ id: String = "front", _ phase: UnitPhase? = .running, restarts: UInt32 = 0, usb: String? = nil,
        _ trouble: EscalationLadder.Trouble? = nil
    ) -> Camera {
        Camera(id: id, usbPort: usb, phase: phase, restarts: restarts, trouble: trouble)
    }

    private func see(
        _ uptime: UInt64, _ cameras: [Camera] = [], link: String? = nil, faults: [EscalationLadder.LocalFault] = [],
        mayReboot: Bool = true, isStateSaved: Bool = true
    ) -> [String] {
        ladder.observe(
            Observation(
                uptime: uptime, time: 0, cameras: cameras, link: link.map { .init(interface: "eth0", reason: $0) },
                faults: faults, mayReboot: mayReboot, isStateSaved: isStateSaved)
        ).map { action in
            switch action {
            case .restartCamera(let id, _): "restart \(id)"
            case .resetDevice(let id, let port, _): "reset \(id) at \(port)"
            case .renewNetwork(let interface, _): "renew \(interface)"
            case .restartTarget(let ids, _): "restart target for \(ids.joined(separator: ","))"
            case .reboot(let why): "reboot: \(why)"
            case .restartedBySystemd(let id, let times): "systemd restarted \(id) \(times)"
            case .held(let level, let object, _): "held \(level.rawValue) \(object)"
            }
        }
    }

    private let wedged = EscalationLadder.Trouble.local("no frames")

    @Test func `a camera without frames is restarted, and then has a minute to start`() {
        #expect(see(100, [camera()]) == [])
        #expect(see(110, [camera(wedged)]) == ["restart front"])
        #expect(see(112, [camera(wedged)]) == [])
        #expect(see(169, [camera(wedged)]) == [])
        #expect(see(170, [camera(wedged)]) == ["restart front"])
        #expect(see(180, [camera()]) == [])
    }

    private func camera(_ trouble: EscalationLadder.Trouble) -> Camera { camera("front", trouble) }
    private func camera(_ id: String, _ trouble: EscalationLadder.Trouble) -> Camera {
        camera(id, .running, restarts: 0, usb: nil, trouble)
    }

    @Test func `what systemd restarts is counted, not done again`() {
        #expect(see(100, [camera("front", .running, restarts: 2)]) == [])
        #expect(see(102, [camera("front", .changing, restarts: 3, wedged)]) == ["systemd restarted front 1"])
        #expect(see(104, [camera("front", .changing, restarts: 3, wedged)]) == [])
        #expect(see(120, [camera("front", .running, restarts: 3, wedged)]) == [])
        #expect(see(163, [camera("front", .running, restarts: 3, wedged)]) == ["restart front"])
        // By hand: the count begins again, and that is not a restart.
        #expect(see(165, [camera("front", .running, restarts: 0)]) == [])
        #expect(ladder.state.recoveries == ["L1": 2])
    }

    @Test func `eight restarts in 10 minutes are all, and that is reported once`() {
        var restarts = 0
        var held = 0
        for uptime in stride(from: UInt64(100), to: 700, by: 2) {
            for action in see(uptime, [camera(wedged)]) {
                if action == "restart front" { restarts += 1 }
                if action == "held L1 front" { held += 1 }
            }
        }
        #expect(restarts == 8)
        #expect(held == 1)
        #expect(see(702, [camera(wedged)]) == ["restart front"])
    }

    @Test func `a USB camera is reset after three restarts in 5 minutes, once in 10 minutes`() {
        func usb(_ trouble: EscalationLadder.Trouble?) -> Camera {
            camera("front", .running, restarts: 0, usb: "1-1.4", trouble)
        }
        var actions: [(UInt64, String)] = []
        for uptime in stride(from: UInt64(100), to: 1300, by: 10) {
            actions += see(uptime, [usb(wedged)]).map { (uptime, $0) }
        }
        let resets = actions.filter { $0.1 == "reset front at 1-1.4" }.map(\.0)
        #expect(resets.first == 280)
        #expect(zip(resets, resets.dropFirst()).allSatisfy { $1 - $0 >= 600 })
        #expect(resets.count == 2)
        // Frames come back.
        #expect(see(1310, [usb(nil)]) == [])
    }

    @Test func `six resets a day are all`() {
        var resets = 0
        for uptime in stride(from: UInt64(100), to: 86_000, by: 20) {
            let actions = see(uptime, [camera("front", .running, restarts: 0, usb: "1-1", wedged)])
            resets += actions.count { $0.hasPrefix("reset") }
        }
        #expect(resets == 6)
    }

    @Test func `a camera that systemd gave up on is started again after a pause`() {
        let failed = camera("front", .failed("start-limit-hit"), restarts: 4, usb: nil, wedged)
        #expect(see(100, [failed]) == [])
        #expect(see(219, [failed]) == [])
        #expect(see(220, [failed]) == ["restart front"])
    }

    @Test func `one that does not run though it should is started after half a minute`() {
        #expect(see(100, [camera("front", .stopped)]) == [])
        #expect(see(129, [camera("front", .stopped)]) == [])
        #expect(see(130, [camera("front", .stopped)]) == ["restart front"])
    }

    @Test func `without systemd's confirmation a camera is restarted all the same`() {
        #expect(see(100, [camera("front", nil, restarts: 0, usb: nil, wedged)]) == ["restart front"])
    }

    @Test func `the network is renewed after 2 minutes without address, every 15 minutes`() {
        #expect(see(100, link: "no address") == [])
        #expect(see(219, link: "no address") == [])
        #expect(see(220, link: "no address") == ["renew eth0"])
        // A renewal takes its time.
        #expect(see(222, link: "no address") == [])
        #expect(see(339, link: "no address") == [])
        #expect(see(340, link: "no address") == ["held L3 eth0"])
        #expect(see(342, link: "no address") == [])
        #expect(see(1119, link: "no address") == [])
        #expect(see(1120, link: "no address") == ["renew eth0"])
        #expect(see(1122) == [])
        // The grace period begins again.
        #expect(see(3000, link: "no gateway") == [])
    }

    @Test func `two cameras that restarts do not help restart everything, twice an hour`() {
        var restarts: [UInt64] = []
        for uptime in stride(from: UInt64(100), to: 5000, by: 5) {
            let actions = see(uptime, [camera("a", wedged), camera("b", wedged)])
            if actions.contains("restart target for a,b") { restarts.append(uptime) }
        }
        // The first restarts of their own at 100 and 160 s.
        #expect(restarts.prefix(2) == [165, 765])
        #expect(restarts.dropFirst(2).first.map { $0 >= 165 + 3600 } == true)
    }

    @Test func `one camera never restarts everything`() {
        for uptime in stride(from: UInt64(100), to: 7200, by: 5) {
            let actions = see(uptime, [camera("a", wedged), camera("b")])
            #expect(!actions.contains { $0.hasPrefix("restart target") })
        }
    }

    @Test func `what may be the relay's fault restarts a camera and nothing more`() {
        var seen: Set<String> = []
        for uptime in stride(from: UInt64(100), to: 7200, by: 5) {
            seen.formUnion(
                see(
                    uptime,
                    [
                        camera("a", .running, restarts: 0, usb: "1-1", .stalled("x")),
                        camera("b", .running, restarts: 0, usb: "1-2", .stalled("x")),
                    ]))
        }
        #expect(seen == ["restart a", "restart b", "held L1 a", "held L1 b"])
    }

    @Test func `a frozen picture restarts its camera every 10 minutes, and nothing more`() {
        var actions: [(second: UInt64, action: String)] = []
        for uptime in stride(from: UInt64(100), to: 4000, by: 5) {
            let seen = see(
                uptime,
                [
                    camera("a", .running, restarts: 0, usb: "1-1", .frozen("x")),
                    camera("b", .running, restarts: 0, usb: "1-2", .frozen("x")),
                ])
            actions += seen.map { (uptime, $0) }
        }
        #expect(Set(actions.map(\.action)) == ["restart a", "restart b"])
        #expect(actions.filter { $0.action == "restart a" }.map(\.second) == [100, 700, 1300, 1900, 2500, 3100, 3700])
    }

    @Test func `a frozen picture beside a wedged camera does not make two of them`() {
        for uptime in stride(from: UInt64(100), to: 4000, by: 5) {
            // By systemd, often enough for L4.
            let frozen = camera("b", .running, restarts: UInt32(uptime / 60), usb: nil, .frozen("x"))
            #expect(!see(uptime, [camera("a", wedged), frozen]).contains { $0.hasPrefix("restart target") })
        }
    }

    private let stuck = EscalationLadder.LocalFault(kind: .stuckTask, text: "v4l2 hangs")

    @Test func `a local fault reboots after 30 minutes of uptime, when it lasts`() {
        #expect(see(600, faults: [stuck]) == [])
        #expect(see(660, faults: [stuck]) == ["held L5 box"])
        #expect(see(662, faults: [stuck]) == [])
        #expect(see(1799, faults: [stuck]) == [])
        #expect(see(1800, faults: [stuck]) == ["reboot: v4l2 hangs"])
        // PID 1 takes its time; nothing is ordered twice.
        #expect(see(1802, faults: [stuck]) == [])
    }

    @Test func `the text of a fault may change while it lasts`() {
        for second in UInt64(5000)..<5060 {
            #expect(see(second, faults: [.init(kind: .memoryLoop, text: "\(second) kills")]) == [])
        }
        #expect(see(5060, faults: [.init(kind: .memoryLoop, text: "9 kills")]) == ["reboot: 9 kills"])
    }

    @Test func `a fault that goes away in time reboots nothing`() {
        #expect(see(4000, faults: [stuck]) == [])
        #expect(see(4059, faults: [stuck]) == [])
        #expect(see(4061) == [])
        #expect(see(4063, faults: [stuck]) == [])
    }

    @Test func `a box that may not reboot says so`() {
        #expect(see(4000, faults: [stuck], mayReboot: false) == [])
        #expect(see(4060, faults: [stuck], mayReboot: false) == ["held L5 box"])
        #expect(see(90_000, faults: [stuck], mayReboot: false) == [])
    }

    @Test func `a reboot that cannot be put on record waits for 8 hours`() {
        #expect(see(28_000, faults: [stuck], isStateSaved: false) == [])
        #expect(see(28_100, faults: [stuck], isStateSaved: false) == ["held L5 box"])
        #expect(see(28_800, faults: [stuck], isStateSaved: false) == ["reboot: v4l2 hangs"])
    }

    @Test func `three reboots in 24 h, each after twice the time, over boots and with any clock`() {
        var state = LadderState()
        var reboots: [(boot: Int, uptime: UInt64)] = []
        for boot in 0..<6 {
            state.begin(boot: "boot \(boot)", uptime: 0)
            var ladder = EscalationLadder(state: state)
            var uptime: UInt64 = 0
            // Each boot shows the fault at once; the wall clock jumps about.
            while uptime < 40_000 {
                let time = uptime.isMultiple(of: 20) ? 0 : Int64(4_000_000_000)
                let actions = ladder.observe(Observation(uptime: uptime, time: time, faults: [stuck]))
                if actions.contains(.reboot("v4l2 hangs")) {
                    reboots.append((boot, uptime))
                    break
                }
                uptime += 10
            }
            state = ladder.state
        }
        // 30, 60 and 120 minutes; then the first of them must be a day of running ago, which is in the boot after the
        // next.
        #expect(reboots.map(\.boot) == [0, 1, 2, 4, 5])
        #expect(reboots.map(\.uptime) == [1800, 3600, 7200, 35_610, 7200])
    }
}
