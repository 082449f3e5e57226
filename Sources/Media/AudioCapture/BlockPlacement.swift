/// Tells jitter and drift, which a resampler corrects, from audio that is missing or came twice.
struct BlockPlacement {
    enum Verdict: Equatable {
        case regular
        /// Audio is missing, no longer than can be filled with silence.
        case gap
        /// The block, or its begin, is for a time that is over.
        case overlap
        /// Audio is missing for so long that the timeline is begun again.
        case jump
        /// The instants went back by so much that they cannot be meant.
        case step
    }

    /// Nanoseconds. Beyond it, one block is enough.
    static let certain: Int64 = 100_000_000
    /// Beyond it, blocks in a row must agree: single instants are wrong by this much on a busy machine.
    static let suspicious: Int64 = 10_000_000
    /// After a restart of the stream, samples are missing for certain.
    static let afterRestart: Int64 = 2_000_000
    static let maxSilence: Int64 = 1_000_000_000
    static let longestCut: Int64 = 2_000_000_000
    private static let agreeing = 3

    private var lateInARow = 0
    private var earlyInARow = 0
    /// Between a correction that one block was too short for and its end.
    private var isSettling = false

    /// `error`: the block's instant less its place, nanoseconds.
    mutating func classify(error: Int64, isAfterRestart: Bool) -> Verdict {
        if isAfterRestart { isSettling = true }
        lateInARow = error > Self.suspicious ? lateInARow + 1 : 0
        earlyInARow = error < -Self.suspicious ? earlyInARow + 1 : 0
        let isPersistent = max(lateInARow, earlyInARow) >= Self.agreeing
        let isCertain = error.magnitude > UInt64(Self.certain)
        let isKnown = isSettling && error.magnitude > UInt64(Self.afterRestart)
        guard isPersistent || isCertain || isKnown else {
            isSettling = false
            return .regular
        }
        lateInARow = 0
        earlyInARow = 0
        // An overlap may be longer than the block: the next one goes on.
        isSettling = error < 0 && error >= -Self.longestCut
        if error > 0 { return error > Self.maxSilence ? .jump : .gap }
        return error < -Self.longestCut ? .step : .overlap
    }
}
