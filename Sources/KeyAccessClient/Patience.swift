internal import Synchronization

/// How long one try waits, for those who try again at once: a KAS that swallows what it is sent, and is back, must not be
/// waited for until the old request's time is over. Most tries are short; every fourth in a row has the configured time,
/// for links that are slow and not dead.
final class Patience: Sendable {
    /// TCP repeats a SYN after 1 s, and its data within 1.6 s of the next chance: a viewer that waits for its key so
    /// has it less than 2 s after the KAS is back.
    static let connect = Duration.seconds(2)
    static let total = Duration.seconds(4)

    private let silent = Mutex(0)

    /// Nil: as configured.
    func next() -> (connect: Duration, total: Duration)? {
        silent.withLock { $0 % 4 == 3 } ? nil : (Self.connect, Self.total)
    }

    func ended(_ error: KeyAccessError?) {
        silent.withLock { count in
            if case .slow? = error { count += 1 } else { count = 0 }
        }
    }
}
