import ControlAPI
import Synchronization
import Systemd
import Testing

@testable import BoxReadings
@testable import HealthMonitor

/// systemd-timedated.
private final class StandInClock: ClockControl {
    private let state: Mutex<(answer: Result<Bool, SystemdError>, asked: Int)>

    init(_ answer: Result<Bool, SystemdError>) { state = Mutex((answer, 0)) }

    var asked: Int { state.withLock { $0.asked } }
    func set(_ answer: Result<Bool, SystemdError>) { state.withLock { $0.answer = answer } }

    func isClockSynchronised() async throws(SystemdError) -> Bool {
        try state.withLock { state in
            state.asked += 1
            return state.answer
        }.get()
    }
}

struct ClockAskerTests {
    private let clock = ManualClock()
    private let limits = HealthThresholds.unsynchronisedSeconds

    @Test func `a time server that died is noticed in the sandbox, where the kernel may not be asked`() async {
        let control = StandInClock(.success(true))
        let asker = ClockAsker(control, askKernel: { nil })
        var watch = ClockWatch()
        func look() async -> HealthState {
            clock.advance(.seconds(10))
            return watch.took(await asker.read(clock), limits: limits, was: nil).finding.state
        }
        for _ in 0..<60 { #expect(await look() == .ok) }
        // Not with each look: it is started for it.
        #expect(control.asked <= 3)
        control.set(.success(false))
        var states: [HealthState] = []
        for _ in 0..<150 { states.append(await look()) }
        #expect(states.first == .ok, "an answer holds for a while")
        #expect(states.contains(.warn))
        #expect(states.last == .fail)
        #expect(control.asked <= 30)
        control.set(.success(true))
        for _ in 0..<7 { _ = await look() }
        #expect(await look() == .ok)
    }

    @Test func `without a source, it is unknown and says why`() async {
        let asker = ClockAsker(StandInClock(.failure(.unavailable("no bus"))), askKernel: { nil })
        let reading = await asker.read(clock)
        #expect(reading.isSynchronised == nil)
        #expect(reading.source.contains("adjtimex is refused") && reading.source.contains("no bus"))
        #expect(await ClockAsker(nil, askKernel: { nil }).read(clock).isSynchronised == nil)
    }

    @Test func `the kernel is believed where it may be asked, and no program is started`() async {
        let control = StandInClock(.success(true))
        let reading = await ClockAsker(control, askKernel: { false }).read(clock)
        #expect(reading.isSynchronised == false)
        #expect(control.asked == 0)
    }
}
