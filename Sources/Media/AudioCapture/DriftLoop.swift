/// The control loop that follows a device's clock: proportional-integral, critically damped.
struct DriftLoop {
    /// Radians per second. A start at 500 ppm costs 500 ppm ÷ (e · speed) = 1.8 ms of error at its worst.
    private static let speed = 0.1
    /// What a crystal can be wrong by, and some.
    private static let maxDrift = 0.001
    /// 3.5 cents: below what is heard.
    private static let maxCorrection = 0.002

    /// How much slower the device's clock is than the machine's.
    private(set) var integral = 0.0
    /// How much slower the input is to be read now.
    private(set) var correction = 0.0

    /// - Parameter error: seconds by which a block was late.
    /// - Parameter seconds: since the last one.
    mutating func update(error: Double, seconds: Double) {
        let change = Self.speed * Self.speed * error * seconds
        integral = min(max(integral + change, -Self.maxDrift), Self.maxDrift)
        let sum = 2 * Self.speed * error + integral
        correction = min(max(sum, -Self.maxCorrection), Self.maxCorrection)
    }
}
