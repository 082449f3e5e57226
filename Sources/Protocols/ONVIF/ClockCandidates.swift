/// What a camera's clock may show, by each source that there is, in the order in which they are tried.
public struct ClockCandidates: Equatable, Sendable {
    public struct Reading: Equatable, Sendable {
        public var candidate: ClockCandidate
        /// The camera's time minus ours, in milliseconds.
        public var offset: Int64

        public init(candidate: ClockCandidate, offset: Int64) {
            self.candidate = candidate
            self.offset = offset
        }
    }

    /// In the order of `ClockCandidate`; the own clock always comes last.
    public private(set) var readings: [Reading]

    /// - Parameters:
    ///   - answer: nil when the camera did not report its time.
    ///   - date: the newest Date header of the camera.
    ///   - own: our time when it answered, in milliseconds since 1970: best the middle between question and answer.
    public init(answer: SystemDateAndTime?, date: String?, own: Int64) {
        readings = []
        if let utc = answer?.utc { add(.utc, utc.secondsSince1970 * 1000, own) }
        if let date, let milliseconds = TimeText.httpDate(date) { add(.httpDate, milliseconds, own) }
        if let local = answer?.local {
            if let zone = answer?.zone.flatMap({ POSIXTimeZone($0) }) {
                let seconds = zone.utcSeconds(ofLocal: local, isDaylight: answer?.isDaylight ?? false)
                add(.localWithZone, seconds * 1000, own)
            }
            add(.localAsUTC, local.secondsSince1970 * 1000, own)
        }
        readings.append(Reading(candidate: .own, offset: 0))
    }

    private mutating func add(_ candidate: ClockCandidate, _ milliseconds: Int64, _ own: Int64) {
        let (offset, overflow) = milliseconds.subtractingReportingOverflow(own)
        if !overflow { readings.append(Reading(candidate: candidate, offset: offset)) }
    }

    /// Those that differ, from this candidate on and then those before it: what agrees within two seconds with one before
    /// would be refused again, and each refusal counts where accounts lock.
    public func distinct(first: ClockCandidate?) -> [Reading] {
        let begin = readings.firstIndex { $0.candidate == first } ?? 0
        var kept: [Reading] = []
        for reading in readings[begin...] + readings[..<begin]
        where !kept.contains(where: { ($0.offset - 2000...$0.offset + 2000).contains(reading.offset) }) {
            kept.append(reading)
        }
        return kept
    }
}
