/// Decides where streams begin that have no key frames, or hardly any: at recovery points. A key frame is better,
/// because every decoder begins there with a whole picture; so it is only done without one.
struct IntraRefresh: Equatable, Sendable {
    /// So many recovery points in a row without a key frame show that the stream lives by them.
    private static let proof = 2
    /// Nanoseconds from the first of them: an encoder may put one on every picture, and a key frame come in a moment.
    private static let firstTimeout: UInt64 = 3_000_000_000
    /// Nanoseconds that a stream which had a key frame goes without one: 10 s, or a quarter more than their distance.
    private static let timeout: UInt64 = 10_000_000_000
    private static let maxTimeout: UInt64 = 60_000_000_000

    private var keyFrameAt: UInt64?
    /// The longest distance of two key frames; 0 before the second one.
    private var distance: UInt64 = 0
    private var recoveryPoints = 0
    /// The first one behind the last key frame.
    private var recoveryPointAt: UInt64 = 0

    /// A whole picture came.
    ///
    /// - Parameter now: when, CLOCK_MONOTONIC in nanoseconds.
    /// - Returns: whether the stream begins at it, though it is not a key frame.
    mutating func passed(isKeyFrame: Bool, isRecoveryPoint: Bool, at now: UInt64) -> Bool {
        if isKeyFrame {
            if let keyFrameAt, now > keyFrameAt {
                distance = min(max(distance, now - keyFrameAt), Self.maxTimeout)
            }
            keyFrameAt = now
            recoveryPoints = 0
            return false
        }
        guard isRecoveryPoint else { return false }
        if recoveryPoints == 0 { recoveryPointAt = now }
        recoveryPoints = min(recoveryPoints + 1, Self.proof)
        guard recoveryPoints >= Self.proof else { return false }
        guard let keyFrameAt else { return now >= recoveryPointAt &+ Self.firstTimeout }
        let timeout = min(max(Self.timeout, distance + distance / 4), Self.maxTimeout)
        return now >= keyFrameAt &+ timeout
    }
}
