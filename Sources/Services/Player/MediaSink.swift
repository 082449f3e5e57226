public import Media

/// Where what was opened goes. Used by one thread at a time.
public protocol MediaSink: AnyObject {
    /// Takes formats and units in order.
    func consume(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?) throws(ViewerError)

    /// Completes the output. Called once.
    func finish() throws(ViewerError)

    /// Nothing more is needed: the reader of a pipe has gone, or the one frame was taken.
    var isSatisfied: Bool { get }

    /// Units that came and have no place in this output.
    var ignoredUnits: UInt64 { get }

    /// Callable from any thread: the end has come, a reader that takes nothing is not waited for.
    var abandon: @Sendable () -> Void { get }
}

extension MediaSink {
    public var isSatisfied: Bool { false }
    public var ignoredUnits: UInt64 { 0 }
    public var abandon: @Sendable () -> Void { {} }
}
