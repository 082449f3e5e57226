/// Lets access units through only while all that they refer to went through as well: after one that is missing or
/// damaged, the next ones would be smeared at every viewer until a key frame.
struct ReferenceGate: Equatable, Sendable {
    private(set) var isOpen = false
    private var last: UInt32?
    private var askedAt: UInt64?
    private var shutSince: UInt64?

    /// Frames that were held back.
    private(set) var withheld: UInt64 = 0
    /// Times that it closed for a frame that was lost.
    private(set) var breaks: UInt64 = 0

    /// Nanoseconds between two requests for a key frame: a camera may take its time.
    static let askInterval: UInt64 = 1_000_000_000
    /// Nanoseconds without a key frame after which the stream is begun again, which makes encoders begin with one:
    /// those of USB cameras encode endless groups where they are asked to, and may know no request.
    static let longestShut: UInt64 = 12_000_000_000

    /// The driver begins to count again, and with frames of which the first was not seen.
    mutating func streamBegan() {
        isOpen = false
        last = nil
        askedAt = nil
        shutSince = nil
    }

    /// A frame was lost in another way than by the driver's count: damaged, or unreadable.
    mutating func frameLost() {
        if isOpen { breaks += 1 }
        isOpen = false
    }

    /// - Parameter sequence: the driver's count. One that always says the same does not count.
    mutating func admits(sequence: UInt32, isKeyFrame: Bool) -> Bool {
        if let last, sequence != last, sequence != last &+ 1 { frameLost() }
        last = sequence
        if isKeyFrame { isOpen = true }
        if !isOpen { withheld += 1 }
        return isOpen
    }

    /// Whether frames come and no key frame among them, for too long. To be asked with each frame.
    /// - Parameter now: CLOCK_MONOTONIC, nanoseconds.
    mutating func isStarved(at now: UInt64) -> Bool {
        guard !isOpen else {
            shutSince = nil
            return false
        }
        let since = shutSince ?? now
        shutSince = since
        return now &- since >= Self.longestShut
    }

    /// Whether the camera is to be asked for a key frame now.
    /// - Parameter now: CLOCK_MONOTONIC, nanoseconds.
    mutating func asks(at now: UInt64) -> Bool {
        guard !isOpen, askedAt.map({ now &- $0 >= Self.askInterval }) ?? true else { return false }
        askedAt = now
        return true
    }
}
