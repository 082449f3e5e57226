internal import Platform

/// The times that control goes by; a test brings its own.
public struct ControlClock: Sendable {
    /// Since 1970, by a clock that may not have been set.
    public var realtimeMicroseconds: @Sendable () -> Int64
    /// `CLOCK_BOOTTIME`: goes on while the machine sleeps, and nobody can set it.
    public var sinceBoot: @Sendable () -> Duration
    /// Another one after each boot.
    public var bootIdentifier: String
    public var sleep: @Sendable (Duration) async throws -> Void

    public init(
        realtimeMicroseconds: @escaping @Sendable () -> Int64, sinceBoot: @escaping @Sendable () -> Duration,
        bootIdentifier: String, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.realtimeMicroseconds = realtimeMicroseconds
        self.sinceBoot = sinceBoot
        self.bootIdentifier = bootIdentifier
        self.sleep = sleep
    }

    /// This machine's.
    public static func system() -> ControlClock {
        ControlClock(
            realtimeMicroseconds: { Clocks.wall / 1000 },
            sinceBoot: { .nanoseconds(Clocks.boot) },
            bootIdentifier: Clocks.bootIdentifier,
            sleep: { try await Task.sleep(for: $0) })
    }

    var seconds: Int64 { realtimeMicroseconds() / 1_000_000 }
}
