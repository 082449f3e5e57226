internal import BoxReadings
internal import CameraPipeline
internal import Platform

/// The clocks that a recording reads, and what it asks of the file system.
struct RecordingSystem: Sendable {
    /// CLOCK_MONOTONIC, nanoseconds.
    var monotonic: @Sendable () -> UInt64
    /// Milliseconds since 1970.
    var wall: @Sendable () -> Int64
    /// The wall clock is right for certain.
    var isClockRight: @Sendable () -> Bool
    /// Bytes that are free where the directory is; nil when nobody knows.
    var free: @Sendable (_ directory: String) -> Int64?

    init(
        monotonic: @escaping @Sendable () -> UInt64, wall: @escaping @Sendable () -> Int64,
        isClockRight: @escaping @Sendable () -> Bool, free: @escaping @Sendable (_ directory: String) -> Int64?
    ) {
        self.monotonic = monotonic
        self.wall = wall
        self.isClockRight = isClockRight
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
            free: { (try? DiskReading.read($0)).map { Int64(clamping: $0.freeBytes) } })
    }
}
