internal import Media

/// What waits to be decoded and encoded: the newest JPEG alone. A camera that is faster than this machine is shown late
/// by one frame, and never by more.
struct DecodingQueue: Sendable {
    struct Entry: Equatable, Sendable {
        var jpeg: [UInt8]
        var time: MediaTime
        /// Frames per second, as promised or as the first ones came.
        var rate: Double
        /// When its last packet came: CLOCK_MONOTONIC, nanoseconds.
        var arrival: UInt64
    }

    private var waiting: Entry?
    private var before: MediaTime?
    /// Given up because a newer one was there first.
    private(set) var superseded: UInt64 = 0

    private static let rates = 1.0...60.0

    /// - Parameter rate: as the camera promised; without, the distance to the frame before counts, and the first one
    ///   is left out.
    mutating func add(_ jpeg: [UInt8], at time: MediaTime, rate: Double?, arrival: UInt64) {
        let gap = before.map { Double((time - $0).nanoseconds) / 1e9 }
        before = time
        guard let rate = rate ?? gap.map({ $0 > 0 ? 1 / $0 : Self.rates.upperBound }) else { return }
        if waiting != nil { superseded &+= 1 }
        let bounded = rate.isNaN ? Self.rates.lowerBound : rate.rounded()
        waiting = Entry(
            jpeg: jpeg, time: time, rate: min(max(bounded, Self.rates.lowerBound), Self.rates.upperBound),
            arrival: arrival)
    }

    mutating func take() -> Entry? {
        defer { waiting = nil }
        return waiting
    }
}
