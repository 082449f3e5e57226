internal import Platform
internal import Synchronization
internal import VideoCapture

/// Those who want to know the controls of a source's camera, and get one answer: cameras are slow to answer, and libcamera gives a camera to one
/// process, which speaks from one thread.
final class ControlsQuestion: Sendable {
    typealias Found = Result<DeviceControls, CaptureError>

    enum Outcome: Sendable {
        case found(Found)
        /// Nobody answered in time.
        case late
        /// So many ask already that one more is not told.
        case tooMany
    }

    private let waiting = Mutex<[OneAnswer<Outcome>]>([])
    private static let maxWaiting = 16

    /// - Parameter begin: called for the first of them, when nobody is asking.
    func ask(within limit: Duration, begin: () -> Void = {}) async -> Outcome {
        let answer = OneAnswer<Outcome>()
        let count = waiting.withLock { waiting in
            if waiting.count < Self.maxWaiting { waiting.append(answer) } else { return Int.max }
            return waiting.count
        }
        guard count != Int.max else { return .tooMany }
        let timeout = Task {
            try? await Task.sleep(for: limit)
            answer.give(.late)
        }
        defer {
            timeout.cancel()
            waiting.withLock { $0.removeAll { $0 === answer } }
        }
        return await answer.value(begin: { if count == 1 { begin() } }, onCancel: { answer.give(.late) })
    }

    /// Lists them when somebody waits for that.
    ///
    /// - Returns: what was found; nil: nobody waits.
    @discardableResult
    func answer(_ list: () throws(CaptureError) -> DeviceControls) -> Found? {
        guard waiting.withLock({ $0.contains { !$0.isGiven } }) else { return nil }
        let found = Found(catching: list)
        let asking = waiting.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }
        for answer in asking { answer.give(.found(found)) }
        return found
    }
}
