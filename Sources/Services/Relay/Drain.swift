/// Taking a relay out of service: nobody new is taken, who is there is asked to go elsewhere, and who cannot be asked is
/// closed when the time is over. What is drained stays so until it is started again.
struct Drain: Equatable, Sendable {
    enum Action: Equatable, Sendable {
        /// Everybody who publishes or plays and understands it; nil: to connect to the same address again.
        case askToMove(to: String?)
        /// The time is over.
        case closeRest
        /// Nobody is left.
        case finished
    }

    /// What the operator orders.
    struct Order: Equatable, Sendable {
        /// `rtmp[s]://host/app`, sent to clients.
        var to: String?
        /// Nanoseconds.
        var time: UInt64
    }

    private enum State: Equatable, Sendable {
        case serving
        case draining(until: UInt64)
        case drained
    }

    private var state = State.serving

    /// Nobody new is taken.
    var isOn: Bool { state != .serving }

    var name: RelayStreamsDocument.State {
        switch state {
        case .serving: .serving
        case .draining: .draining
        case .drained: .drained
        }
    }

    /// A second order takes the place of the first. Nothing follows once nobody is left.
    mutating func ordered(_ order: Order, isEmpty: Bool, at now: UInt64) -> [Action] {
        guard state != .drained else { return [] }
        guard !isEmpty else {
            state = .drained
            return [.finished]
        }
        state = .draining(until: now.addingReportingOverflow(order.time).partialValue)
        return [.askToMove(to: order.to)]
    }

    /// - Parameter isEmpty: nobody publishes or plays.
    mutating func timePassed(isEmpty: Bool, at now: UInt64) -> [Action] {
        guard case .draining(let until) = state else { return [] }
        guard isEmpty || now >= until else { return [] }
        state = .drained
        return isEmpty ? [.finished] : [.closeRest, .finished]
    }

    /// The process ends.
    mutating func stopped() { state = .drained }
}
