internal import Glibc

/// Where the service takes its time from; tests choose it.
public struct KeyAccessClock: Sendable {
    /// Seconds since 1970: token times, registrations, audit lines.
    public var unixSeconds: @Sendable () -> Int64
    /// The same in milliseconds: what viewers judge the age of a picture by.
    public var unixMilliseconds: @Sendable () -> Int64
    /// Nanoseconds of a clock that never goes back: rate limits.
    public var monotonicNanoseconds: @Sendable () -> UInt64

    /// - Parameters:
    ///   - unixMilliseconds: nil: whole seconds.
    ///   - monotonicNanoseconds: nil: the system's.
    public init(
        unixSeconds: @escaping @Sendable () -> Int64,
        unixMilliseconds: (@Sendable () -> Int64)? = nil,
        monotonicNanoseconds: (@Sendable () -> UInt64)? = nil
    ) {
        self.unixSeconds = unixSeconds
        self.unixMilliseconds = unixMilliseconds ?? { unixSeconds() &* 1000 }
        self.monotonicNanoseconds = monotonicNanoseconds ?? { Self.read(CLOCK_MONOTONIC) }
    }

    /// The system's clocks.
    public static let system = KeyAccessClock(
        unixSeconds: { Int64(read(CLOCK_REALTIME) / 1_000_000_000) },
        unixMilliseconds: { Int64(read(CLOCK_REALTIME) / 1_000_000) })

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0, time.tv_sec >= 0 else { return 0 }
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
