internal import Platform

/// The times that hooks go by; a test brings its own.
public struct HookClock: Sendable {
    /// Since 1970, by a clock that may not have been set.
    public var realtimeMicroseconds: @Sendable () -> Int64
    /// `CLOCK_BOOTTIME`: goes on while the machine sleeps, and nobody can set it.
    public var sinceBoot: @Sendable () -> Duration
    public var sleep: @Sendable (Duration) async throws -> Void

    public init(
        realtimeMicroseconds: @escaping @Sendable () -> Int64, sinceBoot: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.realtimeMicroseconds = realtimeMicroseconds
        self.sinceBoot = sinceBoot
        self.sleep = sleep
    }

    /// This machine's.
    public static let system = HookClock(
        realtimeMicroseconds: { Clocks.wall / 1000 },
        sinceBoot: { .nanoseconds(Clocks.boot) },
        sleep: { try await Task.sleep(for: $0) })

    /// 2020: a clock that says less was not set yet.
    private static let earliest: Int64 = 1_577_836_800_000_000

    /// How long ago something happened; nothing where its time came from a clock that was not set, or is ahead.
    func age(of realtimeMicroseconds: Int64) -> Duration {
        guard realtimeMicroseconds >= Self.earliest else { return .zero }
        return max(.zero, .microseconds(self.realtimeMicroseconds() - realtimeMicroseconds))
    }
}
