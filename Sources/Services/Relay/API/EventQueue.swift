/// The events that wait for one listener, in the form of server-sent events. Bounded: a listener that does not keep up is
/// informed of that and closed, because what it would see with gaps is worth less than asking again.
struct EventQueue: Sendable {
    private let limit: Int
    private var waiting: [String] = []
    /// Nothing is added any more; when nothing waits, the listener is closed.
    private(set) var isClosed = false

    init(limit: Int) {
        self.limit = limit
    }

    /// - Parameter farewell: takes the place of all that waits when there is too much.
    mutating func add(_ text: String, farewell: @autoclosure () -> String) {
        guard !isClosed else { return }
        if waiting.count >= limit {
            waiting = [farewell()]
            isClosed = true
        } else {
            waiting.append(text)
        }
    }

    var isEmpty: Bool { waiting.isEmpty }

    /// Everything that waits, in order; nothing is left.
    mutating func take() -> String {
        defer { waiting.removeAll(keepingCapacity: true) }
        return waiting.joined()
    }
}
