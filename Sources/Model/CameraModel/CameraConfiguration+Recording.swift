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

        public init(
            directory: String, maxBytes: Int64 = 8_000_000_000, maxDays: Double = 30,
            minFreeBytes: Int64 = 1_000_000_000, keyCacheFile: String? = nil
        ) {
            self.directory = directory
            self.maxBytes = maxBytes
            self.maxDays = maxDays
            self.minFreeBytes = minFreeBytes
            self.keyCacheFile = keyCacheFile
        }
    }

    /// When a camera is recorded.
    public enum RecordingMode: String, Codable, Sendable, CaseIterable {
        case off
        case continuous
    }
}

extension CameraConfiguration.Recording {
    static let bytes: ClosedRange<Int64> = 100_000_000...1_000_000_000_000_000
    static let days = 0.01...36_500.0
    static let freeBytes: ClosedRange<Int64> = 100_000_000...1_000_000_000_000_000

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
    }
}
