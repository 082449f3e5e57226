internal import Synchronization

/// Lets one in at a time.
final class OneAtATime: Sendable {
    private let isTaken = Mutex(false)

    func begin() -> Bool {
        isTaken.withLock { taken in
            defer { taken = true }
            return !taken
        }
    }

    func end() { isTaken.withLock { $0 = false } }
}
