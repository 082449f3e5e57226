import Synchronization
import Testing

@testable import HealthMonitor

struct ProbeSlotTests {
    @Test func `a reading is taken once`() async {
        let slot = ProbeSlot<Int>()
        let isStarted = slot.start(at: 5, blocking: { 42 })
        #expect(isStarted)
        await slot.ended()
        #expect(slot.busySince == nil)
        #expect(slot.take() == 42)
        #expect(slot.take() == nil)
    }

    @Test func `a reading that hangs keeps its lane and nothing else`() async {
        let gate = Gate()
        let slot = ProbeSlot<Int>()
        let isStarted = slot.start(at: 5) {
            await gate.opened()
            return 1
        }
        let isStartedTwice = slot.start(at: 6, blocking: { 2 })
        #expect(isStarted && !isStartedTwice)
        #expect(slot.busySince == 5)
        #expect(slot.take() == nil)
        gate.open()
        await slot.ended()
        #expect(slot.take() == 1)
        _ = slot.start(at: 7, blocking: { 3 })
        await slot.ended()
        #expect(slot.take() == 3)
    }

    @Test func `waiting ends with the time, and the reading goes on`() async {
        let gate = Gate()
        let clock = ManualClock()
        let slot = ProbeSlot<Int>()
        _ = slot.start(at: 0) {
            await gate.opened()
            return 1
        }
        async let waiting: Void = Waiting.until(limit: .seconds(3), clock: clock) { await slot.ended() }
        await clock.somebodySleeps(.seconds(3))
        clock.advance(.seconds(3))
        await waiting
        #expect(slot.busySince == 0)
        gate.open()
        await slot.ended()
        #expect(slot.take() == 1)
    }

    @Test func `a task that is cancelled does not wait`() async {
        let gate = Gate()
        let slot = ProbeSlot<Int>()
        _ = slot.start(at: 0) {
            await gate.opened()
            return 1
        }
        let waiting = Task { await slot.ended() }
        waiting.cancel()
        await waiting.value
        #expect(slot.busySince == 0)
        gate.open()
    }

    @Test func `many waiters of many lanes all come home`() async {
        await withTaskGroup { group in
            for number in 0..<50 {
                group.addTask {
                    let slot = ProbeSlot<Int>()
                    _ = slot.start(at: 0, blocking: { number })
                    await withTaskGroup { waiters in
                        for _ in 0..<4 { waiters.addTask { await slot.ended() } }
                    }
                    #expect(slot.take() == number)
                }
            }
        }
    }
}
