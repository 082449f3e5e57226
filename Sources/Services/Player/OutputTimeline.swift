internal import Media

/// One growing timeline out of many that begin again.
struct OutputTimeline {
    /// What a frame lasts when nothing better is known.
    private static let gap = MediaTime(milliseconds: 40)
    /// A step back of less is the order of audio and video.
    private static let tolerance = MediaTime(milliseconds: 1000)

    private var offset = MediaTime.zero
    private var latest: MediaTime?
    private var isRestart = false

    mutating func sourceRestarted() {
        isRestart = latest != nil
    }

    mutating func placed(_ unit: AccessUnit) -> AccessUnit {
        if let latest, isRestart || unit.decodeTime + offset + Self.tolerance < latest {
            offset = latest + Self.gap - unit.decodeTime
        }
        isRestart = false
        var unit = unit
        unit.decodeTime = unit.decodeTime + offset
        unit.presentationTime = unit.presentationTime + offset
        latest = max(latest ?? unit.decodeTime, unit.decodeTime)
        return unit
    }
}
