@testable import HealthMonitor

extension HealthInstant {
    /// Seconds after boot; the wall clock says a moment of 2026 that goes along.
    static func at(_ seconds: Double) -> HealthInstant {
        HealthInstant(uptime: UInt64(seconds * 1e9), realtime: 1_780_000_000_000_000_000 + Int64(seconds * 1e9))
    }
}
