internal import NIOConcurrencyHelpers
package import NIOCore
internal import NIOPosix

/// What happened, in order, and a way to wait for it with a deadline.
package final class EventLog<Event: Sendable>: Sendable {
    package struct TimedOut: Error, CustomStringConvertible {
        package let seen: [Event]
        package var description: String { "nothing of the kind came in time; seen: \(seen)" }
    }

    private struct State {
        var events: [Event] = []
        /// Events before this index were handed out.
        var next = 0
        var waiters: [Waiter] = []
    }

    private struct Waiter {
        let wants: @Sendable (Event) -> Bool
        let promise: EventLoopPromise<Event>
    }

    package init() {}

    private let state = NIOLockedValueBox(State())

    package func add(_ event: Event) {
        let served = state.withLockedValue { state -> [Waiter] in
            state.events.append(event)
            let served = state.waiters.filter { $0.wants(event) }
            state.waiters.removeAll { $0.wants(event) }
            if !served.isEmpty { state.next = state.events.count }
            return served
        }
        for waiter in served { waiter.promise.succeed(event) }
    }

    package var all: [Event] { state.withLockedValue { $0.events } }

    /// The first event of the kind after the one that was returned last.
    /// - Parameter deadline: of what hangs; a machine may be slow, and a sanitizer slower.
    @discardableResult
    package func next(
        within deadline: TimeAmount = .seconds(600), _ wants: @escaping @Sendable (Event) -> Bool
    ) async throws -> Event {
        let loop = Timers.loop
        let promise = loop.makePromise(of: Event.self)
        let seen = state.withLockedValue { state -> Event? in
            if let index = state.events[state.next...].firstIndex(where: wants) {
                state.next = index + 1
                return state.events[index]
            }
            state.waiters.append(Waiter(wants: wants, promise: promise))
            return nil
        }
        if let seen {
            promise.succeed(seen)
        } else {
            loop.scheduleTask(in: deadline) { promise.fail(TimedOut(seen: self.all)) }
        }
        return try await promise.futureResult.get()
    }
}

/// The clock of the tests' deadlines, apart from the loops that the tests hold up.
package enum Timers {
    package static let loop: any EventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
}
