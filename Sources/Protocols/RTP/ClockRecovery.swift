/// Watches timestamps that do not measure time, for whether they do so again.
///
/// Instants are arrivals on CLOCK_MONOTONIC; all times are nanoseconds.
struct ClockRecovery: Sendable {
    /// 30 s of moderate rate: shorter ones are bursts behind a gap.
    private static let window: Int64 = 30_000_000_000
    private static let rates = 0.25...4.0

    let began: Int64
    private var windowBegin: Int64
    private var camera: Int64

    init(camera: Int64, at arrival: Int64) {
        began = arrival
        windowBegin = arrival
        self.camera = camera
    }

    /// - Returns: whether the camera's clock went on by a believable amount.
    mutating func isUsable(camera: Int64, arrival: Int64) -> Bool {
        guard arrival - windowBegin >= Self.window else { return false }
        let passed = Double(camera - self.camera) / Double(arrival - windowBegin)
        windowBegin = arrival
        self.camera = camera
        return Self.rates.contains(passed)
    }
}
