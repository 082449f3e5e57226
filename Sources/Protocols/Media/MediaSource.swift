/// Where media come from: a camera of this machine or of the network, a file, a test pattern.
public protocol MediaSource: AnyObject, Sendable {
    /// Runs on a thread of the caller's until `stop()`, the end of the medium, or an error; it may block.
    ///
    /// - Parameter deliver: takes each event, in order, on that thread. A format comes before the first access unit
    ///   that needs it.
    func run(_ deliver: @escaping @Sendable (MediaEvent) -> Void) throws(MediaSourceError)

    /// From any thread; `run` returns within 200 ms.
    func stop()

    /// Asks for a frame that a decoder can begin with, as soon as the source can make one. A source that passes
    /// encoded frames through cannot, and ignores it. From any thread.
    func requestKeyFrame()
}

/// Why a source ended before its time, as the text that a person sees.
public struct MediaSourceError: Error, Equatable, Sendable, CustomStringConvertible {
    /// What happened: "cannot open clip.mp4".
    public var what: String
    /// Why: "no such file".
    public var why: String
    /// What to do next: "check the path".
    public var hint: String

    public init(what: String, why: String, hint: String) {
        self.what = what
        self.why = why
        self.hint = hint
    }

    public var description: String { "\(what): \(why). \(hint)" }
}
