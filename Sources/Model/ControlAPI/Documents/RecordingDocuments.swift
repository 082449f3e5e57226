/// What became of a mark.
public struct RecordingMarkDocument: Codable, Equatable, Sendable {
    /// False: the camera is recorded all the time, and what was to be marked is recorded as it is.
    public var isMarked: Bool

    public init(isMarked: Bool) {
        self.isMarked = isMarked
    }
}

/// What happens at a camera now is to be recorded.
public struct RecordingMarkRequest: Codable, Equatable, Sendable {
    /// Of `seconds`.
    public static let range = 1.0...3600.0

    /// From now on; nil: as long as after any other event (`record_after`).
    public var seconds: Double?

    public init(seconds: Double? = nil) {
        self.seconds = seconds
    }

    /// A duration that can be meant.
    public var isPossible: Bool { seconds.map(Self.range.contains) ?? true }
}
