/// Which counters of a collection were seen, as a window of 64 below the highest (nanotdf-and-kas.md §1.8).
struct ReplayWindow: Equatable {
    enum Arrival: Equatable {
        /// New; `gaps` counters between the highest so far and this one are missing for now.
        case ahead(gaps: UInt32)
        /// Below the highest, not seen before. `fillsGap` when it was counted as missing.
        case late(fillsGap: Bool)
        /// Seen before, or too old to tell.
        case repeated
    }

    private var highest: UInt32
    /// Counters below or equal to this were never expected, so that they were never counted as missing.
    private let floor: UInt32
    /// Bit n: `highest - n` was seen.
    private var seen: UInt64
    private var isEmpty: Bool

    /// - Parameter expectsFirst: the stream was followed before this collection began, so that everything from
    ///   counter 1 on is expected. Else the first arrival sets the expectation.
    init(expectsFirst: Bool) {
        highest = 0
        floor = 0
        seen = 0
        isEmpty = !expectsFirst
    }

    private init(first counter: UInt32) {
        highest = counter
        floor = counter
        seen = 1
        isEmpty = false
    }

    /// An authenticated item with this counter.
    mutating func arrived(_ counter: UInt32) -> Arrival {
        if isEmpty {
            self = ReplayWindow(first: counter)
            return .ahead(gaps: 0)
        }
        if counter > highest {
            let step = counter - highest
            seen = step < 64 ? seen << UInt64(step) | 1 : 1
            highest = counter
            return .ahead(gaps: step - 1)
        }
        let distance = highest - counter
        guard distance < 64, seen & 1 << UInt64(distance) == 0 else { return .repeated }
        seen |= 1 << UInt64(distance)
        return .late(fillsGap: counter > floor)
    }
}
