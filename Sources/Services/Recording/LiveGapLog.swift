internal import Archive

/// When what is recorded did not get to the relay. Of this process by CLOCK_MONOTONIC, so that a clock that is set later makes it right;
/// of those before it as they wrote it down.
struct LiveGapLog: Equatable, Sendable {
    private struct Gap: Equatable {
        /// Nanoseconds.
        var from: UInt64
        var to: UInt64?
    }

    /// Of earlier processes. Nil: not read yet.
    private var former: [LiveGap]?
    /// Of this one, the last of them may be open.
    private var own: [Gap]
    /// Something is other than what was kept.
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
        if isLive {
            guard let last = own.indices.last, own[last].to == nil else { return }
            own[last].to = max(instant, own[last].from)
        } else {
            guard own.last.map({ $0.to != nil }) ?? true else { return }
            let begin = max(instant, own.last?.to ?? 0)
            // A relay that comes and goes: one gap that lasts, rather than many.
            if let last = own.indices.last, let end = own[last].to, begin - end < Self.seam {
                own[last].to = nil
            } else {
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
        return now < last.from || now - last.from <= UInt64(RecordingSpans.tolerance) * 1_000_000
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
            .map { LiveGap(from: wall($0.from), to: $0.to.map(wall)) }
        // What was not over when the process before this one ended went on until this one published.
        if let open = gaps.indices.last, gaps[open].to == nil, let first = own.first {
            gaps[open].to = first.to
            if let end = first.to, end <= gaps[open].from { gaps[open] = first }
            own.removeFirst()
        }
        gaps += own
        return gaps.filter { gap in
            guard let end = gap.to else { return true }
            return end - gap.from > RecordingSpans.tolerance && end > oldest
        }
    }

    /// Nanoseconds: a relay that is there for so short a time was not there.
    private static let seam: UInt64 = 1_000_000_000
}
