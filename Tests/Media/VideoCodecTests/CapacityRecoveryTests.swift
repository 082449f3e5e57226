import Testing

@testable import VideoCodec

@Suite struct CapacityRecoveryTests {
    private let request = EncoderRequest(
        encoders: ["libx264"], width: 1280, height: 720, rate: 30, bitsPerSecond: 2_000_000)

    /// As the start plans it on a machine that encodes `speed` frames a second.
    private func plan(speed: Double, preset: String = "ultrafast") -> EncoderPlan {
        let capacity = EncoderCapacity.fitting(request, "libx264", preset: preset, speed: speed)
        return EncoderPlan(
            encoder: "libx264", isHardware: false, finding: capacity.text, width: capacity.width,
            height: capacity.height, rate: capacity.rate, preset: preset, limit: capacity.limit)
    }

    /// A machine that encodes so many whole frames a second with the fastest preset, from `now` on for `seconds`.
    private struct Machine {
        var recovery: CapacityRecovery
        var now = 0.0
        /// With every plan, and when it came.
        var plans: [(second: Double, plan: EncoderPlan)] = []

        mutating func run(_ seconds: Double, speed: Double, beside: Double = 0) {
            let end = now + seconds
            while now < end {
                let plan = recovery.plan
                now += 1 / plan.rate
                let cost = [1.0, 1.5, 2.2][2 - (EncoderCapacity.presets.firstIndex(of: plan.preset) ?? 2)]
                let pixels = Double(plan.width * plan.height) / Double(1280 * 720)
                let encoding = pixels * cost / speed
                if let next = recovery.encoded(encoding: encoding, working: encoding + beside, at: now) {
                    plans.append((now, next))
                }
            }
        }
    }

    private func machine(speed: Double) throws -> Machine {
        Machine(recovery: try #require(CapacityRecovery(plan(speed: speed), for: request, at: 0)))
    }

    @Test func `nothing is recovered where all is as requested, or hardware encodes`() {
        var hardware = plan(speed: 5)
        hardware.isHardware = true
        #expect(CapacityRecovery(hardware, for: request, at: 0) == nil)
        #expect(CapacityRecovery(plan(speed: 100, preset: "veryfast"), for: request, at: 0) == nil)
        #expect(CapacityRecovery(plan(speed: 100, preset: ""), for: request, at: 0) == nil)
    }

    @Test func `a machine that was busy at the start is back at what was asked for within minutes, in steps`() throws {
        var machine = try machine(speed: 5)
        #expect(machine.recovery.plan.width == 640)
        machine.run(59, speed: 400)
        #expect(machine.plans.isEmpty, "the load of the start is waited for")
        machine.run(600, speed: 400)
        let steps = machine.plans.prefix { $0.plan.preset == "ultrafast" }.map(\.plan)
        #expect(steps.count >= 3)
        for (lower, higher) in zip([plan(speed: 5)] + steps, steps) {
            let (before, after) = (
                Double(lower.width * lower.height) * lower.rate, Double(higher.width * higher.height) * higher.rate
            )
            #expect(after > before && after <= before * 2.5)
        }
        let whole = try #require(steps.last)
        #expect(whole.width == 1280 && whole.rate == 30 && whole.limit == nil)
        #expect(machine.plans.first { $0.plan.limit == nil }.map { $0.second < 420 } == true)
        // And with what is left, better frames of the same bits.
        #expect(machine.recovery.plan.preset == "veryfast" && machine.recovery.plan.limit == nil)
    }

    @Test func `a machine that is slow stays as it is, and is looked at ever more rarely`() throws {
        var machine = try machine(speed: 13)
        let start = machine.recovery.plan
        machine.run(7200, speed: 13.5)
        #expect(machine.plans.isEmpty && machine.recovery.plan == start)
        // What becomes free later is found within half an hour.
        machine.run(1900, speed: 400)
        #expect(!machine.plans.isEmpty)
    }

    @Test func `what cannot be held is taken back within half a minute, and never more than the start found`() throws {
        var machine = try machine(speed: 13)
        let start = machine.recovery.plan
        machine.run(75, speed: 400)
        #expect(machine.plans.count == 1)
        let raised = machine.plans[0].second
        // The load is back.
        machine.run(60, speed: 9)
        #expect(machine.plans.count == 2 && machine.recovery.plan == start)
        #expect(machine.plans[1].second - raised <= 36)
        machine.run(240, speed: 400)
        #expect(machine.plans.count == 2, "not at once again")
        machine.run(120, speed: 400)
        #expect(machine.plans.count > 2)
        machine.run(7200, speed: 1)
        #expect(machine.recovery.plan == start, "and below it nothing")
    }

    @Test func `work beside the encoder counts for what can be held`() throws {
        var machine = try machine(speed: 13)
        machine.run(75, speed: 400)
        #expect(machine.plans.count == 1)
        machine.run(60, speed: 400, beside: 0.2)
        #expect(machine.plans.count == 2 && machine.plans[1].plan == plan(speed: 13))
    }

    @Test func `a limit says honestly why it is still there`() throws {
        var machine = try machine(speed: 5)
        machine.run(75, speed: 400)
        let limit = try #require(machine.recovery.plan.limit)
        #expect(limit.contains("instead of 1280x720 at 30: the machine was busy when it was measured"))
        var slow = try self.machine(speed: 13)
        slow.run(75, speed: 20)
        let held = try #require(slow.recovery.plan.limit)
        #expect(held.contains("1280x720 at 15 frames a second") && held.contains("20 frames"))
    }

    @Test func `impossible times are not a reason for anything`() throws {
        var recovery = try #require(CapacityRecovery(plan(speed: 5), for: request, at: 0))
        for second in 0..<10_000 {
            let next = recovery.encoded(encoding: -.infinity, working: .nan, at: Double(second))
            #expect(next == nil)
        }
    }
}
