public import Media

/// Sees what a source delivers, beside the stream to the relay: coded formats and frames, in the source's order, whether a relay is
/// there or not. On the source's threads, which it must not block.
public protocol FrameObserver: Sendable {
    func observed(_ event: MediaEvent)
    /// No more will come.
    func ended()
    /// Whether what is delivered gets to the relay, each time that this is another than before; at first it does not. Not on the source's
    /// threads.
    ///
    /// - Parameter instant: CLOCK_MONOTONIC in nanoseconds, as frames were captured: the first that gets there, or up to which the relay is
    ///   known to have them.
    func published(_ isLive: Bool, from instant: UInt64)
}

extension FrameObserver {
    public func published(_ isLive: Bool, from instant: UInt64) {}
}
