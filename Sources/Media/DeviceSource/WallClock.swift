/// The time of day of instants of CLOCK_MONOTONIC. Mapped once, so that times of one stream keep their distances;
/// mapped again only when the clock was set, as it is on a board without a battery once the network is there.
struct WallClock: Equatable, Sendable {
    /// Nanoseconds by which the wall clock must have moved away before it counts as set.
    static let tolerance: Int64 = 500_000_000

    /// Wall clock minus CLOCK_MONOTONIC, nanoseconds.
    private var offset: Int64?
    /// How far the two have moved apart since they were mapped, nanoseconds.
    private(set) var drift: Int64 = 0
    /// Times when the wall clock was set.
    private(set) var steps: UInt64 = 0

    mutating func observed(wall: Int64, monotonic: UInt64) {
        let now = wall &- Int64(clamping: monotonic)
        guard let offset else {
            offset = now
            return
        }
        drift = now &- offset
        guard drift.magnitude > UInt64(Self.tolerance) else { return }
        steps += 1
        drift = 0
        self.offset = now
    }

    /// Nanoseconds since 1970.
    func time(of instant: UInt64) -> Int64 {
        Int64(clamping: instant) &+ (offset ?? 0)
    }
}
