internal import Glibc
internal import Systemd

/// What the board says of its supply.
struct PowerReading: Equatable, Sendable {
    /// hwmon `rpi_volt`: under-voltage since the driver last asked; nil without the driver.
    var alarm: Bool?
    /// The firmware's `get_throttled` word; nil where the kernel does not give it.
    var throttled: UInt32?

    static func read(_ paths: HealthPaths) -> PowerReading {
        var reading = PowerReading()
        let monitors = "\(paths.systemRoot)/class/hwmon"
        for name in SmallFile.names(in: monitors) where SmallFile.line("\(monitors)/\(name)/name") == "rpi_volt" {
            reading.alarm = SmallFile.number("\(monitors)/\(name)/in0_lcrit_alarm").map { $0 != 0 }
        }
        let word = SmallFile.line("\(paths.systemRoot)/devices/platform/soc/soc:firmware/get_throttled")
        reading.throttled = word.flatMap { UInt32($0.hasPrefix("0x") ? String($0.dropFirst(2)) : $0, radix: 16) }
        return reading
    }
}

/// The hottest thermal zone.
struct HeatReading: Equatable, Sendable {
    /// Degrees Celsius; nil without a zone that tells one.
    var celsius: Double?
    /// Of that zone: `cpu-thermal`.
    var zone: String?

    static func read(_ paths: HealthPaths) -> HeatReading {
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
}

/// The hardware watchdog, read back from the kernel: what is armed, not what was configured.
struct WatchdogReading: Equatable, Sendable {
    var isPresent = false
    /// `active` or `inactive`; nil when the driver does not say.
    var state: String?
    var timeoutSeconds: Int64?
    /// WDIOF_* bits; 0x20: the last boot was forced by it.
    var bootStatus: Int64?
    /// The board's name from the device tree; nil on machines without one.
    var board: String?
    /// What this machine's image asks for; nil on machines that have none of ours.
    var wantedSeconds: Int64?

    static func read(_ paths: HealthPaths) -> WatchdogReading {
        let device = "\(paths.systemRoot)/class/watchdog/watchdog0"
        return WatchdogReading(
            isPresent: SmallFile.exists(device), state: SmallFile.line("\(device)/state"),
            timeoutSeconds: SmallFile.number("\(device)/timeout"),
            bootStatus: SmallFile.number("\(device)/bootstatus"),
            board: SmallFile.line("\(paths.processRoot)/device-tree/model"),
            wantedSeconds: SmallFile.text(paths.managerSettings).flatMap(wanted))
    }

    /// `RuntimeWatchdogSec=14s`, as our own file has it; nil for what is written otherwise.
    static func wanted(_ settings: String) -> Int64? {
        let key = "RuntimeWatchdogSec="
        let line = settings.split(separator: "\n").last { $0.hasPrefix(key) }
        guard let value = line?.dropFirst(key.utf8.count) else { return nil }
        return Int64(value.hasSuffix("s") ? value.dropLast() : value)
    }

    /// WDIOF_CARDRESET.
    var resetTheBoard: Bool { (bootStatus ?? 0) & 0x20 != 0 }
}

/// What eMMC says of its wear. SD cards say nothing.
struct CardReading: Equatable, Sendable {
    struct Card: Equatable, Sendable {
        var name: String
        /// `MMC` or `SD`.
        var type: String
        /// Tenths of the life that are used, the worse of the two kinds of cells: 1 is up to 10 %, 11 is more than all.
        var lifeTime: Int?
        /// Of the spare blocks: 1 normal, 2 more than 80 % used, 3 urgent.
        var preEndOfLife: Int?
    }

    var cards: [Card] = []

    static func read(_ paths: HealthPaths) -> CardReading {
        let blocks = "\(paths.systemRoot)/block"
        return CardReading(
            cards: SmallFile.names(in: blocks)
                .filter { $0.hasPrefix("mmcblk") && !$0.contains("boot") && !$0.contains("rpmb") }
                .map { name in
                    let device = "\(blocks)/\(name)/device"
                    let life = SmallFile.line("\(device)/life_time")?.split(separator: " ").compactMap { hex($0) }.max()
                    return Card(
                        name: name, type: SmallFile.line("\(device)/type") ?? "", lifeTime: life,
                        preEndOfLife: SmallFile.line("\(device)/pre_eol_info").flatMap { hex($0) })
                })
    }

    private static func hex(_ text: some StringProtocol) -> Int? {
        text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text)
    }
}
