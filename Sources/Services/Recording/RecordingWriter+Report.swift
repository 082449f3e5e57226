internal import Archive
internal import CameraModel
internal import ErrorCatalog

extension RecordingWriter {
    /// For how long it is told that recordings went for want of room.
    private static let toldFor: UInt64 = 3_600_000_000_000
    /// After which a camera without frames is worth a word.
    private static let patience: UInt64 = 30_000_000_000

    /// Brings `statistics` up to date.
    func report() {
        let now = system.monotonic()
        statistics.files = index.count
        statistics.bytes = Retention.sum(index, open?.size ?? 0)
        statistics.pinnedBytes = Retention.sum(index.filter(\.name.isPinned), 0)
        statistics.oldest = index.first?.name.begin
        let since = [heldAt, beganAt].compactMap(\.self).min() ?? now
        statistics.seconds = Double(elapsed(since: since, at: now)) / 1e9
        (statistics.state, statistics.reason, statistics.code) = standing(at: now)
    }

    private func standing(at now: UInt64) -> (RecordingStatistics.State, String?, ErrorCode?) {
        if let fault { return (.failing, fault.reason, .recordingFailed) }
        if open == nil, recipient == nil { return (.waitingForKey, recipientFailure?.reason, recipientFailure?.code) }
        guard open != nil else {
            let silence = elapsed(since: lastFrame, at: now)
            guard silence >= Self.patience else {
                return (isHolding ? .waitingForEvent : .waitingForFrames, nil, nil)
            }
            return (.waitingForFrames, "no frame to begin with for \(silence / 1_000_000_000) s", .noFrames)
        }
        if let roomMadeAt, elapsed(since: roomMadeAt, at: now) < Self.toldFor {
            return (.recording, "the disk is full: recordings go before their time", .recordingShortened)
        }
        return (.recording, stuckReason, stuckReason == nil ? nil : .writeFailed)
    }
}
