internal import Media

/// Which of a camera's frames are recorded when it is not recorded all the time: those that come while the gate is open, those of
/// memory before them, and the rest of the last group of pictures. Without I/O.
///
/// A recording ends in front of a key frame, with which memory begins again: an event that comes soon after it loses nothing, and no
/// frame is recorded twice.
struct FrameSelection {
    enum Step: Equatable {
        /// Nothing is recorded now.
        case hold
        /// These are recorded.
        case write([MediaEvent])
        /// What is recorded ends here, in front of a frame that is decoded then; nil: none is known.
        case pause(before: MediaTime?)
    }

    /// Nanoseconds that a key frame is waited for, once the gate is closed.
    private static let patience: UInt64 = 10_000_000_000
    /// A frame was not captured longer before it came than this, in nanoseconds, whatever its time says.
    private static let longestWay: UInt64 = 60_000_000_000

    private var preRoll: PreRoll
    private var isRecording = false
    /// When a frame was first seen that need not be recorded; nil: all have to be.
    private var closedAt: UInt64?
    /// When the frame was captured in front of which the last recording ended.
    private var pausedAt: UInt64 = 0

    init(_ limits: PreRoll.Limits) {
        preRoll = PreRoll(limits)
    }

    /// - Parameters:
    ///   - now: CLOCK_MONOTONIC, nanoseconds, as all instants.
    ///   - isOpen: whether what is captured at an instant is to be recorded.
    mutating func take(_ event: MediaEvent, at now: UInt64, isOpen: (_ instant: UInt64) -> Bool) -> Step {
        guard case .accessUnit(var unit) = event else {
            preRoll.take(event, at: now)
            return isRecording ? .write([event]) : .hold
        }
        let instant = min(max(unit.captureInstant ?? now, now - min(now, Self.longestWay)), now)
        // A recording is named after it, and is written later than it came.
        unit.captureInstant = instant
        let event = MediaEvent.accessUnit(unit)
        guard isRecording else {
            preRoll.take(event, at: instant)
            // What waited behind a slow disk may have had its event meanwhile.
            return isOpen(now) || instant > pausedAt && isOpen(instant) ? begin() : .hold
        }
        guard !isOpen(instant), !isOpen(now) else {
            closedAt = nil
            return .write([event])
        }
        let closed = closedAt ?? instant
        closedAt = closed
        let isGroupOver = unit.track.isVideo && unit.isKeyFrame
        guard isGroupOver || now - min(closed, now) >= Self.patience else { return .write([event]) }
        end(at: instant)
        preRoll.take(event, at: instant)
        return .pause(before: isGroupOver ? unit.decodeTime : nil)
    }

    /// What is due without a frame.
    mutating func tick(at now: UInt64, isOpen: (_ instant: UInt64) -> Bool) -> Step {
        guard isRecording else {
            preRoll.trim(at: now)
            return isOpen(now) ? begin() : .hold
        }
        guard !isOpen(now) else { return .hold }
        let closed = closedAt ?? now
        closedAt = closed
        guard now - min(closed, now) >= Self.patience else { return .hold }
        end(at: now)
        return .pause(before: nil)
    }

    private mutating func begin() -> Step {
        isRecording = true
        return .write(preRoll.takeAll())
    }

    private mutating func end(at instant: UInt64) {
        isRecording = false
        pausedAt = instant
        closedAt = nil
    }
}
