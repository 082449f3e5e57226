import Archive

/// Which recordings a page of thumbnails shows: those that begin in the time, and of each part of the clock the first.
struct ThumbnailPlan: Equatable {
    /// Where two recordings that follow each other do not go on into each other: nothing is recorded in between, or the clock was set back.
    struct Break: Equatable {
        /// Milliseconds since 1970: where one ends, and where the next begins.
        var from: Int64
        var to: Int64

        var isGap: Bool { to > from }
    }

    struct Tile: Equatable {
        /// Among the recordings.
        var index: Int
        /// Behind the tile before it, whether what lies between has a tile or not.
        var breaks: [Break]
    }

    /// There would be more pictures than a page has.
    struct TooMany: Error, Equatable {
        var count: Int
        /// Seconds that would do.
        var enough: Int64
    }

    /// Pictures of a page, which are some megabytes.
    static let most = 500
    /// Seconds that people count in; longer ones are days, twice as many each time.
    private static let steps: [Int64] = [
        60, 120, 180, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
    ]

    /// Seconds by this machine's clock of which there is one picture at most; nil: each recording has one.
    let every: Int64?
    let tiles: [Tile]
    /// Behind the last of them.
    let trailing: [Break]

    /// - Parameters:
    ///   - recordings: when each begins and ends, in milliseconds since 1970, in the order in which they were made.
    ///   - from: what begins before it is only taken when nothing else is there: a picture is of where its recording begins.
    ///   - every: seconds, 1 at least; nil: as many as it takes for a page.
    init(
        _ recordings: [(begin: Int64, end: Int64)], from: Int64, every: Int64?, clock: LocalClock
    ) throws(TooMany) {
        var candidates = recordings.indices.filter { recordings[$0].begin >= from }
        if candidates.isEmpty { candidates = Array(recordings.indices) }
        let places = candidates.map { index in
            let instant = recordings[index].begin / 1000
            return (index: index, local: max(0, instant + clock.zone(instant).offset))
        }
        func chosen(_ seconds: Int64) -> [Int] {
            var parts: Set<Int64> = []
            return places.compactMap { parts.insert($0.local / seconds).inserted ? $0.index : nil }
        }
        func enough(_ least: Int64) -> (seconds: Int64, chosen: [Int]) {
            for step in Self.steps where step >= least {
                let found = chosen(step)
                if found.count <= Self.most { return (step, found) }
            }
            // Names have the years to 9999: 8192 days are enough.
            var step = 2 * Self.steps[Self.steps.count - 1]
            while true {
                let found = chosen(step)
                if step >= least, found.count <= Self.most { return (step, found) }
                step *= 2
            }
        }
        let found: [Int]
        if let every {
            found = chosen(every)
            self.every = every
            guard found.count <= Self.most else { throw TooMany(count: found.count, enough: enough(every).seconds) }
        } else if candidates.count <= Self.most {
            found = candidates
            self.every = nil
        } else {
            (self.every, found) = enough(0)
        }
        var tiles: [Tile] = []
        tiles.reserveCapacity(found.count)
        for index in found {
            let breaks = (tiles.last.map { $0.index + 1 } ?? index + 1)..<(index + 1)
            tiles.append(Tile(index: index, breaks: breaks.compactMap { Self.break(recordings, before: $0) }))
        }
        self.tiles = tiles
        let behind = tiles.last.map { $0.index + 1 } ?? recordings.count
        trailing = (behind..<recordings.count).compactMap { Self.break(recordings, before: $0) }
    }

    private static func `break`(_ recordings: [(begin: Int64, end: Int64)], before index: Int) -> Break? {
        let (from, to) = (recordings[index - 1].end, recordings[index].begin)
        return RecordingSpans.found(between: from, and: to).map { _ in Break(from: from, to: to) }
    }
}
