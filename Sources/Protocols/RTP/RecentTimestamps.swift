/// The RTP times of the newest packets, as many as can be overtaken.
struct RecentTimestamps: Sendable {
    private static let limit = 100

    /// A ring, once it is full.
    private var timestamps: [UInt32] = []
    private var next = 0
    private var newest: UInt32 = 0

    var count: Int { timestamps.count }

    mutating func insert(_ timestamp: UInt32) {
        newest = timestamp
        guard timestamps.count == Self.limit else {
            timestamps.append(timestamp)
            return
        }
        timestamps[next] = timestamp
        next = (next + 1) % Self.limit
    }

    /// Whether it lies between the earliest and the latest.
    func covers(_ timestamp: UInt32) -> Bool {
        let distance = Int32(bitPattern: timestamp &- newest)
        var (earliest, latest) = (Int32(0), Int32(0))
        for other in timestamps {
            let distance = Int32(bitPattern: other &- newest)
            earliest = min(earliest, distance)
            latest = max(latest, distance)
        }
        return !timestamps.isEmpty && distance >= earliest && distance <= latest
    }
}
