package import ControlAPI
internal import Platform

/// What the board says of its supply.
package struct PowerReading: Equatable, Sendable {
    /// hwmon `rpi_volt`: under-voltage since the driver last asked; nil without the driver.
    package var alarm: Bool?
    /// The firmware's `get_throttled` word; nil where the kernel does not give it.
    package var throttled: UInt32?

    package init(alarm: Bool? = nil, throttled: UInt32? = nil) {
        self.alarm = alarm
        self.throttled = throttled
    }

    package static func read(_ paths: BoxPaths) -> PowerReading {
        var reading = PowerReading()
        let monitors = "\(paths.systemRoot)/class/hwmon"
        for name in SmallFile.names(in: monitors) where SmallFile.line("\(monitors)/\(name)/name") == "rpi_volt" {
            reading.alarm = SmallFile.number("\(monitors)/\(name)/in0_lcrit_alarm").map { $0 != 0 }
        }
        let word = SmallFile.line("\(paths.systemRoot)/devices/platform/soc/soc:firmware/get_throttled")
        reading.throttled = word.flatMap { UInt32($0.hasPrefix("0x") ? String($0.dropFirst(2)) : $0, radix: 16) }
        return reading
    }

    /// A supply that is too low fails, one that was too low since boot is a warning: bits 0 and 16 of the word.
    package var verdict: HealthState {
        let word = throttled ?? 0
        if alarm == true || word & 1 != 0 { return .fail }
        if word & 1 << 16 != 0 { return .warn }
        return alarm == nil && throttled == nil ? .unknown : .ok
    }

    /// The firmware has slowed the processor: bits 1 to 3 of the word.
    package var isProcessorSlowed: Bool { (throttled ?? 0) & 0b1110 != 0 }
}

/// The hottest thermal zone.
package struct HeatReading: Equatable, Sendable {
    /// Degrees Celsius; nil without a zone that reports one.
    package var celsius: Double?
    /// Of that zone: `cpu-thermal`.
    package var zone: String?

    package static func read(_ paths: BoxPaths) -> HeatReading {
        var reading = HeatReading()
        let zones = "\(paths.systemRoot)/class/thermal"
        for name in SmallFile.names(in: zones) where name.hasPrefix("thermal_zone") {
            // Zones that are switched off answer with an error, others with nonsense such as -273200.
            guard let millidegrees = SmallFile.number("\(zones)/\(name)/temp"),
                (-60_000...250_000).contains(millidegrees)
            else { continue }
            let celsius = Double(millidegrees) / 1000
            if celsius > reading.celsius ?? -.infinity {
                reading.celsius = celsius
                reading.zone = SmallFile.line("\(zones)/\(name)/type") ?? name
            }
        }
        return reading
    }

    /// - Parameter isSlowed: the firmware has slowed the processor, which is a warning at whatever heat.
    package func verdict(isSlowed: Bool, limits: HealthThresholds.Pair, was: HealthState?) -> HealthState {
        guard let celsius else { return isSlowed ? .warn : .unknown }
        let state = limits.state(celsius, was: was, slack: 3)
        return isSlowed && state == .ok ? .warn : state
    }
}

/// The hardware watchdog, read back from the kernel: what is armed, not what was configured.
package struct WatchdogReading: Equatable, Sendable {
    package var isPresent = false
    /// `active` or `inactive`; nil when the driver does not say.
    package var state: String?
    package var timeoutSeconds: Int64?
    /// WDIOF_* bits; 0x20: the last boot was forced by it.
    package var bootStatus: Int64?
    /// The board's name from the device tree; nil on machines without one, and on virtual ones, which have no watchdog.
    package var board: String?
    /// What this machine's image asks for; nil on machines that have none of ours.
    package var configuredSeconds: Int64?

    package static func read(_ paths: BoxPaths) -> WatchdogReading {
        let device = "\(paths.systemRoot)/class/watchdog/watchdog0"
        return WatchdogReading(
            isPresent: SmallFile.exists(device), state: SmallFile.line("\(device)/state"),
            timeoutSeconds: SmallFile.number("\(device)/timeout"),
            bootStatus: SmallFile.number("\(device)/bootstatus"),
            board: SmallFile.line("\(paths.processRoot)/device-tree/model").flatMap {
                $0.hasPrefix("linux,") ? nil : $0
            },
            configuredSeconds: SmallFile.text(paths.managerSettings).flatMap(configured))
    }

    /// `RuntimeWatchdogSec=14s`, as our own file has it; nil for what is written otherwise.
    static func configured(_ settings: String) -> Int64? {
        let key = "RuntimeWatchdogSec="
        let line = settings.split(separator: "\n").last { $0.hasPrefix(key) }
        guard let value = line?.dropFirst(key.utf8.count) else { return nil }
        return Int64(value.hasSuffix("s") ? value.dropLast() : value)
    }

    /// A board (they all have one) that shows none fails; so does one that is not armed. Another setting than the
    /// image's that waits longer is a warning.
    package var verdict: HealthState {
        guard isPresent else { return board == nil ? .unknown : .fail }
        guard let state else { return .unknown }
        guard state == "active" else { return .fail }
        guard let timeoutSeconds, let configuredSeconds else { return .ok }
        return timeoutSeconds > configuredSeconds ? .warn : .ok
    }

    /// WDIOF_CARDRESET.
    package var resetTheBoard: Bool { (bootStatus ?? 0) & 0x20 != 0 }
}
