public import CameraModel

/// Frames and bits per second over about the last two seconds, from counters that only grow.
public struct CameraRates: Equatable, Sendable {
    public private(set) var framesPerSecond = 0.0
    public private(set) var bitsPerSecond = 0.0

    private struct Point: Equatable {
        var instant: UInt64
        var frames: UInt64
        var bytes: UInt64
    }

    private static let window: UInt64 = 2_000_000_000
    private static let maxPoints = 64
    private var points: [Point] = []

    public init() {}

    /// - Parameter now: CLOCK_MONOTONIC in nanoseconds.
    public mutating func observed(_ statistics: CameraStatistics, at now: UInt64) {
        let point = Point(
            instant: now, frames: statistics.video.sealed, bytes: statistics.video.bytes + statistics.audio.bytes)
        if let last = points.last, last.instant >= now { return }
        points.append(point)
        // The newest point that is at least the window's length away stays: a rate needs two ends.
        while points.count > 2, now - points[1].instant >= Self.window { points.removeFirst() }
        if points.count > Self.maxPoints { points.removeFirst() }
        guard let first = points.first, point.instant > first.instant else { return }
        let seconds = Double(point.instant - first.instant) / 1e9
        framesPerSecond = Double(point.frames &- first.frames) / seconds
        bitsPerSecond = Double(point.bytes &- first.bytes) * 8 / seconds
    }
}
