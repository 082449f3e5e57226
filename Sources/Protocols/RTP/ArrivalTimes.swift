/// Decode times from arrivals alone, for a camera whose time stamps mean nothing: evened out, never ahead of an arrival
/// and never more than 200 ms behind it.
struct ArrivalTimes: Sendable {
    /// 200 ms, in nanoseconds.
    private static let maxLateness: Int64 = 200_000_000
    /// 1 s: a pause is not a distance between units.
    private static let longestGap: Int64 = 1_000_000_000

    private var time: Double?
    private var arrival: Int64 = 0
    /// Mean distance between units, nanoseconds.
    private var distance: Double?

    init() {}

    mutating func next(arrival: Int64) -> Int64 {
        defer { self.arrival = arrival }
        guard let last = time else {
            time = Double(arrival)
            return arrival
        }
        let gap = Double(min(Self.longestGap, arrival - self.arrival))
        let mean = distance.map { $0 + (gap - $0) / 32 } ?? gap
        distance = mean
        let even = last + mean
        let closer = even + (Double(arrival) - even) / 8
        let result = max(Double(arrival - Self.maxLateness), min(Double(arrival), closer))
        time = result
        return Int64(result)
    }
}

/// Keeps the order in which frames are shown, where times come from arrivals.
struct ShownOrder: Sendable {
    private static let count = 16
    /// The newest units' places in the camera's time, and when they are shown.
    private var recent: [(camera: Int64, time: Int64)] = []

    init() {}

    /// When the first one is shown that comes behind it.
    func later(than camera: Int64) -> Int64? {
        recent.filter { $0.camera > camera }.map(\.time).min()
    }

    /// - Parameters:
    ///   - preferred: when it would be shown.
    ///   - least: not before this.
    mutating func time(of camera: Int64, preferred: Int64, least: Int64) -> Int64 {
        let earlier = recent.filter { $0.camera < camera }.map(\.time).max()
        var time = max(preferred, (earlier ?? .min / 2) + 1)
        if let later = later(than: camera) { time = min(time, later - 1) }
        time = max(time, least)
        recent.append((camera, time))
        if recent.count > Self.count { recent.removeFirst() }
        return time
    }
}
