internal import Media

/// The timeline of one published stream: one zero for audio and video, milliseconds, never backwards within a medium.
/// The time stamp of a message is its decode time; a frame's composition time is added to it (FLV 10.1 §E.4.3.1).
///
/// Each time stamp is rounded from the exact distance to the zero, so that rounding never adds up.
struct StreamTimeline: Equatable, Sendable {
    struct Place: Equatable, Sendable {
        /// Since the stream began.
        var milliseconds: Int64
        /// The same modulo 2^32, as the wire has it.
        var timestamp: UInt32
        /// Milliseconds from decoding to presentation.
        var compositionTime: Int32
        fileprivate var zero: MediaTime
    }

    private var zero: MediaTime?
    private var lastVideo: Int64 = 0
    private var lastAudio: Int64 = 0

    /// No unit has been placed yet.
    var isFirst: Bool { zero == nil }

    /// Where a unit stands. Takes effect with `commit`, so that a unit that is not sent leaves no trace.
    func place(_ unit: AccessUnit) -> Place {
        let zero = zero ?? unit.decodeTime
        let last = unit.track.isVideo ? lastVideo : lastAudio
        let decode = max((unit.decodeTime - zero).milliseconds, last)
        // From the time stamp that is really sent: one that had to be held back must not shift the frame.
        let composition = (unit.presentationTime - zero).milliseconds.subtractingReportingOverflow(decode)
        return Place(
            milliseconds: decode, timestamp: UInt32(truncatingIfNeeded: decode),
            compositionTime: unit.track.isVideo && !composition.overflow
                ? Int32(clamping: min(max(composition.partialValue, -0x80_0000), 0x7F_FFFF)) : 0,
            zero: zero)
    }

    /// Where the newest unit of a medium stands, as the wire has it.
    func latest(isVideo: Bool) -> UInt32 { UInt32(truncatingIfNeeded: isVideo ? lastVideo : lastAudio) }

    mutating func commit(_ place: Place, isVideo: Bool) {
        zero = place.zero
        if isVideo { lastVideo = place.milliseconds } else { lastAudio = place.milliseconds }
    }
}
