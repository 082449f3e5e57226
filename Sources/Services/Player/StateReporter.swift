@preconcurrency internal import Dispatch
internal import Synchronization

/// Tells about states on a thread of its own: whoever is told may be writing to a pipe that nobody reads. Of too many
/// that wait, the oldest go.
final class StateReporter: Sendable {
    private struct Waiting {
        var states: [ViewerStatistics] = []
        var isTelling = false
    }

    private static let mostWaiting = 32

    private let told: @Sendable (ViewerStatistics) -> Void
    private let waiting = Mutex(Waiting())
    private let queue = DispatchQueue(label: "watchbox.viewer.states")

    init(_ told: @escaping @Sendable (ViewerStatistics) -> Void) {
        self.told = told
    }

    func report(_ statistics: ViewerStatistics) {
        let isIdle = waiting.withLock { waiting in
            if waiting.states.count >= Self.mostWaiting { waiting.states.removeFirst() }
            waiting.states.append(statistics)
            defer { waiting.isTelling = true }
            return !waiting.isTelling
        }
        guard isIdle else { return }
        queue.async {
            while let next = self.next() { self.told(next) }
        }
    }

    /// Returns when all is told, or after 400 ms.
    func finish() async {
        await withCheckedContinuation { continuation in
            let end = FirstEnd(continuation)
            queue.async { end.reached() }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(400)) { end.reached() }
        }
    }

    private func next() -> ViewerStatistics? {
        waiting.withLock { waiting in
            guard !waiting.states.isEmpty else {
                waiting.isTelling = false
                return nil
            }
            return waiting.states.removeFirst()
        }
    }
}

/// Goes on at the first of two ends.
private final class FirstEnd: Sendable {
    private let continuation: Mutex<CheckedContinuation<Void, Never>?>

    init(_ continuation: CheckedContinuation<Void, Never>) {
        self.continuation = Mutex(continuation)
    }

    func reached() {
        continuation.withLock { $0.take() }?.resume()
    }
}
