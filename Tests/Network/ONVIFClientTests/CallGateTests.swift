import Testing

@testable import ONVIFClient

@Suite(.timeLimit(.minutes(15)))
struct CallGateTests {
    @Test func `who was cancelled holds no place, waiting or not`() async {
        let gate = CallGate(1)
        #expect(await gate.enter())
        let cancelled = Task { await gate.enter() }
        cancelled.cancel()
        #expect(await cancelled.value == false)
        let next = Task { await gate.enter() }
        gate.leave()
        #expect(await next.value)
        gate.leave()
        // Free again: the next one does not wait.
        #expect(await gate.enter())
    }

    @Test func `no more are inside than may be`() async {
        let gate = CallGate(2)
        let inside = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<50 {
                group.addTask {
                    guard await gate.enter() else { return }
                    await inside.add(1)
                    await Task.yield()
                    await inside.add(-1)
                    gate.leave()
                }
            }
        }
        #expect(await inside.most <= 2)
        #expect(await inside.count == 0)
    }

    private actor Counter {
        var count = 0
        var most = 0

        func add(_ change: Int) {
            count += change
            most = max(most, count)
        }
    }
}
