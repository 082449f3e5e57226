internal import ErrorCatalog
internal import Glibc
internal import Systemd

extension DoctorCheck {
    static let boardChecks: [DoctorCheck] = [
        DoctorCheck(reading: "clock", clock),
        DoctorCheck(reading: "ntp", timeServer),
        DoctorCheck("encoder", examine: encoder),
        DoctorCheck("decoders", examine: decoders),
        DoctorCheck(reading: "watchdog", watchdog),
        DoctorCheck(reading: "boot", boot),
        DoctorCheck(reading: "memory", memory),
        DoctorCheck(reading: "processor", processor),
        DoctorCheck(reading: "heat", heat),
        DoctorCheck(reading: "power", power),
    ]

    /// 2026-01-01: no WatchBox was built before.
    private static let floor = 1_767_225_600

    private static func clock(_ surroundings: Surroundings) -> Finding {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        guard now.tv_sec >= floor else {
            return .fail("it says \(now.tv_sec) s since 1970, which is before this program was made", .clockUnset)
        }
        let hasClock = !SmallFile.names(in: surroundings.path("/sys/class/rtc")).isEmpty
        let link = SmallFile.link(surroundings.path("/etc/localtime")) ?? ""
        let zone = link.firstRange(of: "zoneinfo/").map { String(link[$0.upperBound...]) } ?? "UTC"
        return .ok("set, zone \(zone), \(hasClock ? "kept by a battery while off" : "no clock that runs while off")")
    }

    private static func timeServer(_ surroundings: Surroundings) -> Finding {
        // Not /run/systemd/timesync/synchronized: it stays there when the time server has been away for weeks.
        switch surroundings.isClockSynchronised() {
        case true?: return .ok("synchronised, says the kernel")
        case false?: return .warn("no time server is followed", .clockUnsynchronised)
        case nil: return .unknown("the kernel does not tell this user")
        }
    }

    private static func encoder(_ knowledge: Knowledge) async -> Finding {
        guard let encoder = knowledge.surroundings.encoder else { return .unknown("not tried") }
        return await OwnThread.value {
            do {
                return .ok(try encoder())
            } catch {
                return .fail(
                    "no H.264 encoder opens: \(error)",
                    next:
                        "Install libavcodec with an H.264 encoder: apt install libavcodec-extra; a file source needs none"
                )
            }
        } ?? .unknown("no thread can be made")
    }

    /// What holds the processes that decode what strangers' cameras send. The kernel is asked, not a camera's unit, which
    /// may allow less: its log tells then.
    private static func decoders(_ knowledge: Knowledge) async -> Finding {
        guard let decoders = knowledge.surroundings.decoders else { return .unknown("not looked at") }
        let sandbox = decoders()
        guard let lack = sandbox.lack else { return .ok("this kernel offers \(sandbox.evidence)") }
        return .warn(lack, next: "Use a kernel with CONFIG_SECURITY_LANDLOCK and CONFIG_SECCOMP_FILTER, as Debian's is")
    }

    private static func watchdog(_ surroundings: Surroundings) -> Finding {
        let device = surroundings.path("/sys/class/watchdog/watchdog0")
        guard SmallFile.exists(device) else { return .unknown("this machine shows no hardware watchdog") }
        let name = SmallFile.line("\(device)/identity") ?? "watchdog0"
        switch SmallFile.line("\(device)/state") {
        case "active":
            let time = SmallFile.number("\(device)/timeout").map { ", resets after \($0) s" } ?? ""
            return .ok("\(name) is armed\(time)")
        case let state?: return .fail("\(name) is \(state)", .watchdogInactive)
        case nil: return .unknown("\(name) does not say whether it is armed")
        }
    }

    private static func boot(_ surroundings: Surroundings) -> Finding {
        let records = SmallFile.names(in: surroundings.path("/sys/fs/pstore"))
        if !records.isEmpty {
            return .warn(
                "the kernel left \(counted(records.count, "record")) of a crash in /sys/fs/pstore",
                next: "Read them: journalctl -u systemd-pstore; ls /var/lib/systemd/pstore")
        }
        // WDIOF_CARDRESET.
        if (SmallFile.number(surroundings.path("/sys/class/watchdog/watchdog0/bootstatus")) ?? 0) & 0x20 != 0 {
            return .warn("the hardware watchdog forced the last boot", .bootByWatchdog)
        }
        let uptime = SmallFile.line(surroundings.path("/proc/uptime"))?.split(separator: " ").first.flatMap {
            Double($0)
        }
        guard let uptime, (0...1e10).contains(uptime) else { return .unknown("/proc/uptime cannot be read") }
        return .ok("up \(Int(uptime / 86_400)) d \(Int(uptime / 3600) % 24) h, no sign of a crash before")
    }

    private static func memory(_ surroundings: Surroundings) -> Finding {
        let lines = (SmallFile.text(surroundings.path("/proc/meminfo")) ?? "").split(separator: "\n")
        func megabytes(_ name: String) -> Int64? {
            lines.first { $0.hasPrefix(name + ":") }?.split(separator: " ").dropFirst().first.flatMap { Int64($0) }.map
            { $0 / 1024 }
        }
        guard let total = megabytes("MemTotal"), let available = megabytes("MemAvailable") else {
            return .unknown("/proc/meminfo cannot be read")
        }
        let pressure = pressure(surroundings, "memory")
        let evidence =
            "\(available) of \(total) MB available"
            + (pressure.map { ", \($0.percent) of the last minute short" } ?? "")
        if (pressure ?? 0) >= 0.30 || available * 50 < total { return .fail(evidence, .memoryPressure) }
        return (pressure ?? 0) >= 0.10 ? .warn(evidence, .memoryPressure) : .ok(evidence)
    }

    private static func processor(_ surroundings: Surroundings) -> Finding {
        guard let pressure = pressure(surroundings, "cpu") else {
            return .unknown("this kernel does not tell (no /proc/pressure)")
        }
        let evidence = "tasks waited \(pressure.percent) of the last minute"
        // Slow is not broken: what is late shows at the cameras.
        return pressure >= 0.80 ? .warn(evidence, .processorPressure) : .ok(evidence)
    }

    /// `some avg10=0.00 avg60=1.25 …` as 0.0125.
    private static func pressure(_ surroundings: Surroundings, _ resource: String) -> Double? {
        let text = SmallFile.text(surroundings.path("/proc/pressure/\(resource)")) ?? ""
        let field = text.split(separator: "\n").first { $0.hasPrefix("some ") }?
            .split(separator: " ").first { $0.hasPrefix("avg60=") }
        guard let field, let percent = Double(field.dropFirst(6)), (0...100).contains(percent) else { return nil }
        return percent / 100
    }

    private static func heat(_ surroundings: Surroundings) -> Finding {
        let zones = surroundings.path("/sys/class/thermal")
        // Zones that are switched off answer with an error, others with nonsense such as -273200.
        let degrees = SmallFile.names(in: zones).filter { $0.hasPrefix("thermal_zone") }
            .compactMap { SmallFile.number("\(zones)/\($0)/temp") }.filter { (-60_000...250_000).contains($0) }.max()
        guard let degrees else { return .unknown("this machine shows no thermal zone") }
        let celsius = Double(degrees) / 1000
        let evidence = "\(celsius.tenths) °C"
        return celsius >= 82 ? .fail(evidence, .hot) : celsius >= 75 ? .warn(evidence, .hot) : .ok(evidence)
    }

    private static func power(_ surroundings: Surroundings) -> Finding {
        let text = SmallFile.line(surroundings.path("/sys/devices/platform/soc/soc:firmware/get_throttled"))
        let word = text.flatMap { UInt32($0.hasPrefix("0x") ? String($0.dropFirst(2)) : $0, radix: 16) }
        let monitors = surroundings.path("/sys/class/hwmon")
        let sensor = SmallFile.names(in: monitors).first { SmallFile.line("\(monitors)/\($0)/name") == "rpi_volt" }
        let alarm = sensor.flatMap { SmallFile.number("\(monitors)/\($0)/in0_lcrit_alarm") }
        if alarm == 1 || (word ?? 0) & 1 != 0 {
            return .fail("the 5 V supply is too low at this moment", .underVoltage)
        }
        if (word ?? 0) & 1 << 16 != 0 { return .warn("the 5 V supply was too low since boot", .underVoltage) }
        return word == nil && alarm == nil
            ? .unknown("not measurable on this machine") : .ok("no under-voltage\(word == nil ? "" : " since boot")")
    }
}
