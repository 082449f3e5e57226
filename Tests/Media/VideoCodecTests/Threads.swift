import Foundation

/// Runs what blocks on a thread of its own, as a source has one; the test's pool stays free.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
        let thread = Thread { continuation.resume(returning: body()) }
        thread.stackSize = 4 << 20
        thread.start()
    }
}

/// Occupies this thread, as slow work does.
func occupy(for duration: Duration) {
    let end = ContinuousClock.now + duration
    while ContinuousClock.now < end { Thread.sleep(forTimeInterval: 0.01) }
}
