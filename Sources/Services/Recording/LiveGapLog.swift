internal import Archive

/// When what is recorded did not get to the relay. Of this process by CLOCK_MONOTONIC, so that a clock that is set later makes it right;
/// of those before it as they wrote it down.
struct LiveGapLog: Equatable, Sendable {
    private struct Gap: Equatable {
        /// Nanoseconds.
        var from: UInt64
        var to: UInt64?

        var isShort: Bool { to.map { $0 - from <= LiveGapLog.tolerance } ?? false }
    }

    /// Of earlier processes. Nil: not read yet.
    private var former: [LiveGap]?
    /// Of this one, in their order, the last of them may be open.
    private var own: [Gap]
    /// When something got to a relay first: then what was not over when the process before this one ended is over.
    private var firstLive: UInt64?
    /// Something may be other than what was kept.
    private(set) var isChanged = true

    /// At first nothing gets to a relay.
    init(at now: UInt64) {
        own = [Gap(from: now, to: nil)]
    }

    var needsFormer: Bool { former == nil }

    mutating func take(former gaps: [LiveGap]) {
        former = gaps
    }

    mutating func published(_ isLive: Bool, from instant: UInt64) {
        let last = own.indices.last
        if isLive {
            guard let last, own[last].to == nil else { return }
            own[last].to = max(instant, own[last].from)
            firstLive = firstLive ?? own[last].to
        } else {
            guard last.map({ own[$0].to != nil }) ?? true else { return }
            let begin = max(instant, last.flatMap { own[$0].to } ?? 0)
            if let last, let end = own[last].to, begin - end < Self.shortestLive, !own[last].isShort {
                // A relay that comes and goes: one gap that lasts, rather than many.
                own[last].to = nil
            } else {
                // One that is none takes no other's place.
                if let last, own[last].isShort { own.removeLast() }
                own.append(Gap(from: begin, to: nil))
            }
            if own.count > RecordingDirectory.maxLiveGaps { own.removeFirst() }
        }
        isChanged = true
    }

    /// Clocks were set: what was kept says other times.
    mutating func clockChanged() { isChanged = true }

    mutating func kept() { isChanged = false }

    /// One began so short a time ago that it may be none.
    func isUndecided(at now: UInt64) -> Bool {
        guard let last = own.last, last.to == nil else { return false }
        return now < last.from || now - last.from <= Self.tolerance
    }

    /// What there is to be kept: gaps that are longer than what is none.
    ///
    /// - Parameters:
    ///   - oldest: when the first recording begins: what was over before it is nobody's business any more; nil: there is none.
    ///   - wall: milliseconds since 1970 at an instant of CLOCK_MONOTONIC.
    func gaps(since oldest: Int64?, at now: UInt64, wall: (UInt64) -> Int64) -> [LiveGap] {
        guard let oldest else { return [] }
        var gaps = former ?? []
        var own = (isUndecided(at: now) ? own.dropLast() : own[...])
            .filter { !$0.isShort }.map { LiveGap(from: wall($0.from), to: $0.to.map(wall)) }
        if let open = gaps.indices.last, gaps[open].to == nil {
            if let end = firstLive.map(wall) {
                // One that would begin later was written by a clock that was ahead.
                if end > gaps[open].from {
                    gaps[open].to = end
                    own.removeAll { $0.to.map { $0 <= end } ?? false }
                } else {
                    gaps.removeLast()
                }
            } else {
                own = []
            }
        }
        return (gaps + own).filter { gap in gap.to.map { $0 > gap.from && $0 > oldest } ?? true }
    }

    /// Nanoseconds: a gap that is no longer is none.
    private static let tolerance = UInt64(RecordingSpans.tolerance) * 1_000_000
    /// Nanoseconds: a relay that is there for so short a time was not there.
    private static let shortestLive: UInt64 = 1_000_000_000
}
