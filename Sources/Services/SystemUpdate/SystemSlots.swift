/// The two systems of a flashed box, of which one runs and the other takes the next update.
public struct SystemSlots: Codable, Sendable, Equatable {
    public struct System: Codable, Sendable, Equatable {
        /// A or B.
        public var name: String
        /// Nil for one that was never installed, and for the flashed one while it does not run.
        public var version: String?
        /// It is started when it is its turn; false after three starts in vain, and for an empty one.
        public var isGood: Bool
    }

    public var running: System
    public var other: System?
    /// The name of the one that is started next.
    public var next: String?

    init(_ report: SlotReport) {
        func system(_ system: SlotReport.System) -> System {
            System(name: system.name, version: system.version, isGood: system.isGood)
        }
        // The report's decoder has made sure that there is one.
        let booted = report.systems.first { $0.isBooted }
        running = booted.map(system) ?? System(name: report.booted, version: nil, isGood: false)
        other = report.systems.first { !$0.isBooted }.map(system)
        next = report.next
    }
}
