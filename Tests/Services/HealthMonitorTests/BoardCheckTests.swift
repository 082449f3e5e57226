import ControlAPI
import ErrorCatalog
import Testing

@testable import BoxReadings
@testable import HealthMonitor

struct BoardCheckTests {
    @Test(arguments: [
        (PowerReading(alarm: true), HealthState.fail), (PowerReading(alarm: false), .ok),
        (PowerReading(throttled: 0x1), .fail), (PowerReading(throttled: 0x50005), .fail),
        (PowerReading(throttled: 0x10000), .warn), (PowerReading(throttled: 0xe000e), .ok),
        (PowerReading(alarm: false, throttled: 0x10000), .warn), (PowerReading(), .unknown),
    ])
    func `the supply`(reading: PowerReading, state: HealthState) {
        let finding = BoardChecks.power(reading)
        #expect(finding.state == state)
        #expect(finding.code == (state == .warn || state == .fail ? .underVoltage : nil))
        #expect((finding.hint != nil) == (finding.code != nil))
    }

    @Test func `heat has slack on its way down`() {
        let limits = HealthThresholds.heatCelsius
        func state(_ celsius: Double, _ was: HealthState?) -> HealthState {
            BoardChecks.heat(.init(celsius: celsius, zone: "cpu"), throttled: nil, limits: limits, was: was).state
        }
        #expect(state(74.9, nil) == .ok)
        #expect(state(75, nil) == .warn)
        #expect(state(82, .warn) == .fail)
        #expect(state(79.5, .fail) == .fail)
        #expect(state(78, .fail) == .warn)
        #expect(state(73, .warn) == .warn)
        #expect(state(71.9, .warn) == .ok)
    }

    @Test func `a processor that the firmware slowed is warm at least`() {
        let limits = HealthThresholds.heatCelsius
        func state(_ celsius: Double?, _ word: UInt32?) -> HealthState {
            BoardChecks.heat(.init(celsius: celsius), throttled: word, limits: limits, was: nil).state
        }
        #expect(state(60, 0x8) == .warn)
        #expect(state(nil, 0x2) == .warn)
        #expect(state(nil, 0x10001) == .unknown)
        #expect(state(nil, nil) == .unknown)
    }

    @Test(arguments: [
        (WatchdogReading(isPresent: true, state: "active", timeoutSeconds: 14), HealthState.ok),
        (WatchdogReading(isPresent: true, state: "inactive"), .fail), (WatchdogReading(isPresent: true), .unknown),
        (WatchdogReading(board: "Raspberry Pi 5"), .fail), (WatchdogReading(), .unknown),
    ])
    func `the watchdog is assessed by what is armed`(reading: WatchdogReading, state: HealthState) {
        let finding = BoardChecks.watchdog(reading)
        #expect(finding.state == state)
        #expect(finding.code == (state == .fail ? .watchdogInactive : nil))
    }

    @Test(arguments: [(14, .ok), (10, .ok), (15, .warn), (60, .warn)] as [(Int64, HealthState)])
    func `a watchdog that waits longer than the image requires is reported`(seconds: Int64, state: HealthState) {
        var reading = WatchdogReading(isPresent: true, state: "active", timeoutSeconds: seconds, configuredSeconds: 14)
        #expect(BoardChecks.watchdog(reading).state == state)
        #expect(BoardChecks.watchdog(reading).code == (state == .warn ? .watchdogSlow : nil))
        // A machine without the image's settings has its own.
        reading.configuredSeconds = nil
        #expect(BoardChecks.watchdog(reading).state == .ok)
    }

    @Test(
        arguments: [
            ("[Manager]\nRuntimeWatchdogSec=14s\n", 14), ("RuntimeWatchdogSec=20", 20),
            ("#RuntimeWatchdogSec=1s\n", nil),
            ("RuntimeWatchdogSec=1min", nil), ("RebootWatchdogSec=14s", nil), ("", nil),
        ] as [(String, Int64?)])
    func `what the image wants is read from its file`(text: String, seconds: Int64?) {
        #expect(WatchdogReading.configured(text) == seconds)
    }

    @Test func `the last boot has a cause`() {
        func boot(_ status: Int64, _ end: LadderState.LastEnd, _ uptime: Double = 60) -> Finding {
            BoardChecks.boot(.init(isPresent: true, bootStatus: status), lastEnd: end, uptime: uptime)
        }
        #expect(boot(0x20, .orderly).code == .bootByWatchdog)
        #expect(boot(0, .ladder(reason: "x")).code == .rebooted)
        #expect(boot(0, .ladder(reason: "the reason")).evidence.contains("the reason"))
        #expect(boot(0, .orderly).state == .ok)
        #expect(boot(0, .sudden).evidence.contains("power"))
        #expect(boot(0, .unknown).state == .unknown)
        #expect(boot(0x20, .orderly, 90_000).state == .ok)
    }

    @Test(arguments: [
        (1, 1, HealthState.ok), (8, 1, .ok), (9, 1, .warn), (3, 2, .warn), (11, 1, .fail), (2, 3, .fail),
        (0, 0, .unknown),
    ])
    func `cards wear`(life: Int, spare: Int, state: HealthState) {
        let reading = CardReading(cards: [.init(name: "mmcblk0", type: "MMC", lifeTime: life, preEndOfLife: spare)])
        #expect(BoardChecks.card(reading).map(\.state) == [state])
    }

    @Test func `a card that does not report its wear is unknown`() {
        #expect(BoardChecks.card(CardReading(cards: [.init(name: "mmcblk0", type: "SD")])).map(\.state) == [.unknown])
        #expect(BoardChecks.card(CardReading()).map(\.state) == [.unknown])
    }
}
