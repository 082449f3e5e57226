internal import CSystemd
internal import Glibc
internal import Platform

/// The driver of `UnitDialogue`: a connection when there is one, and who waits for what. Used by the bus' thread alone.
struct BusSession {
    private let address: String
    private var connection: BusConnection?
    private var dialogue = UnitDialogue()
    private var operations: [UInt64: BusOperation] = [:]

    init(address: String) {
        self.address = address
    }

    /// Operations that have not ended.
    var count: Int { operations.count }

    mutating func begin(_ operation: BusOperation) {
        operations[operation.id] = operation
        if operation.answer.isGiven { return operations[operation.id] = nil }
        do throws(SystemdError) {
            if connection == nil { connection = try BusConnection.open(address) }
        } catch {
            operation.answer.give(.failure(error))
            return operations[operation.id] = nil
        }
        perform(dialogue.begin(operation.id, operation.call))
    }

    /// Takes all that came in.
    mutating func receive() {
        while let connection {
            do throws(SystemdError) {
                guard let event = try connection.next() else { return }
                switch event {
                case .reply(let tag, let reply): perform(dialogue.replied(tag, reply))
                case .jobRemoved(let job): perform(dialogue.jobRemoved(job))
                }
            } catch {
                close("the connection to the system bus was lost")
            }
        }
    }

    mutating func expire(_ now: ContinuousClock.Instant) {
        for (id, operation) in operations where operation.deadline <= now { perform(dialogue.expired(id)) }
    }

    /// Lets go of operations that no one waits for.
    mutating func forgetDecided() {
        for (id, operation) in operations where operation.answer.isGiven {
            dialogue.abandoned(id)
            connection?.forget(id)
            operations[id] = nil
        }
    }

    mutating func close(_ reason: String) {
        connection = nil
        perform(dialogue.lost(reason))
    }

    /// Until something comes in, the bell rings, or the next deadline.
    mutating func wait(_ bell: CInt, until end: ContinuousClock.Instant?) {
        var watched = [pollfd(fd: bell, events: Int16(POLLIN), revents: 0)]
        var left = Duration.seconds(60)
        if let next = operations.values.map(\.deadline).min() { left = min(left, next - .now) }
        if let end { left = min(left, end - .now) }
        if let connection {
            do throws(SystemdError) {
                let interest = try connection.interest()
                watched.append(pollfd(fd: interest.descriptor, events: interest.events, revents: 0))
                if interest.timeout != .max { left = min(left, Self.untilMonotonic(interest.timeout)) }
            } catch {
                close("the connection to the system bus was lost")
                return
            }
        }
        poll(&watched, nfds_t(watched.count), CInt(clamping: left.microseconds / 1000 + (left > .zero ? 1 : 0)))
        watchbox_bell_silence(bell)
    }

    private mutating func perform(_ actions: [UnitDialogue.Action]) {
        for action in actions {
            switch action {
            case .finish(let id, let outcome):
                operations[id]?.answer.give(outcome)
                connection?.forget(id)
                operations[id] = nil
            case .send(let request, let tag):
                guard let connection else { return }
                do throws(SystemdError) {
                    try connection.send(request, tag)
                } catch {
                    return close("the connection to the system bus was lost")
                }
            }
        }
    }

    private static func untilMonotonic(_ microseconds: UInt64) -> Duration {
        let passed = Clocks.monotonic / 1000
        return microseconds > passed ? .microseconds(Int64(clamping: microseconds - passed)) : .zero
    }
}
