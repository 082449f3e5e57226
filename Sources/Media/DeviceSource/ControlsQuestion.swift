internal import Platform
internal import Synchronization

/// Those who want to know the controls of a camera that only its own thread can ask: libcamera gives a camera to one process, and that
/// speaks from one thread.
final class ControlsQuestion: Sendable {
    private typealias Answer = OneAnswer<DeviceControls?>

    private let waiting = Mutex<[Answer]>([])
    /// Each gets the same answer; more than these ask for something else.
    private static let maxWaiting = 16

    /// Nil: nobody answered within `limit`, or too many ask.
    func ask(within limit: Duration) async -> DeviceControls? {
        let answer = Answer()
        let isTaken = waiting.withLock { waiting in
            guard waiting.count < Self.maxWaiting else { return false }
            waiting.append(answer)
            return true
        }
        guard isTaken else { return nil }
        let timeout = Task {
            try? await Task.sleep(for: limit)
            answer.give(nil)
        }
        defer {
            timeout.cancel()
            waiting.withLock { $0.removeAll { $0 === answer } }
        }
        return await answer.value(begin: {}, onCancel: { answer.give(nil) })
    }

    /// On the camera's thread.
    func answer(_ controls: () -> DeviceControls) {
        let asking = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        guard !asking.isEmpty else { return }
        let controls = controls()
        for answer in asking { answer.give(controls) }
    }
}
