/// How long the way itself takes: the shortest round trip lately.
///
/// Not the kernel's, whose shortest is that of five minutes: where the way becomes longer, as with a radio that changes
/// its cell or a tunnel that changes its path, the difference would look like a queue for as long. A queue of our own is
/// gone within less than the time that is looked back here.
struct WayLength: Sendable {
    /// Ascending, in time and in value.
    private var samples: [(at: Double, value: Double)] = []

    /// Seconds.
    private static let lookBack = 10.0
    /// A way that is longer by more than this is taken for a queue: one that never drains, of a link slower than the least.
    private static let mostLonger = 0.5

    /// - Parameters:
    ///   - roundTrip: now, seconds; 0: not known.
    ///   - least: of the last minutes, seconds; 0: not known.
    mutating func take(_ roundTrip: Double, least: Double, at now: Double) -> Double {
        guard roundTrip > 0 else { return least }
        while let last = samples.last, last.value >= roundTrip { samples.removeLast() }
        samples.append((now, roundTrip))
        let old = samples.prefix { $0.at < now - Self.lookBack }.count
        samples.removeFirst(max(old, samples.count - Self.maxSamples))
        return min(samples[0].value, least > 0 ? least + Self.mostLonger : .infinity)
    }

    /// A reading each tenth of a second.
    private static let maxSamples = 128
}
