import TestSupport
import Testing

@testable import HealthMonitor

struct LadderPropertyTests {
    private static func oneOf<Value>(_ values: [Value], _ random: inout SeededGenerator) -> Value {
        values[Int(random.next() % UInt64(values.count))]
    }

    /// Relay, KAS, names and internet come and go for two days; processes wait, are restarted by people, and starts and
    /// changes of units happen as they do. Nothing local is wrong.
    @Test(arguments: 0..<6 as Range<UInt64>)
    func `an outage elsewhere never leads to any step`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = LadderState()
        state.begin(boot: "a", uptime: 0)
        var ladder = EscalationLadder(state: state)
        var uptime: UInt64 = 0
        while uptime < 172_800 {
            uptime += 1 + random.next() % 120
            let cameras = (0..<3).map { number in
                EscalationLadder.Camera(
                    id: "cam\(number)", usbPort: number == 0 ? "1-1" : nil,
                    phase: Self.oneOf([.running, .changing, .running, nil], &random),
                    trouble: Self.oneOf([nil, .remote("relay"), .remote("key")], &random))
            }
            let actions = ladder.observe(
                .init(
                    uptime: uptime, time: Int64(random.next() % 4_000_000_000), cameras: cameras,
                    isStateSaved: random.next() % 2 == 0))
            guard actions.isEmpty else {
                Issue.record("seed \(seed), second \(uptime): \(actions)")
                return
            }
        }
        #expect(ladder.state.totals == [:])
    }

    /// With a stalled relay among the remote causes a camera may be restarted; nothing larger.
    @Test(arguments: 100..<103 as Range<UInt64>)
    func `what may be remote never leads beyond a restart of its camera`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = LadderState()
        state.begin(boot: "a", uptime: 0)
        var ladder = EscalationLadder(state: state)
        for uptime in stride(from: UInt64(0), to: 40_000, by: 7) {
            let cameras = (0..<2).map { number in
                EscalationLadder.Camera(
                    id: "cam\(number)", usbPort: "1-\(number)", phase: .running,
                    trouble: Self.oneOf([.stalled("x"), .remote("x"), nil, .frozen("x")], &random))
            }
            for action in ladder.observe(.init(uptime: uptime, time: 0, cameras: cameras)) {
                switch action {
                case .restartCamera, .held(.restartCamera, _, _): break
                default: Issue.record("seed \(seed), second \(uptime): \(action)")
                }
            }
        }
    }

    /// Everything goes wrong at random, boots come and go, the clock says anything: no budget is ever exceeded.
    @Test(arguments: 200..<205 as Range<UInt64>)
    func `budgets hold in every history`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var state = LadderState()
        var boot = 0
        var uptime: UInt64 = 0
        // Running time, as a stopwatch beside the ladder would show it.
        var age: UInt64 = 0
        var taken: [LadderLevel: [(age: UInt64, object: String)]] = [:]
        state.begin(boot: "boot 0", uptime: 0)
        var ladder = EscalationLadder(state: state)
        func take(_ level: LadderLevel, _ object: String) {
            taken[level, default: []].append((age, object))
            for budget in level.budgets {
                let used = taken[level, default: []].count {
                    age - $0.age < budget.seconds && (!level.isPerObject || $0.object == object)
                }
                if used > budget.allowed { Issue.record("seed \(seed): \(level) at \(age)") }
            }
        }
        while age < 120_000 {
            let step = 1 + random.next() % 60
            uptime += step
            age += step
            let cameras = (0..<2).map { number in
                EscalationLadder.Camera(
                    id: "cam\(number)", usbPort: "1-\(number)",
                    phase: Self.oneOf([.running, .running, .failed("watchdog"), .stopped, .changing], &random),
                    trouble: Self.oneOf(
                        [.local("x"), .local("x"), .frozen("x"), .stalled("x"), .remote("x"), nil], &random))
            }
            let isBroken = age / 5000 % 3 == 0
            let actions = ladder.observe(
                .init(
                    uptime: uptime, time: Int64(bitPattern: random.next()) % 4_000_000_000, cameras: cameras,
                    link: isBroken ? .init(interface: "eth0", reason: "x") : nil,
                    faults: isBroken ? [.init(kind: .stuckTask, text: "x")] : []))
            var ends = random.next() % 4000 == 0
            for action in actions {
                switch action {
                case .restartCamera(let id, _): take(.restartCamera, id)
                case .resetDevice(let id, _, _): take(.resetDevice, id)
                case .renewNetwork: take(.renewNetwork, "eth0")
                case .restartTarget: take(.restartTarget, "box")
                case .reboot:
                    #expect(uptime >= 1800)
                    take(.reboot, "box")
                    ends = true
                case .held, .restartedBySystemd: break
                }
            }
            if ends {
                boot += 1
                uptime = 0
                var next = ladder.state
                next.begin(boot: "boot \(boot)", uptime: 0)
                ladder = EscalationLadder(state: next)
            }
        }
        #expect(!taken.isEmpty)
    }
}
