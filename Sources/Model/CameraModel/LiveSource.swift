public import ErrorCatalog
public import Media

/// A source with a camera and an encoder of its own, which can be looked at and changed while it runs. From any thread.
public protocol LiveSource: MediaSource {
    var capture: CaptureStatistics { get }

    /// - Throws: WB-1004 for what is out of range; then nothing changes.
    func change(_ change: VideoChange) throws(CodedError)
}
