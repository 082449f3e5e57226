internal import Media

/// One timeline for all that comes from a camera: from the first frame on, without a step back, over every reconnect. A
/// gap in the stream is as long here as it was.
struct MediaTimeline: Equatable, Sendable {
    /// The first frame's decode time on CLOCK_MONOTONIC.
    private var zero: MediaTime?
    private var lastVideo: MediaTime?
    private var lastAudio: MediaTime?

    struct Times: Equatable, Sendable {
        var presentation: MediaTime
        var decode: MediaTime
    }

    /// Of a frame, which begins the timeline if it is the first.
    mutating func video(presentation: MediaTime, decode: MediaTime) -> Times {
        let zero = zero ?? decode
        self.zero = zero
        let times = Self.after(lastVideo, presentation - zero, decode - zero)
        lastVideo = times.decode
        return times
    }

    /// Of audio; nil before the first frame.
    mutating func audio(_ time: MediaTime) -> MediaTime? {
        guard let zero, time >= zero else { return nil }
        let times = Self.after(lastAudio, time - zero, time - zero)
        lastAudio = times.decode
        return times.decode
    }

    /// What a reconnect brought too early comes as soon after the one before as can be told apart.
    private static func after(_ last: MediaTime?, _ presentation: MediaTime, _ decode: MediaTime) -> Times {
        var decode = decode
        if let last, decode <= last { decode = last + MediaTime(nanoseconds: 1) }
        return Times(presentation: max(presentation, decode), decode: decode)
    }
}
