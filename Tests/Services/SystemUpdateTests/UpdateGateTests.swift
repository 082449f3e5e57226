import SystemUpdate
import Testing

struct UpdateGateTests {
    private static let well = observation(["front", "yard"])

    private static func observation(
        _ publishing: Set<String>, store: Bool = true, watchdog: Bool? = true, control: Bool = true
    ) -> UpdateGate.Observation {
        UpdateGate.Observation(
            publishing: publishing, isStoreWritable: store, isWatchdogArmed: watchdog, isControlThere: control)
    }

    private func gate() -> UpdateGate {
        UpdateGate(
            cameras: ["yard", "front"], hold: .seconds(300), limit: .seconds(900), at: .seconds(40))
    }

    @Test func `cameras that publish for five minutes keep the system`() {
        var gate = gate()
        #expect(
            gate.observed(Self.observation([]), at: .seconds(41))
                == .waiting("not publishing, as before the update: front, yard"))
        #expect(
            gate.observed(Self.observation(["yard"]), at: .seconds(50))
                == .waiting("not publishing, as before the update: front"))
        #expect(gate.observed(Self.well, at: .seconds(60)) == .waiting("all is well; it has to stay so for 300 s more"))
        #expect(gate.observed(Self.well, at: .seconds(359)) == .waiting("all is well; it has to stay so for 1 s more"))
        #expect(gate.observed(Self.well, at: .seconds(360)) == .good)
    }

    @Test func `a gap begins the five minutes again`() {
        var gate = gate()
        _ = gate.observed(Self.well, at: .seconds(60))
        _ = gate.observed(Self.observation(["front"]), at: .seconds(300))
        #expect(
            gate.observed(Self.well, at: .seconds(301)) == .waiting("all is well; it has to stay so for 300 s more"))
        #expect(gate.observed(Self.well, at: .seconds(600)) != .good)
        #expect(gate.observed(Self.well, at: .seconds(601)) == .good)
    }

    @Test func `a camera that does not come back is a failure, in time and with its name`() {
        var gate = gate()
        #expect(
            gate.observed(Self.observation(["front"]), at: .seconds(939))
                == .waiting("not publishing, as before the update: yard"))
        #expect(
            gate.observed(Self.observation(["front"]), at: .seconds(940))
                == .failed("not publishing, as before the update: yard"))
    }

    @Test func `what is well only at the limit may go on, and what is well now and then may not`() {
        var late = gate()
        #expect(late.observed(Self.well, at: .seconds(939)) != .good)
        #expect(late.observed(Self.well, at: .seconds(1239)) == .good)
        var restless = gate()
        for second in stride(from: 41, to: 940, by: 2) {
            #expect(restless.observed(Self.well, at: .seconds(second)) != .good)
            _ = restless.observed(Self.observation([]), at: .seconds(second + 1))
        }
        guard case .failed = restless.observed(Self.observation([]), at: .seconds(941)) else {
            Issue.record("it goes on for ever")
            return
        }
    }

    @Test(arguments: [
        (observation(["front", "yard"], control: false), "control does not answer"),
        (observation(["front", "yard"], store: false), "the store cannot be written"),
        (observation(["front", "yard"], watchdog: false), "the watchdog is not armed"),
    ])
    func `publishing alone is not enough`(observation: UpdateGate.Observation, reason: String) {
        var gate = gate()
        #expect(gate.observed(observation, at: .seconds(50)) == .waiting(reason))
        #expect(gate.observed(observation, at: .seconds(941)) == .failed(reason))
    }

    @Test func `a board without a watchdog is judged by the rest`() {
        var gate = gate()
        _ = gate.observed(Self.observation(["front", "yard"], watchdog: nil), at: .seconds(50))
        #expect(gate.observed(Self.observation(["front", "yard"], watchdog: nil), at: .seconds(350)) == .good)
    }

    @Test func `without cameras from before, the first good look is enough`() {
        var gate = UpdateGate(cameras: [], at: .zero)
        #expect(
            gate.observed(Self.observation([], control: false), at: .seconds(1)) == .waiting("control does not answer"))
        #expect(gate.observed(Self.observation([]), at: .seconds(2)) == .good)
    }

    @Test func `without cameras from before, a watchdog that is not armed does not matter, a store does`() {
        var gate = UpdateGate(cameras: [], at: .zero)
        #expect(
            gate.observed(Self.observation([], store: false), at: .seconds(1))
                == .waiting("the store cannot be written"))
        #expect(gate.observed(Self.observation([], watchdog: false), at: .seconds(2)) == .good)
    }
}
