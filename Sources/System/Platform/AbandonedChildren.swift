internal import Glibc
internal import Synchronization

/// Killed children that the kernel does not let go at once, as one that a driver holds. A thread reaps them, and ends
/// with the last of them: no one else would, of a camera that needs no child any more.
enum AbandonedChildren {
    private struct State {
        var children: [pid_t] = []
        var isWatched = false
    }

    private static let state = Mutex(State())
    private static let minPause: UInt32 = 10_000
    private static let maxPause: UInt32 = 1_000_000

    static func add(_ child: pid_t) {
        state.withLock { state in
            state.children.append(child)
            // Without a thread, the next one's looks after this one as well.
            if !state.isWatched { state.isWatched = OwnThread.start(reap) }
        }
    }

    private static func reap() {
        var pause = minPause
        while isOneLeft() {
            usleep(pause)
            pause = min(pause * 2, maxPause)
        }
    }

    private static func isOneLeft() -> Bool {
        state.withLock { state in
            // Below zero: somebody else has reaped it.
            state.children.removeAll { waitpid($0, nil, WNOHANG) != 0 }
            state.isWatched = !state.children.isEmpty
            return state.isWatched
        }
    }
}
