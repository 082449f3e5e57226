/// Units that arrived within some seconds: a unit can be late by any amount, but hardly early, so the one that was least
/// late shows where a camera's clock stands.
struct LatenessWindow: Sendable {
    let begin: Int64
    /// Lateness of the least late unit, by the times that units are given; nil: none came.
    private(set) var least: Int64?
    /// The least of arrival minus the camera's own time, and when that was.
    private var level = Int64.max
    private var levelTime: Int64 = 0

    init(at arrival: Int64) {
        begin = arrival
    }

    mutating func take(lateness: Int64, camera: Int64, arrival: Int64) {
        least = min(least ?? .max, lateness)
        guard arrival - camera < level else { return }
        level = arrival - camera
        levelTime = arrival
    }

    /// Units are given times that are earlier by so much.
    mutating func moved(by distance: Int64) {
        least = least.map { $0 + distance }
    }

    /// How much later units came per second than in an earlier window, by the camera's own time. At a quarter, three of
    /// its seconds last four of ours.
    func slope(since earlier: LatenessWindow) -> Double {
        Double(level - earlier.level) / Double(max((begin - earlier.begin) / 2, levelTime - earlier.levelTime, 1))
    }
}
