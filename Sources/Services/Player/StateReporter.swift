@preconcurrency internal import Dispatch
internal import Platform
internal import Synchronization

/// Tells about states on a thread of its own: whoever is told may be writing to a pipe that nobody reads. Of too many
/// that wait, the oldest go.
final class StateReporter: Sendable {
    private struct Waiting {
        var states: [ViewerStatistics] = []
        var isTelling = false
    }

    private static let maxWaiting = 32

    private let told: @Sendable (ViewerStatistics) -> Void
    private let waiting = Mutex(Waiting())
    private let queue = DispatchQueue(label: "watchbox.viewer.states")

    init(_ told: @escaping @Sendable (ViewerStatistics) -> Void) {
        self.told = told
    }

    func report(_ statistics: ViewerStatistics) {
        let isIdle = waiting.withLock { waiting in
            if waiting.states.count >= Self.maxWaiting { waiting.states.removeFirst() }
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
        let end = OneAnswer<Void>()
        await end.value {
            queue.async { end.give(()) }
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(400)) { end.give(()) }
        } onCancel: {
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
