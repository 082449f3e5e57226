/// Presentation times that step back: pictures come in decoding order, and B pictures are shown before ones that came
/// earlier. How many can overtake one is learned from the stream.
struct PictureOrder: Sendable {
    /// No camera's encoder looks further ahead.
    private static let depthLimit = 4
    private static let recentCount = 16
    /// 10 s, in nanoseconds.
    private static let memory: Int64 = 10_000_000_000

    /// How many pictures can come before one that is shown earlier.
    private var depth = 0
    /// The same of the current `memory` alone: what is not needed any more is given up.
    private var recentDepth = 0
    private var windowBegin: Int64?
    /// The newest units' ticks, a ring.
    private var recent = [Int64](repeating: .min, count: recentCount)
    private var next = 0
    private var belowHighest = 0
    private(set) var highest = Int64.min
    /// The latest presentation times, sorted; one more than `depth`.
    private var latest: [Int64] = []

    init() {}

    /// A new timeline of the same encoder, which goes on as before.
    init(behind order: PictureOrder) {
        depth = order.depth
    }

    /// Whether a unit that steps back is a picture shown earlier, and not a clock that was set back.
    mutating func explains(_ ticks: Int64) -> Bool {
        let overtaken = recent.count { $0 > ticks }
        guard overtaken <= Self.depthLimit, belowHighest < Self.recentCount else { return false }
        depth = max(depth, overtaken)
        recentDepth = max(recentDepth, overtaken)
        return true
    }

    mutating func passed(_ ticks: Int64) {
        recent[next] = ticks
        next = (next + 1) % Self.recentCount
        if ticks >= highest {
            highest = ticks
            belowHighest = 0
        } else {
            belowHighest += 1
        }
    }

    /// When a decoder must take this picture: the n-th time in presentation order is that of the n-th in decoding
    /// order, `depth` pictures later.
    mutating func decodeTime(presentation: Int64) -> Int64 {
        if presentation - (windowBegin ?? presentation) >= Self.memory {
            depth = min(depth, recentDepth)
            recentDepth = 0
            windowBegin = presentation
        }
        windowBegin = windowBegin ?? presentation
        latest.insert(presentation, at: latest.firstIndex { $0 > presentation } ?? latest.count)
        if latest.count > depth + 1 { latest.removeFirst(latest.count - depth - 1) }
        return latest[0]
    }

    /// What follows is given times on another scale.
    mutating func forgetTimes() {
        latest = []
        windowBegin = nil
    }

    /// All times were moved.
    mutating func moved(by distance: Int64) {
        for index in latest.indices { latest[index] += distance }
        windowBegin = windowBegin.map { $0 + distance }
    }
}
