/// The time that subscribers of one stream see: it never runs backwards within a track, whatever publishers do.
///
/// Duties: pass a well-behaved publisher's times through unchanged; continue where the last one ended when a publisher
/// comes back with a clock of its own; re-base on a jump back. All in milliseconds modulo 2^32, compared by signed
/// difference. One offset serves both tracks, so that audio and video stay together.
///
/// The odd case: header frames. Some publishers stamp them 0 in mid-stream, so a header takes the time of the frames
/// around it unless its own fits.
struct StreamTimeline: Equatable, Sendable {
    enum Track { case video, audio }

    /// Further back than this is a new clock; less is disorder, and is clamped.
    private static let disorder: Int32 = 1000

    private var offset: UInt32 = 0
    private var lastVideo: UInt32?
    private var lastAudio: UInt32?
    private var lastArrival: UInt64 = 0
    private var awaitsNewPublisher = false

    /// The latest time that any frame was given; nil before the first.
    var latest: UInt32? {
        guard let lastVideo else { return lastAudio }
        guard let lastAudio else { return lastVideo }
        return Int32(bitPattern: lastAudio &- lastVideo) > 0 ? lastAudio : lastVideo
    }

    /// The next frame comes from another connection: whatever its time, it follows the last one.
    mutating func publisherChanged() {
        awaitsNewPublisher = latest != nil
    }

    mutating func frame(_ time: UInt32, _ track: Track, at now: UInt64) -> UInt32 {
        let last = track == .video ? lastVideo : lastAudio
        var output = time &+ offset
        if awaitsNewPublisher {
            awaitsNewPublisher = false
            output = rebase(time, at: now)
        } else if let last {
            let distance = Int32(bitPattern: output &- last)
            if distance < -Self.disorder {
                output = rebase(time, at: now)
            } else if distance < 0 {
                output = last
            }
        }
        if track == .video { lastVideo = output } else { lastAudio = output }
        lastArrival = now
        return output
    }

    /// For metadata, sequence headers and NanoTDF header frames.
    func header(_ time: UInt32) -> UInt32 {
        guard let latest else { return time &+ offset }
        let output = time &+ offset
        let fits = (0...Self.disorder).contains(Int32(bitPattern: output &- latest))
        return fits && !awaitsNewPublisher ? output : latest
    }

    /// Chooses the offset that puts `time` where the monotonic clock says it belongs: as long after the last frame as it
    /// came, and at least 1 ms.
    private mutating func rebase(_ time: UInt32, at now: UInt64) -> UInt32 {
        let waited = (now > lastArrival ? now - lastArrival : 0) / 1_000_000
        let output = (latest ?? 0) &+ UInt32(clamping: min(max(waited, 1), 3_600_000))
        offset = output &- time
        return output
    }
}
