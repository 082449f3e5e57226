internal import Media

/// Where one recording ends and the next one begins: a decoder can begin with each, and each has one format. Without I/O.
struct RecordingCuts {
    enum Step: Equatable {
        /// This unit is the first one of a new recording.
        case begin
        /// It goes on with this unit.
        case go
        /// What is open ends before this unit, which is the first one of the next.
        case cut
        /// It is in no recording.
        case pass
    }

    /// The formats of what comes.
    private(set) var video: VideoFormat?
    private(set) var audio: AudioFormat?

    private let length: MediaTime
    private var isOpen = false
    private var begin = MediaTime.zero
    private var last = MediaTime.zero
    /// Between the two newest frames of video.
    private(set) var step = MediaTime.zero
    private var hasAudio = false
    /// Nothing that comes leads on from what is open until the next key frame: another format, or another place in time.
    private var videoEnded = false
    private var audioEnded = false

    /// Farther apart than this are no two frames of one scene: a source that began again.
    private static let maxStep = MediaTime(milliseconds: 5000)

    /// Of the slowest cameras.
    private static let longestStep = MediaTime(milliseconds: 60_000)

    /// - Parameter length: after which a recording ends at the next key frame.
    init(length: MediaTime) {
        self.length = length
    }

    mutating func take(_ format: VideoFormat) {
        videoEnded = videoEnded || isOpen && format != video
        video = format
    }

    mutating func take(_ format: AudioFormat) {
        audioEnded = audioEnded || isOpen && format != audio
        audio = format
    }

    /// - Parameter isLarge: what is open has as many bytes as one may have.
    mutating func take(_ unit: AccessUnit, isLarge: Bool = false) -> Step {
        guard unit.track.isVideo else { return isOpen && hasAudio && !audioEnded ? .go : .pass }
        guard video != nil else { return .pass }
        guard isOpen else {
            guard unit.isKeyFrame else { return .pass }
            open(with: unit)
            return .begin
        }
        let step = unit.decodeTime - last
        // Of a camera that gives a frame in ten seconds, a pause is longer than that.
        let longest = max(Self.maxStep, MediaTime(nanoseconds: 3 * self.step.nanoseconds))
        videoEnded = videoEnded || step > longest || step < .zero
        self.step = min(max(step, .zero), Self.longestStep)
        if unit.isKeyFrame, isLarge || videoEnded || audioEnded || unit.decodeTime - begin >= length {
            open(with: unit)
            return .cut
        }
        last = unit.decodeTime
        return videoEnded ? .pass : .go
    }

    /// Nanoseconds without a frame after which none is to be waited for.
    ///
    /// - Parameter least: of cameras with many frames.
    func silence(least: UInt64) -> UInt64 { max(least, 3 * UInt64(step.nanoseconds)) }

    /// What was open has ended, whatever for: the next key frame begins another.
    mutating func end() {
        isOpen = false
    }

    private mutating func open(with unit: AccessUnit) {
        isOpen = true
        begin = unit.decodeTime
        last = begin
        hasAudio = audio != nil
        videoEnded = false
        audioEnded = false
    }
}
