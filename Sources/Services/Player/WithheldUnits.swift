internal import Media

/// Units that may not be shown as long as it is not known that they are live.
///
/// A relay gives a late joiner the group of pictures that runs, so that the first of it may be older than a viewer
/// accepts although the stream is live. They are kept until a later frame of the same group says so: its counter and
/// its collection prove that it belongs to them. With the next key frame they are old for good.
struct WithheldUnits {
    typealias Delivery = (event: MediaEvent, provenance: ViewerSession.Provenance?)

    private static let maxUnits = 4096
    private static let maxBytes = 32 << 20
    /// Nanoseconds between the first unit that waits and the one that releases it: a relay keeps no longer group, and
    /// which frames are key frames only the relay says.
    private static let longestWait: UInt64 = 15_000_000_000

    private var waiting: [Delivery] = []
    private var collection: [UInt8]?
    private var unitCount: UInt64 = 0
    private var byteCount = 0
    private var holdsFrames = false
    /// Formats of what was given up: they go in front of the next unit that is shown.
    private var owedVideoFormat: MediaEvent?
    private var owedAudioFormat: MediaEvent?
    /// Frames were given up: the next that is shown must be one that a decoder can begin with.
    private var needsKeyFrame = false
    /// Units that were never shown.
    private(set) var dropped: UInt64 = 0

    /// - Parameter formats: that came in front of the unit.
    mutating func withhold(_ unit: AccessUnit, _ provenance: ViewerSession.Provenance, formats: [MediaEvent]) {
        let begins = unit.track.isVideo && unit.isKeyFrame
        if begins || collection != provenance.collection { drop() }
        collection = provenance.collection
        if begins { needsKeyFrame = false }
        // Of many formats the last of each medium counts.
        let formats = Self.newest(formats)
        let size = unit.data.count + formats.reduce(0) { $0 + Self.byteCount(of: $1) }
        let isRoom = unitCount < Self.maxUnits && byteCount + size <= Self.maxBytes
        guard isRoom, !(unit.track.isVideo && needsKeyFrame) else {
            dropped += 1
            if !isRoom { drop() }
            for format in formats { owe(format) }
            if unit.track.isVideo { needsKeyFrame = true }
            return
        }
        for format in formats { waiting.append((format, nil)) }
        byteCount += size - unit.data.count
        waiting.append((.accessUnit(unit), provenance))
        unitCount += 1
        byteCount += unit.data.count
        if unit.track.isVideo { holdsFrames = true }
    }

    /// What goes to the outputs now that `unit` may be shown.
    mutating func release(
        _ unit: AccessUnit, _ provenance: ViewerSession.Provenance, formats: [MediaEvent]
    ) -> [Delivery] {
        let begins = unit.track.isVideo && unit.isKeyFrame
        let since = waiting.lazy.compactMap(\.provenance?.instant).first ?? provenance.instant
        let isOld = provenance.instant > since && provenance.instant - since > Self.longestWait
        if begins || isOld || collection != provenance.collection { drop() }
        if begins { needsKeyFrame = false }
        for format in formats { waiting.append((format, nil)) }
        if unit.track.isVideo, needsKeyFrame {
            dropped += 1
            drop()
            return []
        }
        let owed = [owedVideoFormat, owedAudioFormat].compactMap(\.self).map { Delivery($0, nil) }
        owedVideoFormat = nil
        owedAudioFormat = nil
        defer { clear() }
        return owed + waiting + [(.accessUnit(unit), provenance)]
    }

    /// The end, or a stream that begins again: they are never shown.
    mutating func drop() {
        guard !waiting.isEmpty else { return }
        dropped += unitCount
        if holdsFrames { needsKeyFrame = true }
        for case (let event, nil) in waiting { owe(event) }
        clear()
    }

    private mutating func owe(_ event: MediaEvent) {
        switch event {
        case .videoFormat: owedVideoFormat = event
        case .audioFormat: owedAudioFormat = event
        case .accessUnit: break
        }
    }

    private static func newest(_ formats: [MediaEvent]) -> [MediaEvent] {
        let video = formats.last { if case .videoFormat = $0 { true } else { false } }
        let audio = formats.last { if case .audioFormat = $0 { true } else { false } }
        return [video, audio].compactMap(\.self)
    }

    private static func byteCount(of event: MediaEvent) -> Int {
        switch event {
        case .videoFormat(let format): format.configurationRecord.count
        case .audioFormat(let format): format.audioSpecificConfig.count
        case .accessUnit(let unit): unit.data.count
        }
    }

    private mutating func clear() {
        waiting = []
        collection = nil
        unitCount = 0
        byteCount = 0
        holdsFrames = false
    }
}
