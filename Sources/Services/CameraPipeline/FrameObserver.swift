public import Media

/// Sees what a source delivers, beside the stream to the relay: coded formats and frames, in the source's order, whether a relay is
/// there or not. On the source's threads, which it must not block.
public protocol FrameObserver: Sendable {
    func observed(_ event: MediaEvent)
    /// No more will come.
    func ended()
}
