/// Some milliseconds of audio, as the device gave them.
public struct AudioBlock: Equatable, Sendable {
    /// −1…1, the channels of one instant side by side.
    public var samples: [Float]
    /// When the first sample was heard: CLOCK_MONOTONIC in nanoseconds.
    public var instant: UInt64
    /// The stream was started again before this block: samples are missing between it and the one before.
    public var isAfterRestart = false
}
