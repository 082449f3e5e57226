internal import Systemd

/// Whether the kernel's clock follows a time server.
struct ClockReading: Equatable, Sendable {
    /// Nil when this process may not ask (`ProtectClock=` refuses adjtimex) and no time service left a sign.
    var isSynchronised: Bool?
    /// Who said so.
    var source: String
    var instant: HealthInstant

    static func read(_ paths: HealthPaths, clock: any HealthClock) -> ClockReading {
        let instant = clock.now()
        if let isSynchronised = ClockSynchronisation.isSynchronised {
            return ClockReading(isSynchronised: isSynchronised, source: "the kernel (adjtimex)", instant: instant)
        }
        // systemd-timesyncd makes this file with its first answer after boot; other services do not.
        let sign = "\(paths.runtimeRoot)/systemd/timesync/synchronized"
        return SmallFile.exists(sign)
            ? ClockReading(isSynchronised: true, source: sign, instant: instant)
            : ClockReading(
                isSynchronised: nil,
                source: "adjtimex is refused to this unit, and \(sign) is missing",
                instant: instant)
    }
}
