internal import Media
internal import VideoCodec

/// A source that makes its frames itself, and leaves out those that this machine has no time for.
protocol SkippingSource: MediaSource {
    /// Never less than before. From any thread.
    var skippedFrames: Int { get }
}

extension TestPatternSource: SkippingSource {}
