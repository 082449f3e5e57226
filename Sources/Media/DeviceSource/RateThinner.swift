/// Leaves out frames of a camera that is faster than what was asked for, evenly.
struct RateThinner: Equatable, Sendable {
    /// Nanoseconds between two frames; nil: every frame passes.
    private let interval: UInt64?
    private var due: UInt64?

    /// - Parameters:
    ///   - requested: frames per second.
    ///   - delivered: what the camera was set to; nil when it does not say.
    init(requested: Double, delivered: Double?) {
        // A camera that is at most a twentieth faster has the rate that was meant: 30 for 29.97.
        let isNeeded = delivered.map { $0 > requested * 1.05 } ?? true
        interval = isNeeded && requested > 0.01 ? UInt64((1e9 / requested).rounded()) : nil
    }

    /// - Parameter instant: of the capture, nanoseconds; grows.
    mutating func admits(_ instant: UInt64) -> Bool {
        guard let interval else { return true }
        guard let due else {
            self.due = instant &+ interval
            return true
        }
        // Cameras are unpunctual: one that is nearly due is the one.
        guard instant &+ interval / 4 >= due else { return false }
        // The beat is kept, unless the camera was slower than it.
        self.due = instant > due &+ interval ? instant &+ interval : due &+ interval
        return true
    }
}
