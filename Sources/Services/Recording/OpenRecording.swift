internal import Archive
internal import Media
internal import MediaFile

/// A recording that grows: its file, its muxer, and how far both are. Used by one thread at a time.
final class OpenRecording {
    let sequence: UInt64
    let archive: GrowingArchive
    let muxer: MediaWriter
    /// When its first frame was captured, CLOCK_MONOTONIC in nanoseconds.
    let captured: UInt64
    /// Bytes of media that the muxer holds.
    private(set) var waiting = 0
    /// Decode time of the newest video frame.
    private(set) var last: MediaTime
    /// Something is written that is not flushed.
    private(set) var isDirty = false

    private let first: MediaTime
    /// Between the two newest video frames.
    private var step = MediaTime.zero
    /// Milliseconds of media that were written.
    private var written: UInt32 = 0
    /// Access units that the muxer has and the file has not.
    private var frames: UInt64 = 0

    init(sequence: UInt64, archive: GrowingArchive, muxer: MediaWriter, captured: UInt64, first: MediaTime) {
        self.sequence = sequence
        self.archive = archive
        self.muxer = muxer
        self.captured = captured
        self.first = first
        last = first
    }

    /// Bytes on the disk.
    var size: Int64 { archive.size }

    /// When its last frame ends, as far as it can be known.
    var estimatedEnd: MediaTime { last + step }

    /// - Parameter next: when the frame after it is decoded, which is its end unless the source stood still.
    func end(before next: MediaTime) -> MediaTime {
        next > last && next - last < MediaTime(milliseconds: 5000) ? next : estimatedEnd
    }

    func took(_ unit: AccessUnit) {
        frames += 1
        waiting += unit.data.count
        guard unit.track.isVideo else { return }
        if unit.decodeTime > last { step = unit.decodeTime - last }
        last = max(last, unit.decodeTime)
    }

    /// Of the media up to `end`, those that are not in the file yet.
    func milliseconds(until end: MediaTime) -> UInt32 {
        let all = UInt32(clamping: max(end - first, .zero).milliseconds)
        return all > written ? all - written : 0
    }

    /// - Parameters:
    ///   - milliseconds: of media that came into the file.
    func appended(milliseconds: UInt32) {
        written &+= milliseconds
        waiting = 0
        isDirty = true
    }

    /// Access units that came into the file since the last call.
    func takeFrames() -> UInt64 {
        defer { frames = 0 }
        return frames
    }

    func flush() throws(ArchiveError) {
        try archive.flush()
        isDirty = false
    }
}
