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
        /// What `next` gives is recorded, and what comes after it.
        case begin
        /// This one is recorded.
        case write
        /// What is recorded ends here, in front of a frame that is decoded then; nil: none is known.
        case pause(before: MediaTime?)
    }

    /// Nanoseconds that a key frame is waited for, once the gate is closed.
    private static let patience: UInt64 = 10_000_000_000
    /// A frame was not captured longer before it came than this, in nanoseconds, whatever its time says.
    private static let longestWay: UInt64 = 60_000_000_000

    private var preRoll: PreRoll
    /// What memory held when a recording began, the last one first.
    private var pending: [MediaEvent] = []
    private var isRecording = false
    /// When the first frame was captured that need not be recorded, and when that was seen; nil: all have to be.
    private var closed: (captured: UInt64, seen: UInt64)?
    /// When the frame was captured in front of which the last recording ended.
    private var pausedAt: UInt64 = 0

    init(_ limits: PreRoll.Limits) {
        preRoll = PreRoll(limits)
    }

    /// Access units that were to be recorded, and for which memory had no room until they could be.
    var lost: UInt64 { preRoll.lost }

    /// After `begin`, until it is nil: what memory holds, which is let go of here. It is taken before the next event comes.
    mutating func next() -> MediaEvent? { pending.popLast() }

    /// No more will come, and what memory holds will not be recorded.
    mutating func end() { preRoll.removeAll() }

    /// - Parameters:
    ///   - event: gets the instant that it counts for, if it has none that can be.
    ///   - now: CLOCK_MONOTONIC, nanoseconds, as all instants.
    ///   - canBegin: a recording could begin now; else what is to be recorded waits in memory.
    ///   - isOpen: whether what is captured at an instant is to be recorded.
    mutating func take(
        _ event: inout MediaEvent, at now: UInt64, canBegin: Bool = true, isOpen: (_ instant: UInt64) -> Bool
    ) -> Step {
        guard case .accessUnit(var unit) = event else {
            preRoll.take(event, at: now)
            return isRecording ? .write : .hold
        }
        let instant = min(max(unit.captureInstant ?? now, now - min(now, Self.longestWay)), now)
        // A recording is named after it, and is written later than it came.
        unit.captureInstant = instant
        event = .accessUnit(unit)
        guard isRecording else {
            // What waited behind a slow disk may have had its event meanwhile.
            let isWanted = isOpen(now) || instant > pausedAt && isOpen(instant)
            preRoll.isWanted = isWanted
            preRoll.take(event, at: instant)
            return isWanted && canBegin ? begin() : .hold
        }
        guard !isOpen(instant), !isOpen(now) else {
            closed = nil
            return .write
        }
        let since = closed ?? (captured: instant, seen: now)
        closed = since
        let isGroupOver = unit.track.isVideo && unit.isKeyFrame
        // By what is in the frames: of those that waited, many are looked at at once.
        guard isGroupOver || instant - min(since.captured, instant) >= Self.patience else { return .write }
        end(at: instant)
        preRoll.take(event, at: instant)
        return .pause(before: isGroupOver ? unit.decodeTime : nil)
    }

    /// What is due without a frame; never `write`.
    mutating func tick(at now: UInt64, canBegin: Bool = true, isOpen: (_ instant: UInt64) -> Bool) -> Step {
        guard isRecording else {
            let isWanted = isOpen(now)
            preRoll.isWanted = isWanted
            preRoll.trim(at: now)
            return isWanted && canBegin ? begin() : .hold
        }
        guard !isOpen(now) else { return .hold }
        let since = closed ?? (captured: now, seen: now)
        closed = since
        guard now - min(since.seen, now) >= Self.patience else { return .hold }
        end(at: now)
        return .pause(before: nil)
    }

    private mutating func begin() -> Step {
        isRecording = true
        pending = preRoll.takeAll()
        return .begin
    }

    private mutating func end(at instant: UInt64) {
        isRecording = false
        pausedAt = instant
        closed = nil
    }
}
