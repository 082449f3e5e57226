internal import Glibc
internal import Platform
internal import Synchronization

/// Paces a source's thread: waits for instants of CLOCK_MONOTONIC, and can be asked to stop from any thread.
///
/// A wait is cut into pieces, and the flag is looked at between them. That needs no descriptor and cannot fail, and
/// a source stops within one piece.
package final class SourceClock: Sendable {
    private let stopped = Atomic(false)

    /// Nanoseconds. Well below the 200 ms in which a source has to stop.
    private static let maxPieceLength: UInt64 = 50_000_000

    package init() {}

    package var isStopped: Bool { stopped.load(ordering: .relaxed) }

    package func stop() { stopped.store(true, ordering: .relaxed) }

    /// CLOCK_MONOTONIC in nanoseconds.
    package static var now: UInt64 { Clocks.monotonic }

    /// Blocks until `deadline`; false if `stop` was called before.
    package func wait(until deadline: UInt64) -> Bool {
        while !isStopped {
            let now = Self.now
            if now >= deadline { return true }
            let until = min(deadline, now + Self.maxPieceLength)
            var time = timespec(tv_sec: Int(until / 1_000_000_000), tv_nsec: Int(until % 1_000_000_000))
            _ = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nil)
        }
        return false
    }
}

/// The time of day on this machine's clock, as "HH:MM:SS.mmm" in local time.
func timeOfDay() -> String {
    let milliseconds = Clocks.wallMilliseconds
    var seconds = time_t(milliseconds / 1000)
    var local = tm()
    localtime_r(&seconds, &local)
    let parts = [
        (Int(local.tm_hour), 2), (Int(local.tm_min), 2), (Int(local.tm_sec), 2), (Int(milliseconds % 1000), 3),
    ]
    let texts = parts.map { value, digits in
        String(repeating: "0", count: max(0, digits - String(value).count)) + String(value)
    }
    return "\(texts[0]):\(texts[1]):\(texts[2]).\(texts[3])"
}
