/// Which synchronization source (SSRC) a track follows, where packets of several come.
///
/// A camera's old session may still send on a new connection, and sources are restarted with another SSRC: the one that
/// the Transport header names wins as soon as it comes, until then the first one, until it has been silent or has said
/// goodbye. Nothing waits for the named one: cameras name sources that do not exist, and PLAY brings the key frame.
struct SourceSelection: Sendable {
    enum Verdict: Equatable {
        case followed
        /// From now on this one; `replaces` another one that was followed.
        case chosen(replaces: Bool)
        case other
    }

    /// Half a second, in nanoseconds.
    static let timeout: UInt64 = 500_000_000
    /// The silence that ends a source which the Transport header named: frames may come once a second or less.
    static let namedTimeout: UInt64 = 3_000_000_000

    private let hint: UInt32?
    private(set) var current: UInt32?
    private var lastPacket: UInt64 = 0
    private var leftAt: UInt64?

    init(hint: UInt32?) {
        // Cameras that do not know it yet write zero.
        self.hint = hint == 0 ? nil : hint
    }

    var hasLeft: Bool { leftAt != nil }

    mutating func classify(_ source: UInt32, at now: UInt64) -> Verdict {
        if source == current {
            lastPacket = now
            // What was still under way when the source said goodbye does not take it back.
            if let left = leftAt, now &- left > Self.timeout { leftAt = nil }
            return .followed
        }
        guard mayChange(to: source, at: now) else { return .other }
        let replaces = current != nil
        current = source
        lastPacket = now
        leftAt = nil
        return .chosen(replaces: replaces)
    }

    private mutating func mayChange(to source: UInt32, at now: UInt64) -> Bool {
        if source == hint || current == nil { return true }
        return hasLeft || now &- lastPacket >= (current == hint ? Self.namedTimeout : Self.timeout)
    }

    mutating func left(_ source: UInt32, at now: UInt64) {
        if source == current, leftAt == nil { leftAt = now }
    }

    /// Whether a report of this source is about the stream that is followed, or will be.
    func concerns(_ source: UInt32) -> Bool {
        if let current { return source == current }
        return source == hint
    }
}
