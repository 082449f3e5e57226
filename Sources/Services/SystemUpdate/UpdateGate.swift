/// Whether a system that has just been installed is kept: the cameras that published before have to publish again, for a while and
/// without a gap, the store has to take what is written, and the watchdog has to be armed.
///
/// Without a verdict in time it is not kept. A relay that is away meanwhile counts against it: the old system is known to
/// publish, of the new one nothing is known, and an update can be installed again.
public struct UpdateGate: Sendable {
    /// What the box shows at one moment.
    public struct Observation: Sendable, Equatable {
        /// IDs of the cameras whose frames the relay acknowledges.
        public var publishing: Set<String>
        /// A file was written and flushed.
        public var isStoreWritable: Bool
        /// Nil on a board without one.
        public var isWatchdogArmed: Bool?
        /// Control answers: without it nothing is known of the cameras.
        public var isControlThere: Bool

        public init(publishing: Set<String>, isStoreWritable: Bool, isWatchdogArmed: Bool?, isControlThere: Bool) {
            self.publishing = publishing
            self.isStoreWritable = isStoreWritable
            self.isWatchdogArmed = isWatchdogArmed
            self.isControlThere = isControlThere
        }
    }

    public enum Verdict: Sendable, Equatable {
        /// With what it waits for.
        case waiting(String)
        case good
        case failed(String)
    }

    /// For how long all of it has to hold, and how long the whole may take.
    public static let hold = Duration.seconds(300)
    public static let limit = Duration.seconds(900)

    private let cameras: [String]
    private let hold: Duration
    private let limit: Duration
    private let begin: Duration
    /// Since when nothing is missing.
    private var wellSince: Duration?

    /// - Parameters:
    ///   - cameras: those that published before; with none, `hold` is not waited for.
    ///   - time: now, on a clock that only goes forward.
    public init(cameras: [String], hold: Duration = Self.hold, limit: Duration = Self.limit, at time: Duration) {
        self.cameras = cameras.sorted()
        self.hold = cameras.isEmpty ? .zero : hold
        self.limit = limit
        begin = time
    }

    public mutating func observed(_ observation: Observation, at time: Duration) -> Verdict {
        if let missing = Self.missing(observation, of: cameras) {
            wellSince = nil
            return time - begin >= limit ? .failed(missing) : .waiting(missing)
        }
        let since = wellSince ?? time
        wellSince = since
        if time - since >= hold { return .good }
        let left = (hold - (time - since)).components.seconds
        // What began in time may end: the limit is for what never begins.
        return time - begin >= limit + hold
            ? .failed("the cameras published, and not for long enough")
            : .waiting("all is well; it has to stay so for \(left) s more")
    }

    private static func missing(_ observation: Observation, of cameras: [String]) -> String? {
        guard observation.isControlThere else { return "control does not answer" }
        guard observation.isStoreWritable else { return "the store cannot be written" }
        // Without an update nothing is compared with what was before: a watchdog that never was is health's to tell.
        guard cameras.isEmpty || observation.isWatchdogArmed != false else { return "the watchdog is not armed" }
        let silent = cameras.filter { !observation.publishing.contains($0) }
        return silent.isEmpty ? nil : "not publishing, as before the update: \(silent.joined(separator: ", "))"
    }
}
