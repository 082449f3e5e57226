internal import CameraModel

/// Whether a camera is to be recorded at an instant: what happens goes in, the decision comes out. Without I/O.
///
/// Instants are of CLOCK_MONOTONIC, in nanoseconds: a clock that is set moves nothing.
struct EventGate: Equatable, Sendable {
    struct Settings: Equatable, Sendable {
        /// What the camera reports counts.
        var takesSensors = true
        /// Nanoseconds after an event, or after its end, that are recorded.
        var after: UInt64 = 30_000_000_000
        /// Nanoseconds after the last word of an event that does not end: some cameras never say that it has.
        var longest: UInt64 = 600_000_000_000
    }

    /// What a camera reports for each of its own inputs, rules and video sources.
    private struct Source: Hashable {
        var kind: SensorEvent.Kind
        var name: String?
    }

    /// Events that last, of one camera; more are taken as moments.
    static let maxLasting = 32
    /// Nanoseconds that a mark may ask for.
    static let longestMark: UInt64 = 3_600_000_000_000

    /// The newest event.
    private(set) var last: (cause: RecordingStatistics.Event.Cause, instant: UInt64)?

    private let settings: Settings
    /// Events that have begun and not ended, and when they are given up.
    private var lasting: [Source: UInt64] = [:]
    /// What is over is recorded until then.
    private var end: UInt64 = 0
    private var isScheduled = false

    init(_ settings: Settings) {
        self.settings = settings
    }

    static func == (left: EventGate, right: EventGate) -> Bool {
        left.settings == right.settings && left.lasting == right.lasting && left.end == right.end
            && left.isScheduled == right.isScheduled && left.last?.cause == right.last?.cause
            && left.last?.instant == right.last?.instant
    }

    func isOpen(at instant: UInt64) -> Bool {
        isScheduled || instant < end || lasting.values.contains { instant < $0 }
    }

    /// The camera reports something.
    mutating func sensed(_ event: SensorEvent, at now: UInt64) {
        guard settings.takesSensors else { return }
        let source = Source(kind: event.kind, name: event.source)
        switch event.isActive {
        case false?:
            // Cameras repeat that nothing moves.
            guard let limit = lasting.removeValue(forKey: source), now < limit else { return }
            extend(to: Self.sum(now, settings.after))
        case true?:
            lasting = lasting.filter { now < $0.value }
            if lasting.count < Self.maxLasting || lasting[source] != nil {
                lasting[source] = Self.sum(now, settings.longest)
            } else {
                extend(to: Self.sum(now, settings.after))
            }
            last = (.init(event.kind), now)
        case nil:
            extend(to: Self.sum(now, settings.after))
            last = (.init(event.kind), now)
        }
    }

    /// Somebody asks for it.
    ///
    /// - Parameter duration: nanoseconds from now on; nil: as after an event.
    mutating func mark(for duration: UInt64?, at now: UInt64) {
        extend(to: Self.sum(now, min(duration ?? settings.after, Self.longestMark)))
        last = (.mark, now)
    }

    /// - Parameter isInside: one of the camera's spans is now.
    mutating func schedule(_ isInside: Bool, at now: UInt64) {
        if isInside, !isScheduled { last = (.schedule, now) }
        // What was captured in it, and is looked at later, was in it all the same.
        if !isInside, isScheduled { extend(to: now) }
        isScheduled = isInside
    }

    private mutating func extend(to instant: UInt64) { end = max(end, instant) }

    private static func sum(_ instant: UInt64, _ duration: UInt64) -> UInt64 {
        let (sum, overflow) = instant.addingReportingOverflow(duration)
        return overflow ? .max : sum
    }
}

extension RecordingStatistics.Event.Cause {
    init(_ kind: SensorEvent.Kind) {
        self =
            switch kind {
            case .motion: .motion
            case .tamper: .tamper
            case .digitalInput: .digitalInput
            }
    }
}
