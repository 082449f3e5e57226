internal import Glibc

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
        let identifier = (try? SystemFiles.read("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
        return ControlClock(
            realtimeMicroseconds: {
                let time = read(CLOCK_REALTIME)
                return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
            },
            sinceBoot: {
                let time = read(CLOCK_BOOTTIME)
                return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
            },
            bootIdentifier: String(decoding: identifier.filter { $0 > 32 }, as: UTF8.self),
            sleep: { try await Task.sleep(for: $0) })
    }

    var seconds: Int64 { realtimeMicroseconds() / 1_000_000 }

    private static func read(_ clock: clockid_t) -> timespec {
        var time = timespec()
        clock_gettime(clock, &time)
        return time
    }
}
