internal import Platform

/// Where the service takes its time from; tests choose it.
public struct KeyAccessClock: Sendable {
    /// Seconds since 1970: token times, registrations, audit lines.
    public var unixSeconds: @Sendable () -> Int64
    /// The same in milliseconds: what viewers determine the age of a frame by.
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
        self.monotonicNanoseconds = monotonicNanoseconds ?? { Clocks.monotonic }
    }

    /// The system's clocks.
    public static let system = KeyAccessClock(
        unixSeconds: { Clocks.wallSeconds }, unixMilliseconds: { Clocks.wallMilliseconds })
}
