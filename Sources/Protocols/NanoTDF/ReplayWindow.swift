/// The medium that an item belongs to. Publishers send each in the order in which they sealed it, and RTMP keeps that.
public enum ItemMedium: Equatable, Sendable {
    case video, audio
}

/// Which counters of a collection were seen, as a window of 64 below the highest. Counters grow strictly within a
/// medium; only audio and video may change places.
struct ReplayWindow: Equatable {
    enum Arrival: Equatable {
        /// New; `gaps` counters between the highest so far and this one are missing for now.
        case ahead(gaps: UInt32)
        /// Below the highest, not seen before. `fillsGap` when it was counted as missing.
        case late(fillsGap: Bool)
        /// Seen before, or sent again by a relay that begins again with what it keeps.
        case repeated
        /// Behind an item of the same medium, or more than 64 behind any: whoever handed it on changed the order. It
        /// stays missing.
        case disordered
    }

    private var highest: UInt32
    /// Counters below or equal to this were never expected, so that they were never counted as missing.
    private let floor: UInt32
    /// Bit n: `highest - n` was seen.
    private var seen: UInt64
    private var isEmpty: Bool
    /// The highest of each medium.
    private var video: UInt32 = 0
    private var audio: UInt32 = 0
    /// The relay plays again, and sends the group of pictures that runs once more.
    private var isResuming = false

    /// A new connection: what is behind the highest is not news until something new comes.
    mutating func resumed() {
        isResuming = !isEmpty
    }

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
    mutating func arrived(_ counter: UInt32, _ medium: ItemMedium) -> Arrival {
        let arrival = place(counter, isInOrder: counter > (medium == .video ? video : audio))
        switch arrival {
        case .ahead, .late: if medium == .video { video = counter } else { audio = counter }
        case .repeated, .disordered: break
        }
        return arrival
    }

    private mutating func place(_ counter: UInt32, isInOrder: Bool) -> Arrival {
        if isEmpty {
            self = ReplayWindow(first: counter)
            return .ahead(gaps: 0)
        }
        if counter > highest {
            let step = counter - highest
            seen = step < 64 ? seen << UInt64(step) | 1 : 1
            highest = counter
            isResuming = false
            return .ahead(gaps: step - 1)
        }
        let distance = highest - counter
        guard distance < 64 else { return isResuming ? .repeated : .disordered }
        guard seen & 1 << UInt64(distance) == 0 else { return .repeated }
        guard isInOrder else { return isResuming ? .repeated : .disordered }
        seen |= 1 << UInt64(distance)
        return .late(fillsGap: counter > floor)
    }
}
