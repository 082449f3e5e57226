internal import Glibc

/// The clocks of the kernel (docs/design/time.md says which one is for what).
public enum Clocks {
    /// CLOCK_MONOTONIC in nanoseconds: never set, and the same for all processes; stands still while the machine sleeps.
    public static var monotonic: UInt64 { UInt64(read(CLOCK_MONOTONIC)) }

    /// CLOCK_BOOTTIME in nanoseconds: the same, and goes on while the machine sleeps.
    public static var boot: UInt64 { UInt64(read(CLOCK_BOOTTIME)) }

    /// CLOCK_REALTIME, nanoseconds since 1970: may not have been set, and may step.
    public static var wall: Int64 { read(CLOCK_REALTIME) }

    /// `wall` in milliseconds.
    public static var wallMilliseconds: Int64 { wall / 1_000_000 }

    /// `wall` in seconds.
    public static var wallSeconds: Int64 { wall / 1_000_000_000 }

    /// What this thread has worked, in nanoseconds: what the machine does meanwhile does not count.
    public static var thread: UInt64 { UInt64(read(CLOCK_THREAD_CPUTIME_ID)) }

    /// The kernel's name for this boot; empty where it has none.
    public static var bootIdentifier: String { SmallFile.line("/proc/sys/kernel/random/boot_id") ?? "" }

    /// Nanoseconds fill an Int64 for 292 years.
    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
