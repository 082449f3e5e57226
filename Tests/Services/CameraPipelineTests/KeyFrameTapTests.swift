import Synchronization
import Testing

@testable import CameraPipeline

@Suite(.timeLimit(.minutes(15)))
struct KeyFrameTapTests {
    private let tap = KeyFrameTap()
    private let limit = Duration.seconds(3600)

    @Test func `at most eight wait, and the source's end is theirs`() async {
        let asked = Asked()
        let waiters = (0..<8).map { _ in
            Task { [tap, limit] in try await tap.next(within: limit) { asked.count.withLock { $0 += 1 } } }
        }
        while asked.count.withLock({ $0 }) < 8 { await Task.yield() }
        await #expect(throws: KeyFrameTap.Refusal.tooMany) { try await tap.next(within: limit) {} }
        waiters[0].cancel()
        await #expect(throws: CancellationError.self) { try await waiters[0].value }
        // Its place is free again.
        await #expect(throws: KeyFrameTap.Refusal.none) { try await tap.next(within: .zero) {} }
        tap.ended()
        for waiter in waiters.dropFirst() {
            await #expect(throws: KeyFrameTap.Refusal.none) { try await waiter.value }
        }
        await #expect(throws: KeyFrameTap.Refusal.none) { try await tap.next(within: limit) {} }
    }

    private final class Asked: Sendable {
        let count = Mutex(0)
    }
}
