internal import BoxReadings
internal import ControlAPI
internal import ErrorCatalog
internal import Glibc
internal import Platform

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

    /// The health monitor's, so that one box has one verdict.
    private static let limits = HealthThresholds.self

    private static func clock(_ environment: Environment) -> Finding {
        let now = Clocks.wallSeconds
        guard now >= HealthThresholds.earliestTime else {
            return .fail("it says \(now) s since 1970, which is before this program was built", .clockUnset)
        }
        let hasClock = !SmallFile.names(in: environment.path("/sys/class/rtc")).isEmpty
        let link = SmallFile.link(environment.path("/etc/localtime")) ?? ""
        let zone = link.firstRange(of: "zoneinfo/").map { String(link[$0.upperBound...]) } ?? "UTC"
        return .ok("set, zone \(zone), \(hasClock ? "kept by a battery while off" : "no clock that runs while off")")
    }

    private static func timeServer(_ environment: Environment) -> Finding {
        // Not /run/systemd/timesync/synchronized: it stays there when the time server has been away for weeks.
        switch environment.isClockSynchronised() {
        case true?: return .ok("synchronised, says the kernel")
        case false?: return .warn("no time server is followed", .clockUnsynchronised)
        case nil: return .unknown("the kernel does not report it to this user")
        }
    }

    private static func encoder(_ context: CheckContext) async -> Finding {
        guard let encoder = context.environment.encoder else { return .unknown("not tried") }
        return await OwnThread.value {
            do {
                return .ok(try encoder())
            } catch {
                return .fail(
                    "no H.264 encoder opens: \(error)",
                    hint:
                        "Install libavcodec with an H.264 encoder: apt install libavcodec-extra; a file source needs none"
                )
            }
        } ?? .unknown("no thread can be made")
    }

    /// What holds the processes that decode what unknown cameras send. The kernel is asked, not a camera's unit,
    /// which may allow less: its log shows it then.
    private static func decoders(_ context: CheckContext) async -> Finding {
        guard let decoders = context.environment.decoders else { return .unknown("not looked at") }
        let sandbox = decoders()
        guard let lack = sandbox.lack else { return .ok("this kernel offers \(sandbox.evidence)") }
        return .warn(lack, hint: "Use a kernel with CONFIG_SECURITY_LANDLOCK and CONFIG_SECCOMP_FILTER, as Debian's is")
    }

    private static func watchdog(_ environment: Environment) -> Finding {
        let reading = WatchdogReading.read(environment.boxPaths)
        let name = SmallFile.line(environment.path("/sys/class/watchdog/watchdog0/identity")) ?? "watchdog0"
        let armed = "\(name) is armed" + (reading.timeoutSeconds.map { ", resets after \($0) s" } ?? "")
        switch reading.verdict {
        case .ok: return .ok(armed)
        case .warn:
            let expected =
                reading.configuredSeconds.map { ", and this box expects \($0) s: another setting wins" } ?? ""
            return .warn(armed + expected, .watchdogSlow)
        case .fail:
            let why =
                reading.state.map { "\(name) is \($0)" }
                ?? "\(reading.board ?? "this board") has a hardware watchdog, but the kernel shows none"
            return .fail(why, .watchdogInactive)
        case .unknown:
            return .unknown(
                reading.isPresent
                    ? "\(name) does not say whether it is armed" : "this machine shows no hardware watchdog")
        }
    }

    private static func boot(_ environment: Environment) -> Finding {
        let records = SmallFile.names(in: environment.path("/sys/fs/pstore"))
        if !records.isEmpty {
            return .warn(
                "the kernel left \(counted(records.count, "record")) of a crash in /sys/fs/pstore",
                hint: "Read them: journalctl -u systemd-pstore; ls /var/lib/systemd/pstore")
        }
        if WatchdogReading.read(environment.boxPaths).resetTheBoard {
            return .warn("the hardware watchdog forced the last boot", .bootByWatchdog)
        }
        let uptime = SmallFile.line(environment.path("/proc/uptime"))?.split(separator: " ").first.flatMap {
            Double($0)
        }
        guard let uptime, (0...1e10).contains(uptime) else { return .unknown("/proc/uptime cannot be read") }
        return .ok("up \(Int(uptime / 86_400)) d \(Int(uptime / 3600) % 24) h, no sign of a crash before")
    }

    private static func memory(_ environment: Environment) -> Finding {
        let lines = (SmallFile.text(environment.path("/proc/meminfo")) ?? "").split(separator: "\n")
        func megabytes(_ name: String) -> Int64? {
            lines.first { $0.hasPrefix(name + ":") }?.split(separator: " ").dropFirst().first.flatMap { Int64($0) }.map
            { $0 / 1024 }
        }
        guard let total = megabytes("MemTotal"), let available = megabytes("MemAvailable") else {
            return .unknown("/proc/meminfo cannot be read")
        }
        let pressure = PressureReading.read(environment.boxPaths).memory
        let evidence =
            "\(available) of \(total) MB available"
            + (pressure.map { ", \($0.percent) of the last minute short" } ?? "")
        let state = limits.memoryPressure.state(pressure ?? 0, was: nil, slack: 0)
        if state == .fail || available * 50 < total { return .fail(evidence, .memoryPressure) }
        return state == .warn ? .warn(evidence, .memoryPressure) : .ok(evidence)
    }

    private static func processor(_ environment: Environment) -> Finding {
        guard let pressure = PressureReading.read(environment.boxPaths).processor else {
            return .unknown("this kernel does not report it (no /proc/pressure)")
        }
        return .of(
            limits.processorPressure.state(pressure, was: nil, slack: 0),
            "tasks waited \(pressure.percent) of the last minute", .processorPressure)
    }

    private static func heat(_ environment: Environment) -> Finding {
        let reading = HeatReading.read(environment.boxPaths)
        let isSlowed = PowerReading.read(environment.boxPaths).isProcessorSlowed
        let slowed = "the firmware has slowed the processor"
        let evidence = reading.celsius.map { "\($0.tenths) °C" + (isSlowed ? ", and \(slowed)" : "") }
        return .of(
            reading.verdict(isSlowed: isSlowed, limits: limits.heatCelsius, was: nil),
            evidence ?? (isSlowed ? slowed : "this machine shows no thermal zone"), .hot)
    }

    private static func power(_ environment: Environment) -> Finding {
        let reading = PowerReading.read(environment.boxPaths)
        let state = reading.verdict
        let evidence =
            switch state {
            case .fail: "the 5 V supply is too low at this moment"
            case .warn: "the 5 V supply was too low since boot"
            case .ok: "no under-voltage\(reading.throttled == nil ? "" : " since boot")"
            case .unknown: "not measurable on this machine"
            }
        return .of(state, evidence, .underVoltage)
    }
}
