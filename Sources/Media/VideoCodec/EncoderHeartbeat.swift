internal import Synchronization

/// Shows any thread whether a call into libavcodec runs, and since when.
///
/// A V4L2 encoder can wait in the kernel for ever, and nothing inside the process gets it out: who watches this can end
/// the process.
public final class EncoderHeartbeat: Sendable {
    /// CLOCK_MONOTONIC in nanoseconds; 0: no call runs.
    private let since = Atomic<UInt64>(0)
    private let count = Atomic<UInt64>(0)

    public init() {}

    /// When the call that runs began, CLOCK_MONOTONIC in nanoseconds; nil when none does.
    public var busySince: UInt64? {
        let value = since.load(ordering: .acquiring)
        return value == 0 ? nil : value
    }

    /// Calls that ended.
    public var beats: UInt64 { count.load(ordering: .relaxed) }

    /// Whether one call has lasted longer than `nanoseconds` at `now` (CLOCK_MONOTONIC, nanoseconds).
    public func isStuck(longerThan nanoseconds: UInt64, now: UInt64) -> Bool {
        guard let busySince, now > busySince else { return false }
        return now - busySince > nanoseconds
    }

    /// Runs a call that may never end. Of one thread at a time; calls inside count as part of the outer one.
    @discardableResult
    public func during<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result {
        guard busySince == nil else { return try body() }
        since.store(max(1, SourceClock.now), ordering: .releasing)
        defer {
            since.store(0, ordering: .releasing)
            count.add(1, ordering: .relaxed)
        }
        return try body()
    }
}
