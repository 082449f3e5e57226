internal import VideoCodec

extension EncoderCounters {
    /// Of another encoder of the same camera.
    mutating func add(_ other: EncoderCounters) {
        errors += other.errors
        drops += other.drops
        unmatched += other.unmatched
        realigned += other.realigned
        openings += other.openings
        forcedKeyFrames += other.forcedKeyFrames
    }
}
