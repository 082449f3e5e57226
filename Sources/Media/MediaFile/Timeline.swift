internal import Media

/// Makes one timeline of a file's times, pass after pass.
///
/// - Decode times grow strictly within a track, whatever the file says.
/// - The first unit of all decodes at zero: negative times, and those of a recording that begins in the middle, are
///   moved there. A later pass begins when the longer track of the one before has ended; the tracks keep their
///   distance.
/// - A step back, or far ahead of all tracks, is taken for the seam of two recordings, and closed.
/// - A frame is shown when it is decoded or later, but not much later: a damaged time must not spread.
struct Timeline {
    private struct Track {
        /// Decode time of the first unit of this pass.
        var first: Int64?
        /// Of the last unit, of any pass.
        var last: Int64?
        /// From the last unit but one to the last.
        var step: Int64
        /// Of the last unit that was handed on.
        var lastPlaced: Int64?

        /// How long this pass was.
        var duration: Int64 {
            guard let first, let last else { return 0 }
            return last &- first &+ step
        }
    }

    private var video = Track(step: 40_000_000)
    private var audio = Track(step: 21_333_333)
    /// Added to the file's times: at the beginning of this pass, and now, behind the seams that were closed.
    private var passShift: Int64 = 0
    private var shift: Int64 = 0
    /// What is taken off, once the first unit is known.
    private var zero: Int64?

    /// Nanoseconds. Beyond, a step cannot be one within a recording.
    private static let maxStepBack: Int64 = 1_000_000_000
    private static let maxStepAhead: Int64 = 10_000_000_000
    /// More than any order of frames needs.
    private static let maxReordering: Int64 = 10_000_000_000
    /// The smallest step that FLV can say.
    private static let minStep: Int64 = 1_000_000
    /// Keeps sums in range, whatever a file says: fifty years.
    private static let latest: Int64 = 1_576_800_000_000_000_000

    /// First: units in the order of the file. Closes seams and orders the track.
    mutating func straighten(_ unit: inout AccessUnit) {
        let decode = Self.bounded(unit.decodeTime)
        let presentation = Self.bounded(unit.presentationTime)
        let track = unit.track.isVideo ? video : audio
        var time = decode &+ shift
        if let newest = [video.last, audio.last].compactMap({ $0 }).max() {
            let isBack = track.last.map { time < $0 &- Self.maxStepBack } ?? false
            if isBack || time > newest &+ Self.maxStepAhead {
                time = newest &+ track.step
                shift = time &- decode
            }
        }
        if let last = track.last, time <= last { time = last &+ Self.minStep }
        withTrack(of: unit) { track in
            // The step into a new pass is not the track's own.
            if let last = track.last, track.first != nil { track.step = min(time &- last, Self.maxStepBack) }
            track.first = track.first ?? time
            track.last = time
        }
        let shown = presentation &+ shift
        unit.decodeTime.nanoseconds = time
        unit.presentationTime.nanoseconds =
            shown >= time && shown <= time &+ Self.maxReordering ? shown : time
    }

    /// Second: units in the order in which they go out. Moves the first one to zero, and all others with it.
    mutating func place(_ unit: inout AccessUnit) {
        let zero = self.zero ?? unit.decodeTime.nanoseconds
        self.zero = zero
        var time = max(unit.decodeTime.nanoseconds &- zero, 0)
        withTrack(of: unit) { track in
            if let last = track.lastPlaced, time <= last { time = last &+ Self.minStep }
            track.lastPlaced = time
        }
        unit.presentationTime.nanoseconds = max(unit.presentationTime.nanoseconds &- zero, time)
        unit.decodeTime.nanoseconds = time
    }

    /// The file begins again.
    mutating func beginNextPass() {
        passShift = passShift &+ max(video.duration, audio.duration)
        shift = passShift
        video.first = nil
        audio.first = nil
    }

    private mutating func withTrack(of unit: AccessUnit, _ body: (inout Track) -> Void) {
        if unit.track.isVideo { body(&video) } else { body(&audio) }
    }

    private static func bounded(_ time: MediaTime) -> Int64 {
        min(max(time.nanoseconds, -latest), latest)
    }
}
