internal import Media

/// The newest coded frames of a camera, in memory: whole groups of pictures, so that a decoder can begin with the first. Without I/O.
///
/// Bounded in time, bytes and number; what is too much goes from its beginning, a group at a time. Instants are of CLOCK_MONOTONIC, in
/// nanoseconds.
struct PreRoll {
    struct Limits: Equatable, Sendable {
        /// Nanoseconds that are held; the group of pictures in which they begin is held whole.
        var duration: UInt64
        /// Of media. A group of pictures that is larger is not held at all.
        var bytes = 16 << 20
        /// Access units.
        var units = 16_384
    }

    private struct Group {
        /// Of its key frame.
        let instant: UInt64
        /// In force when it begins.
        let video: VideoFormat?
        let audio: AudioFormat?
        var events: [MediaEvent] = []
        var bytes = 0
        var units = 0
    }

    /// Nanoseconds after the newest frame from which on nothing leads from it to what is to come.
    private static let stale: UInt64 = 60_000_000_000

    private let limits: Limits
    private var groups: [Group] = []
    /// Place of the oldest in `groups`: those in front of it are empty.
    private var first = 0
    private var newest: UInt64 = 0
    private var video: VideoFormat?
    private var audio: AudioFormat?
    /// Of media, and of access units.
    private(set) var bytes = 0
    private(set) var units = 0

    init(_ limits: Limits) {
        self.limits = limits
    }

    var isEmpty: Bool { first == groups.count }

    /// - Parameter instant: when it was captured.
    mutating func take(_ event: MediaEvent, at instant: UInt64) {
        switch event {
        case .videoFormat(let format): video = format
        case .audioFormat(let format): audio = format
        case .accessUnit(let unit):
            if unit.track.isVideo, unit.isKeyFrame {
                groups.append(Group(instant: instant, video: video, audio: audio))
            }
            guard !isEmpty else { return }
            bytes += unit.data.count
            units += 1
            groups[groups.count - 1].bytes += unit.data.count
            groups[groups.count - 1].units += 1
            newest = max(newest, instant)
        }
        guard !isEmpty else { return }
        groups[groups.count - 1].events.append(event)
        while !isEmpty, bytes > limits.bytes || units > limits.units { dropFirst() }
        trim(at: instant)
    }

    /// Lets go of what is older than is asked for.
    mutating func trim(at now: UInt64) {
        while groups.count - first > 1, now >= limits.duration, groups[first + 1].instant <= now - limits.duration {
            dropFirst()
        }
        // Of a camera that went away.
        if !isEmpty, now > newest, now - newest > max(limits.duration, Self.stale) { removeAll() }
    }

    /// Everything, with the formats in front of it; nothing is held afterwards.
    mutating func takeAll() -> [MediaEvent] {
        var events: [MediaEvent] = []
        let (video, audio) = isEmpty ? (video, audio) : (groups[first].video, groups[first].audio)
        if let video { events.append(.videoFormat(video)) }
        if let audio { events.append(.audioFormat(audio)) }
        for group in groups[first...] { events += group.events }
        removeAll()
        return events
    }

    private mutating func dropFirst() {
        bytes -= groups[first].bytes
        units -= groups[first].units
        groups[first].events = []
        first += 1
        // Of a camera whose every frame is a key frame there are many.
        guard first == groups.count || first >= 64 && 2 * first >= groups.count else { return }
        groups.removeFirst(first)
        first = 0
    }

    private mutating func removeAll() {
        groups = []
        (first, bytes, units, newest) = (0, 0, 0, 0)
    }
}
