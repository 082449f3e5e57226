internal import Platform
internal import Synchronization

/// Lets a thread wait for what tasks do, as long as its source is not stopped.
enum Awaited {
    private final class Place<Value: Sendable>: Sendable {
        let value = Mutex<Value?>(nil)
    }

    /// - Parameter deadline: CLOCK_MONOTONIC; the work has deadlines of its own, this one is for what they forget.
    /// - Returns: nil when the source was stopped or the deadline has passed; then the work is cancelled.
    static func result<Value: Sendable>(
        _ wakeup: Wakeup, until deadline: UInt64, waiting: () -> Void = {},
        of work: @escaping @Sendable () async -> Value
    ) -> Value? {
        let place = Place<Value>()
        let task = Task {
            let value = await work()
            place.value.withLock { $0 = value }
            wakeup.signal()
        }
        while true {
            if let value = place.value.withLock({ $0 }) { return value }
            let now = Clocks.monotonic
            guard !wakeup.isStopped, now < deadline else {
                task.cancel()
                return nil
            }
            wakeup.wait(min(deadline - now, Wakeup.maxPieceLength))
            waiting()
        }
    }
}
