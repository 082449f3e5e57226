internal import Media

/// A first-in first-out store of media events whose memory is reused: no allocation per event once it has grown to the
/// stream's usual depth.
struct MediaEventRing: Sendable {
    private var slots: [MediaEvent?] = Array(repeating: nil, count: 64)
    private var head = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    subscript(index: Int) -> MediaEvent {
        precondition(index < count, "read behind the end of the ring")
        guard let event = slots[(head + index) & (slots.count - 1)] else { preconditionFailure("hole in the ring") }
        return event
    }

    mutating func append(_ event: MediaEvent) {
        if count == slots.count { grow() }
        slots[(head + count) & (slots.count - 1)] = event
        count += 1
    }

    mutating func popFirst() -> MediaEvent? {
        guard count > 0 else { return nil }
        let event = slots[head]
        slots[head] = nil
        head = (head + 1) & (slots.count - 1)
        count -= 1
        return event
    }

    /// Everything in order, the ring emptied: for the rare moments (overflow, reconnect) when something is taken out
    /// of the middle.
    mutating func takeAll() -> [MediaEvent] {
        var events: [MediaEvent] = []
        events.reserveCapacity(count)
        while let event = popFirst() { events.append(event) }
        return events
    }

    private mutating func grow() {
        var larger = [MediaEvent?](repeating: nil, count: slots.count * 2)
        for index in 0..<count { larger[index] = self[index] }
        slots = larger
        head = 0
    }
}
