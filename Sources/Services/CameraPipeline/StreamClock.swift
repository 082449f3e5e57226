public import Media
internal import Platform
internal import Synchronization

/// What time a camera says it is, in the notes that it seals (`StreamNote`).
///
/// A box may start without a battery-backed clock and without a network, and a viewer must not take its frames for old
/// ones then. So the system's clock counts only where it can be right, and the key access server's time counts more: it
/// is the one that applies to viewers as well.
public final class StreamClock: Sendable {
    /// What the machine says of its clock.
    struct System: Sendable {
        /// Unix milliseconds.
        var time: @Sendable () -> Int64
        /// CLOCK_MONOTONIC, nanoseconds.
        var monotonic: @Sendable () -> UInt64
        /// Whether something keeps the clock right; nil when the kernel does not say.
        var isSynchronised: @Sendable () -> Bool?

        static let kernel = System(
            time: { Clocks.wallMilliseconds }, monotonic: { Clocks.monotonic },
            isSynchronised: { ClockSynchronisation.isSynchronised })
    }

    private struct Anchor {
        var time: Int64
        var monotonic: UInt64
    }

    /// A clock that is farther off than this, in milliseconds, is not believed against the key access server.
    private static let tolerance: Int64 = 2000
    /// A clock that is farther off than this, in milliseconds, is not right whoever says so.
    private static let contradiction: Int64 = 3_600_000
    /// 2025-01-01: what shows less was never set.
    private static let earliest: Int64 = 1_735_689_600_000
    /// The end of the year 9999: no clock shows more.
    private static let latest: Int64 = 253_402_300_799_999

    private let system: System
    private let anchor = Mutex<Anchor?>(nil)

    public convenience init() {
        self.init(.kernel)
    }

    init(_ system: System) {
        self.system = system
    }

    /// The key access server answered.
    /// - Parameters:
    ///   - time: what it said, in Unix milliseconds.
    ///   - instant: CLOCK_MONOTONIC in nanoseconds when its answer came.
    public func kasSaid(time: Int64, at instant: UInt64) {
        guard (Self.earliest...Self.latest).contains(time) else { return }
        anchor.withLock { $0 = Anchor(time: time, monotonic: instant) }
    }

    /// The system's clock is right for certain: somebody vouches for it, and the key access server does not contradict.
    ///
    /// A unit may not ask the kernel (`ProtectClock=`): that nobody denies it is enough for the time in a stream, and not for
    /// deleting what is old.
    ///
    /// - Parameter hasMark: a time server was heard since the boot. The clock may have been set to anything after that.
    public func isSystemTimeCertain(hasMark: Bool) -> Bool {
        let own = system.time()
        guard own >= Self.earliest else { return false }
        if let anchor = anchor.withLock({ $0 }) {
            let reported = anchor.time + Self.milliseconds(from: anchor.monotonic, to: system.monotonic())
            if abs(own - reported) <= Self.tolerance { return true }
            if abs(own - reported) > Self.contradiction { return false }
        }
        return hasMark || system.isSynchronised() == true
    }

    /// What time it was at an instant of CLOCK_MONOTONIC, in nanoseconds.
    public func time(at instant: UInt64) -> StreamNote.Time {
        let reported = anchor.withLock { $0 }.map { $0.time + Self.milliseconds(from: $0.monotonic, to: instant) }
        var own: Int64? = system.time() + Self.milliseconds(from: system.monotonic(), to: instant)
        if own.map({ $0 < Self.earliest }) == true || system.isSynchronised() == false { own = nil }
        switch (own, reported) {
        case (let own?, let reported?) where abs(own - reported) <= Self.tolerance: return .system(own)
        case (_, let reported?): return .keyAccess(reported)
        case (let own?, nil): return .system(own)
        case (nil, nil): return .unset
        }
    }

    private static func milliseconds(from: UInt64, to: UInt64) -> Int64 {
        to >= from ? Int64((to - from) / 1_000_000) : -Int64((from - to) / 1_000_000)
    }
}
