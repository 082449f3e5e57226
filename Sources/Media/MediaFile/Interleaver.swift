internal import Media

/// Puts the units of two tracks into the order of their decode times.
///
/// Files hold a track's units in runs, half a second of audio and then half a second of frames; handed on in that
/// order in real time, each run would come too late. Looks ahead no further than a bound, and then lets go of what it
/// has: a track may end before the other, or be absent.
struct Interleaver {
    /// Events in front of a unit go out with it.
    private struct Entry {
        var formats: [MediaEvent]
        var unit: AccessUnit
    }

    private var video: [Entry] = []
    private var audio: [Entry] = []
    private var videoFormats: [MediaEvent] = []
    private var audioFormats: [MediaEvent] = []
    private var bytes = 0
    private var hasBegun = false
    private let trackCount: Int

    static let maxSpan: Int64 = 1_000_000_000
    static let maxUnits = 1024
    static let maxBytes = 16 << 20

    /// - Parameter trackCount: with one track nothing waits; nil where it is not known.
    init(trackCount: Int?) {
        self.trackCount = trackCount ?? 2
    }

    mutating func push(_ event: MediaEvent) {
        switch event {
        case .videoFormat: videoFormats.append(event)
        case .audioFormat: audioFormats.append(event)
        case .accessUnit(let unit):
            bytes += unit.data.count
            if unit.track.isVideo {
                video.append(Entry(formats: videoFormats, unit: unit))
                videoFormats = []
            } else {
                audio.append(Entry(formats: audioFormats, unit: unit))
                audioFormats = []
            }
        }
    }

    /// The next unit, with the formats that belong in front of it; nil until more is pushed.
    ///
    /// - Parameter isAtEnd: nothing more will be pushed.
    mutating func pop(isAtEnd: Bool = false) -> (formats: [MediaEvent], unit: AccessUnit)? {
        guard !video.isEmpty || !audio.isEmpty else { return nil }
        let isComplete = trackCount < 2 || (!video.isEmpty && !audio.isEmpty)
        guard isComplete || isAtEnd || isFull else { return nil }
        var formats: [MediaEvent] = []
        if !hasBegun {
            // A receiver should know of both tracks before the first unit of either.
            hasBegun = true
            formats = takeFormats(&video) + takeFormats(&audio)
        }
        let takesVideo =
            if let picture = video.first?.unit, let audio = audio.first?.unit {
                picture.decodeTime < audio.decodeTime
            } else {
                audio.isEmpty
            }
        let entry = takesVideo ? video.removeFirst() : audio.removeFirst()
        bytes -= entry.unit.data.count
        return (formats + entry.formats, entry.unit)
    }

    private var isFull: Bool {
        let queue = video.isEmpty ? audio : video
        guard let first = queue.first, let last = queue.last else { return false }
        let span = last.unit.decodeTime.nanoseconds.subtractingReportingOverflow(first.unit.decodeTime.nanoseconds)
        return span.overflow || span.partialValue > Self.maxSpan || queue.count > Self.maxUnits
            || bytes > Self.maxBytes
    }

    private func takeFormats(_ queue: inout [Entry]) -> [MediaEvent] {
        guard !queue.isEmpty else { return [] }
        defer { queue[0].formats = [] }
        return queue[0].formats
    }
}
