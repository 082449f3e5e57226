/// Decides that a call into an encoder will never return: a hardware encoder can wait in the kernel for ever, and no call
/// of libavcodec ends that wait.
///
/// Looked at in regular steps. Only time in which this process really ran counts, so that a process which was stopped, or a
/// machine that slept, is not taken for an encoder that hangs.
struct HangDetector: Equatable, Sendable {
    /// Nanoseconds.
    let deadline: UInt64
    /// Nanoseconds between two looks; the longest that one look counts for is twice that.
    let step: UInt64

    private var beat: UInt64?
    private var looked: UInt64?
    private var waited: UInt64 = 0

    init(deadline: UInt64 = 1_000_000_000, step: UInt64 = 50_000_000) {
        self.deadline = deadline
        self.step = step
    }

    /// - Parameters:
    ///   - isBusy: a call is on.
    ///   - beat: number of the call.
    ///   - now: CLOCK_MONOTONIC, nanoseconds.
    /// - Returns: true from the moment when the call has lasted longer than the deadline.
    mutating func observed(isBusy: Bool, beat: UInt64, at now: UInt64) -> Bool {
        defer { looked = now }
        guard isBusy else {
            self.beat = nil
            waited = 0
            return false
        }
        guard self.beat == beat, let looked else {
            self.beat = beat
            waited = 0
            return false
        }
        waited += min(now > looked ? now - looked : 0, step * 2)
        return waited > deadline
    }
}
