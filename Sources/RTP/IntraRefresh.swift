/// Decides where streams begin that have no key frames, or hardly any: at recovery points. A key frame is better, because
/// every decoder begins there with a whole picture; so it is only done without one.
struct IntraRefresh: Equatable, Sendable {
    /// So many recovery points in a row without a key frame show that the stream lives by them.
    private static let proof = 2
    /// Nanoseconds that a stream which had key frames goes without one: 10 s.
    private static let patience: UInt64 = 10_000_000_000

    private var keyFrameAt: UInt64?
    private var recoveryPoints = 0

    /// A whole picture came.
    ///
    /// - Parameter now: when, CLOCK_MONOTONIC in nanoseconds.
    /// - Returns: whether the stream begins at it, though it is no key frame.
    mutating func passed(isKeyFrame: Bool, isRecoveryPoint: Bool, at now: UInt64) -> Bool {
        if isKeyFrame {
            keyFrameAt = now
            recoveryPoints = 0
            return false
        }
        guard isRecoveryPoint else { return false }
        recoveryPoints = min(recoveryPoints + 1, Self.proof)
        return recoveryPoints >= Self.proof && keyFrameAt.map { now >= $0 &+ Self.patience } ?? true
    }
}
