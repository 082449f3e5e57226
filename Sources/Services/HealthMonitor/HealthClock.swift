internal import Platform

/// One moment, by two clocks: how long, and what time it is said to be.
public struct HealthInstant: Equatable, Sendable {
    /// Nanoseconds since boot, sleep included; never goes back.
    public var uptime: UInt64
    /// Nanoseconds since 1970, by a clock that may not have been set and may jump.
    public var realtime: Int64

    public init(uptime: UInt64, realtime: Int64) {
        self.uptime = uptime
        self.realtime = realtime
    }

    /// Seconds since boot.
    var uptimeSeconds: Double { Double(uptime) / 1e9 }
    /// Seconds since 1970.
    var realtimeSeconds: Int64 { realtime / 1_000_000_000 }

    func seconds(since earlier: UInt64) -> Double {
        uptime > earlier ? Double(uptime - earlier) / 1e9 : 0
    }
}

/// Time as the monitor knows it.
public protocol HealthClock: Sendable {
    func now() -> HealthInstant
    /// Throws only when the task is cancelled.
    func sleep(for duration: Duration) async throws
}

/// The kernel's clocks.
public struct KernelClock: HealthClock {
    public init() {}

    public func now() -> HealthInstant {
        HealthInstant(uptime: Clocks.boot, realtime: Clocks.wall)
    }

    public func sleep(for duration: Duration) async throws { try await Task.sleep(for: duration) }
}
