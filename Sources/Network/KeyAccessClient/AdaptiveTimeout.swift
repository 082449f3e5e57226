internal import Synchronization

/// How long one try waits, for those who try again at once: a KAS that swallows what it is sent, and is back, must not be
/// waited for until the old request's time is over. Most tries are short; every fourth in a row has the configured time,
/// for links that are slow and not dead. Once such a link has answered, each try has it, until an answer comes that a short
/// one would have had as well: otherwise each collection would wait for three short ones first.
struct AdaptiveTimeout: Sendable {
    enum Limit: Sendable {
        case short
        case configured
    }

    /// TCP repeats a SYN after 1 s, and its data within 1.6 s of the next chance: a viewer that waits for its key so
    /// has it less than 2 s after the KAS is back.
    static let connect = Duration.seconds(2)
    static let total = Duration.seconds(4)

    /// Tries in a row that had no answer in time.
    private var silent = 0
    /// The last answer was too late for a short try.
    private var isSlow = false

    var next: Limit { isSlow || silent % 4 == 3 ? .configured : .short }

    /// - Parameter time: from request to answer. How much of it was connecting is not known: what is beyond the shorter of
    ///   the two limits may have been.
    mutating func answered(_ limit: Limit, after time: Duration) {
        silent = 0
        isSlow = limit == .configured && time > Self.connect
    }

    /// The link is slow no more, but dead: as short as any other, but for every fourth.
    mutating func timedOut() {
        silent += 1
        isSlow = false
    }

    /// Nothing answered: that was soon, and says nothing of the link.
    mutating func refused() { silent = 0 }
}

/// Of one client, whose requests may overlap.
final class SharedAdaptiveTimeout: Sendable {
    private let state = Mutex(AdaptiveTimeout())

    var next: AdaptiveTimeout.Limit { state.withLock { $0.next } }

    func answered(_ limit: AdaptiveTimeout.Limit, after time: Duration) {
        state.withLock { $0.answered(limit, after: time) }
    }

    func failed(_ error: KeyAccessError) {
        state.withLock { timeout in
            switch error {
            case .slow: timeout.timedOut()
            // Whoever asked waits no more, and the KAS may have answered yet.
            case .cancelled: break
            default: timeout.refused()
            }
        }
    }
}
