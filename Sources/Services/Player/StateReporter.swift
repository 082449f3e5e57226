@preconcurrency internal import Dispatch
internal import Platform
internal import Synchronization

/// Reports states on a thread of its own: whoever receives them may be writing to a pipe that nobody reads. Of too many
/// that wait, the oldest go.
final class StateReporter: Sendable {
    private struct Waiting {
        var states: [ViewerStatistics] = []
        var isReporting = false
    }

    private static let maxWaiting = 32

    private let reported: @Sendable (ViewerStatistics) -> Void
    private let waiting = Mutex(Waiting())
    private let queue = DispatchQueue(label: "watchbox.viewer.states")

    init(_ reported: @escaping @Sendable (ViewerStatistics) -> Void) {
        self.reported = reported
    }

    func report(_ statistics: ViewerStatistics) {
        let isIdle = waiting.withLock { waiting in
            if waiting.states.count >= Self.maxWaiting { waiting.states.removeFirst() }
            waiting.states.append(statistics)
            defer { waiting.isReporting = true }
            return !waiting.isReporting
        }
        guard isIdle else { return }
        queue.async {
            while let next = self.next() { self.reported(next) }
        }
    }

    /// Returns when all is reported, or after 400 ms.
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
                waiting.isReporting = false
                return nil
            }
            return waiting.states.removeFirst()
        }
    }
}
