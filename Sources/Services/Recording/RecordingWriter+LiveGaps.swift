internal import Archive
internal import Platform

extension RecordingWriter {
    /// Between two times that gaps are written: a relay that comes and goes wears no card.
    private static let liveGapsDelay: UInt64 = 10_000_000_000
    /// Beside that, after one that failed: nothing depends on it.
    private static let liveGapsRetry: UInt64 = 600_000_000_000

    /// Writes down when what is recorded did not get to the relay. What fails is tried again: recordings do not depend on it.
    ///
    /// - Parameter isLast: no more will come.
    func keepLiveGaps(isLast: Bool = false) {
        guard lock != nil else { return }
        if live.needsFormer {
            keptLiveGaps = settings.directory.liveGaps()
            live.take(former: keptLiveGaps)
        }
        let now = system.monotonic()
        guard live.isChanged, isLast || (liveKeptAt.map { elapsed(since: $0, at: now) >= Self.liveGapsDelay } ?? true)
        else { return }
        // The first in their order may be of a clock that was ahead.
        let oldest = index.lazy.map(\.name.begin).min() ?? open.map { wall(at: $0.captured) }
        let gaps = live.gaps(since: oldest, at: now) { wall(at: $0) }
        if !Self.areSame(gaps, keptLiveGaps) {
            liveKeptAt = now
            let isKept: Void? = try? changing { () throws(RecordingFault) in
                do throws(FileFailure) { try settings.directory.keep(gaps) } catch { throw .directory(error) }
            }
            guard isKept != nil else {
                liveKeptAt = now + Self.liveGapsRetry
                return
            }
            keptLiveGaps = gaps
        }
        // With the first recording there is something to be said of it.
        if oldest != nil, !live.isUndecided(at: now) { live.kept() }
    }

    /// Two clocks, read one after the other, give the same instant a millisecond more or less.
    private static func areSame(_ gaps: [LiveGap], _ kept: [LiveGap]) -> Bool {
        gaps.count == kept.count
            && zip(gaps, kept).allSatisfy { one, other in
                abs(one.from - other.from) <= 1000 && (one.to == nil) == (other.to == nil)
                    && abs((one.to ?? 0) - (other.to ?? 0)) <= 1000
            }
    }
}
