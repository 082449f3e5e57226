public import Media

/// Says which frames must be key frames, so that they come at a fixed distance in time whatever the frame rate
/// does.
///
/// It is notified of each frame that goes into an encoder and of each unit that comes out. A frame is due when it is
/// the one nearest to an interval after the last key frame. A key frame that was asked for and did not come is asked
/// for again: drivers have more than one setting for the distance, and libavcodec sets one of them only.
public struct KeyFrameClock: Equatable, Sendable {
    /// From one key frame to the next.
    public var interval: MediaTime

    /// Of the newest frame that was asked or seen to be a key frame; nil: the next frame is the first.
    private var lastKey: MediaTime?
    /// Of the frame that was asked to be a key frame and has not come out.
    private var asked: MediaTime?
    private var lastFrame: MediaTime?
    private var isRequested = false

    public init(interval: MediaTime) {
        self.interval = interval
    }

    /// The next frame must be a key frame.
    public mutating func request() {
        isRequested = true
    }

    /// An encoder begins, whose first frame is a key frame.
    public mutating func restart() {
        self = KeyFrameClock(interval: interval)
    }

    /// A frame goes into the encoder.
    ///
    /// - Returns: whether it must be a key frame.
    public mutating func sending(at time: MediaTime) -> Bool {
        defer { lastFrame = time }
        guard isRequested || isDue(at: time) else { return false }
        isRequested = false
        lastKey = time
        asked = time
        return true
    }

    /// A unit came out of the encoder.
    public mutating func received(at time: MediaTime, isKeyFrame: Bool) {
        if isKeyFrame, lastKey.map({ $0 < time }) ?? true { lastKey = time }
        guard let asked, time >= asked else { return }
        self.asked = nil
        // The encoder dropped the frame, or did not do as it was asked.
        if !isKeyFrame { isRequested = true }
    }

    private func isDue(at time: MediaTime) -> Bool {
        guard let lastKey else { return true }
        // Time that went back has begun again.
        guard time >= lastKey else { return true }
        let sinceKey = (time - lastKey).nanoseconds
        let step = lastFrame.map { max(0, (time - $0).nanoseconds) } ?? 0
        // The next frame would be farther from the due time than this one.
        return sinceKey.addingReportingOverflow(step / 2).overflow || sinceKey + step / 2 >= interval.nanoseconds
    }
}
