/// What there is of a camera.
public struct RecordedListing: Equatable, Sendable {
    /// Those that were finished and have something of the time that was asked for, in the order in which they were made.
    public var recordings: [RecordingDirectory.Recording]
    /// One grows now, is none of them, and may have something of the time: it goes on where the newest one ended.
    public var recordsNow: Bool
    /// What a power cut or a kill left, and may have something of the time: it becomes a recording when the camera is recorded again.
    public var unfinished: Int
    /// When the newest finished one ends, of whatever time it is; nil: there is none.
    public var newestEnd: Int64?
    /// When the camera's stream did not get to the relay, whether something of that is listed or not.
    public var liveGaps: [LiveGap] = []

    /// - Parameter writing: how many of those that grow somebody writes to.
    public init(_ listing: RecordingDirectory.Listing, writing: Int, between range: RecordingRange = .all) {
        recordings = listing.recordings.filter { range.overlaps($0.name) }
        newestEnd = listing.recordings.last?.name.end
        let isOpen = range.to > newestEnd ?? .min
        unfinished = isOpen ? listing.growing.count - writing : 0
        recordsNow = writing > 0 && isOpen
    }
}

/// From one time to another, in milliseconds since 1970.
public struct RecordingRange: Equatable, Sendable {
    public var from: Int64
    public var to: Int64

    public static let all = RecordingRange(from: .min, to: .max)

    public init(from: Int64, to: Int64) {
        self.from = from
        self.to = to
    }

    public func overlaps(_ name: RecordingName) -> Bool { overlaps(name.begin, name.end) }

    public func overlaps(_ begin: Int64, _ end: Int64) -> Bool { begin < to && end > from }

    public func contains(_ name: RecordingName) -> Bool { name.begin >= from && name.end <= to }
}
