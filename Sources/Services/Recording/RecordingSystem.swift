internal import BoxReadings
internal import CameraPipeline
internal import Glibc
internal import Platform

/// The clocks that a recording reads, and what it asks of the file system.
struct RecordingSystem: Sendable {
    /// CLOCK_MONOTONIC, nanoseconds.
    var monotonic: @Sendable () -> UInt64
    /// Milliseconds since 1970.
    var wall: @Sendable () -> Int64
    /// The wall clock is right for certain.
    var isClockRight: @Sendable () -> Bool
    /// What clocks on the wall show now, right or not: the day, 0: Monday, and the minute of it; nil: that cannot be said.
    var weekTime: @Sendable () -> (day: Int, minute: Int)?
    /// Bytes that are free where the directory is; nil when nobody knows.
    var free: @Sendable (_ directory: String) -> Int64?

    init(
        monotonic: @escaping @Sendable () -> UInt64, wall: @escaping @Sendable () -> Int64,
        isClockRight: @escaping @Sendable () -> Bool,
        weekTime: @escaping @Sendable () -> (day: Int, minute: Int)? = { nil },
        free: @escaping @Sendable (_ directory: String) -> Int64?
    ) {
        self.monotonic = monotonic
        self.wall = wall
        self.isClockRight = isClockRight
        self.weekTime = weekTime
        self.free = free
    }

    /// This machine.
    init(_ clock: StreamClock) {
        self.init(
            monotonic: { Clocks.monotonic }, wall: { Clocks.wallMilliseconds },
            // timesyncd leaves its mark where a unit may look, which may not ask the kernel.
            isClockRight: {
                clock.isSystemTimeCertain(hasMark: SmallFile.exists("/run/systemd/timesync/synchronized"))
            },
            weekTime: { Self.weekTime(at: Clocks.wallMilliseconds / 1000) },
            free: { (try? DiskReading.read($0)).map { Int64(clamping: $0.freeBytes) } })
    }

    /// - Parameter instant: seconds since 1970.
    static func weekTime(at instant: Int64) -> (day: Int, minute: Int)? {
        // The zone may be set while this runs.
        tzset()
        var time = time_t(instant)
        var local = tm()
        guard localtime_r(&time, &local) != nil else { return nil }
        return (day: (Int(local.tm_wday) + 6) % 7, minute: 60 * Int(local.tm_hour) + Int(local.tm_min))
    }
}
