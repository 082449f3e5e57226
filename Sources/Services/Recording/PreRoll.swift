internal import Media

/// The newest coded frames of a camera, in memory: whole groups of pictures, so that a decoder can begin with the first. Without I/O.
///
/// Bounded in time, bytes and number; what is too much goes from its beginning, a group at a time. Instants are of CLOCK_MONOTONIC, in
/// nanoseconds.
struct PreRoll {
    struct Limits: Equatable, Sendable {
        /// Nanoseconds that are held; the group of pictures in which they begin is held whole.
        var duration: UInt64
        /// Of media and of formats. A group of pictures that is larger is not held at all.
        var bytes = 16 << 20
        /// Access units and formats.
        var units = 16_384
    }

    private struct Group {
        /// Of its key frame.
        let instant: UInt64
        /// In force when it begins.
        let video: VideoFormat?
        let audio: AudioFormat?
        /// It is to be recorded.
        var isWanted: Bool
        var events: [MediaEvent] = []
        var bytes = 0
        var frames = 0
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
    /// Of what is held.
    private(set) var bytes = 0
    /// Access units and formats that are held.
    private(set) var units = 0
    /// Access units that were to be recorded, and went before they could be.
    private(set) var lost: UInt64 = 0
    /// All that is held is to be recorded, which is not possible now: nothing goes for its age.
    var isWanted = false {
        didSet {
            guard isWanted, !oldValue else { return }
            for place in groups[first...].indices { groups[place].isWanted = true }
        }
    }

    init(_ limits: Limits) {
        self.limits = limits
    }

    var isEmpty: Bool { first == groups.count }

    /// - Parameter instant: when it was captured.
    mutating func take(_ event: MediaEvent, at instant: UInt64) {
        let size: Int
        switch event {
        case .videoFormat(let format):
            video = format
            size = format.configurationRecord.count
        case .audioFormat(let format):
            audio = format
            size = format.audioSpecificConfig.count
        case .accessUnit(let unit):
            if unit.track.isVideo, unit.isKeyFrame {
                groups.append(Group(instant: instant, video: video, audio: audio, isWanted: isWanted))
            }
            guard !isEmpty else { return }
            size = unit.data.count
            groups[groups.count - 1].frames += 1
            newest = max(newest, instant)
        }
        guard !isEmpty else { return }
        bytes += size
        units += 1
        groups[groups.count - 1].bytes += size
        groups[groups.count - 1].events.append(event)
        while !isEmpty, bytes > limits.bytes || units > limits.units { dropFirst() }
        trim(at: instant)
    }

    /// Lets go of what is older than is asked for.
    mutating func trim(at now: UInt64) {
        guard !isWanted else { return }
        while groups.count - first > 1, now >= limits.duration, groups[first + 1].instant <= now - limits.duration {
            dropFirst()
        }
        // Of a camera that went away.
        if !isEmpty, now > newest, now - newest > max(limits.duration, Self.stale) { removeAll() }
    }

    /// Everything, with the formats in front of it, **the last one first**: whoever takes it from its end lets go of each. Nothing is
    /// held here afterwards.
    mutating func takeAll() -> [MediaEvent] {
        var events: [MediaEvent] = []
        events.reserveCapacity(units + 2)
        let (video, audio) = isEmpty ? (video, audio) : (groups[first].video, groups[first].audio)
        while groups.count > first { events += groups.removeLast().events.reversed() }
        if let audio { events.append(.audioFormat(audio)) }
        if let video { events.append(.videoFormat(video)) }
        isWanted = false
        clear()
        return events
    }

    /// Nothing of it will be recorded.
    mutating func removeAll() {
        while !isEmpty { dropFirst() }
        clear()
    }

    private mutating func dropFirst() {
        if groups[first].isWanted { lost += UInt64(groups[first].frames) }
        bytes -= groups[first].bytes
        units -= groups[first].events.count
        groups[first].events = []
        first += 1
        // Of a camera whose every frame is a key frame there are many.
        guard first == groups.count || first >= 64 && 2 * first >= groups.count else { return }
        groups.removeFirst(first)
        first = 0
    }

    private mutating func clear() {
        groups = []
        (first, bytes, units, newest) = (0, 0, 0, 0)
    }
}
