extension CameraConfiguration {
    /// What of a camera is kept on the box, sealed for the KAS from its first byte on.
    public struct Recording: Codable, Equatable, Sendable {
        /// Of this camera alone.
        public var directory: String
        /// Bytes that all recordings of the camera may take together.
        public var maxBytes: Int64
        /// Age in days at which a recording goes.
        public var maxDays: Double
        /// Bytes that stay free on the file system, whoever else writes to it.
        public var minFreeBytes: Int64
        /// The last good key of the KAS is kept here, for a start without the KAS; nil: it is not.
        public var keyCacheFile: String?
        /// Base64 of the SubjectPublicKeyInfo of an RSA key that opens what is recorded, beside the KAS; nil: the KAS alone does.
        public var recoveryKey: String?
        /// When it is recorded; nil: all the time.
        public var occasions: Occasions?

        public init(
            directory: String, maxBytes: Int64 = 8_000_000_000, maxDays: Double = 30,
            minFreeBytes: Int64 = 1_000_000_000, keyCacheFile: String? = nil, recoveryKey: String? = nil,
            occasions: Occasions? = nil
        ) {
            self.directory = directory
            self.maxBytes = maxBytes
            self.maxDays = maxDays
            self.minFreeBytes = minFreeBytes
            self.keyCacheFile = keyCacheFile
            self.recoveryKey = recoveryKey
            self.occasions = occasions
        }

        /// What a camera is recorded for, when that is not all the time: marks of a person or a program are always one.
        public struct Occasions: Codable, Equatable, Sendable {
            /// What the camera reports: motion, tampering, an input.
            public var sensors: Bool
            /// Seconds before an event that are recorded with it, from memory.
            public var before: Double
            /// Seconds after an event.
            public var after: Double
            /// Spans that are recorded whole.
            public var schedule: [WeekSpan]

            public init(sensors: Bool = true, before: Double = 10, after: Double = 30, schedule: [WeekSpan] = []) {
                self.sensors = sensors
                self.before = before
                self.after = after
                self.schedule = schedule
            }
        }
    }

    /// When a camera is recorded.
    public enum RecordingMode: String, Codable, Sendable, CaseIterable {
        case off
        case continuous
        /// Around what the camera or somebody else reports.
        case events
    }
}

extension CameraConfiguration.Recording {
    static let bytes: ClosedRange<Int64> = 100_000_000...1_000_000_000_000_000
    static let days = 0.01...36_500.0
    static let freeBytes: ClosedRange<Int64> = 100_000_000...1_000_000_000_000_000
    /// Seconds before and after an event.
    public static let before = 0.0...60.0
    public static let after = 1.0...600.0

    func validate(_ expect: (_ holds: Bool, _ field: String, _ reason: String, _ hint: String) -> Void) {
        expect(
            directory.hasPrefix("/"), "recording.directory", "is not an absolute path", "Name a directory by its path")
        expect(
            Self.bytes.contains(maxBytes), "recording.maxBytes", "is out of range",
            "Use 100 megabytes to 1000 terabytes")
        expect(Self.days.contains(maxDays), "recording.maxDays", "is out of range", "Use 0.01 to 36500 days")
        expect(
            Self.freeBytes.contains(minFreeBytes), "recording.minFreeBytes", "is out of range",
            "Use 100 megabytes to 1000 terabytes")
        guard let occasions else { return }
        expect(Self.before.contains(occasions.before), "recording.before", "is out of range", "Use 0 to 60 seconds")
        expect(Self.after.contains(occasions.after), "recording.after", "is out of range", "Use 1 to 600 seconds")
        expect(
            occasions.schedule.count <= WeekSpan.countLimit, "recording.schedule",
            "has more than \(WeekSpan.countLimit) entries", "Take some out")
    }
}
