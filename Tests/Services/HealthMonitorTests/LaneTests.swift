import Synchronization
import Testing

@testable import HealthMonitor

struct LaneTests {
    @Test func `a reading is taken once`() async {
        let lane = Lane<Int>()
        let isStarted = lane.start(at: 5, blocking: { 42 })
        #expect(isStarted)
        await lane.ended()
        #expect(lane.busySince == nil)
        #expect(lane.take() == 42)
        #expect(lane.take() == nil)
    }

    @Test func `a reading that hangs keeps its lane and nothing else`() async {
        let gate = Gate()
        let lane = Lane<Int>()
        let isStarted = lane.start(at: 5) {
            await gate.opened()
            return 1
        }
        let isStartedTwice = lane.start(at: 6, blocking: { 2 })
        #expect(isStarted && !isStartedTwice)
        #expect(lane.busySince == 5)
        #expect(lane.take() == nil)
        gate.open()
        await lane.ended()
        #expect(lane.take() == 1)
        _ = lane.start(at: 7, blocking: { 3 })
        await lane.ended()
        #expect(lane.take() == 3)
    }

    @Test func `waiting ends with the time, and the reading goes on`() async {
        let gate = Gate()
        let clock = ManualClock()
        let lane = Lane<Int>()
        _ = lane.start(at: 0) {
            await gate.opened()
            return 1
        }
        async let waiting: Void = Waiting.until(limit: .seconds(3), clock: clock) { await lane.ended() }
        await clock.somebodySleeps(.seconds(3))
        clock.advance(.seconds(3))
        await waiting
        #expect(lane.busySince == 0)
        gate.open()
        await lane.ended()
        #expect(lane.take() == 1)
    }

    @Test func `a task that is cancelled does not wait`() async {
        let gate = Gate()
        let lane = Lane<Int>()
        _ = lane.start(at: 0) {
            await gate.opened()
            return 1
        }
        let waiting = Task { await lane.ended() }
        waiting.cancel()
        await waiting.value
        #expect(lane.busySince == 0)
        gate.open()
    }

    @Test func `many waiters of many lanes all come home`() async {
        await withTaskGroup { group in
            for number in 0..<50 {
                group.addTask {
                    let lane = Lane<Int>()
                    _ = lane.start(at: 0, blocking: { number })
                    await withTaskGroup { waiters in
                        for _ in 0..<4 { waiters.addTask { await lane.ended() } }
                    }
                    #expect(lane.take() == number)
                }
            }
        }
    }
}
