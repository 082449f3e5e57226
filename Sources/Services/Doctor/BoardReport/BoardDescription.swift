internal import BoxReadings
internal import ControlAPI
internal import Glibc
internal import Platform

/// What files of the kernel and of the image say of a board. What is not there stays nil.
enum BoardDescription {
    static func board(_ environment: Environment) -> BoardReport.Board {
        var board = BoardReport.Board()
        let tree = environment.path("/proc/device-tree")
        let firmware = environment.path("/sys/class/dmi/id")
        board.model =
            words(tree + "/model").first
            ?? ReportText.safe(
                ["sys_vendor", "product_name"].compactMap { SmallFile.line("\(firmware)/\($0)") }
                    .joined(separator: " "))
        board.revision = number(tree + "/system/linux,revision").map { String($0, radix: 16) }
        board.compatible = Array(words(tree + "/compatible").prefix(8))
        board.firmware =
            number(tree + "/chosen/bootloader/build-timestamp").map { "boot loader of \(date($0))" }
            ?? ReportText.safe(SmallFile.line(firmware + "/bios_version")).map { "BIOS \($0)" }
        board.processors = SmallFile.line(environment.path("/sys/devices/system/cpu/present")).flatMap(processors)
        let features = (SmallFile.text(environment.path("/proc/cpuinfo")) ?? "").split(separator: "\n").first {
            $0.hasPrefix("Features") || $0.hasPrefix("flags")
        }
        board.hasAES = features.map { $0.split(separator: " ").contains("aes") }
        return board
    }

    static func system(_ environment: Environment) -> BoardReport.System {
        var system = BoardReport.System()
        let release = (SmallFile.text(environment.path("/etc/os-release")) ?? "").split(separator: "\n")
        let name = release.first { $0.hasPrefix("PRETTY_NAME=") }?.dropFirst("PRETTY_NAME=".count)
        system.release = ReportText.safe(name.map { String($0.filter { $0 != "\"" }) })
        // The lines below say how it was made.
        let issue = SmallFile.text(environment.path("/etc/rpi-issue")) ?? ""
        system.image = ReportText.safe(issue.split(separator: "\n").first.map(String.init))
        system.kernel = ReportText.safe(SmallFile.line(environment.path("/proc/sys/kernel/osrelease")))
        var names = utsname()
        if uname(&names) == 0 {
            let machine = withUnsafeBytes(of: names.machine) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            system.architecture = ReportText.safe(machine)
        }
        return system
    }

    static func memory(_ environment: Environment) -> BoardReport.Memory {
        var memory = BoardReport.Memory()
        let lines = (SmallFile.text(environment.path("/proc/meminfo")) ?? "").split(separator: "\n")
        func megabytes(_ name: String) -> Int64? {
            lines.first { $0.hasPrefix(name + ":") }?.split(separator: " ").dropFirst().first.flatMap { Int64($0) }
                .map { $0 / 1024 }
        }
        memory.total = megabytes("MemTotal")
        memory.available = megabytes("MemAvailable")
        memory.swap = megabytes("SwapTotal")
        memory.contiguous = megabytes("CmaTotal")
        memory.hasController = SmallFile.line(environment.path("/sys/fs/cgroup/cgroup.controllers")).map {
            $0.split(separator: " ").contains("memory")
        }
        memory.hasPressure = PressureReading.read(environment.boxPaths).memory != nil
        return memory
    }

    static func watchdog(_ environment: Environment) -> BoardReport.Watchdog {
        let reading = WatchdogReading.read(environment.boxPaths)
        var watchdog = BoardReport.Watchdog()
        guard reading.isPresent else { return watchdog }
        let identity = SmallFile.line(environment.path("/sys/class/watchdog/watchdog0/identity"))
        watchdog.name = ReportText.safe(identity) ?? "without a name"
        watchdog.state = ReportText.safe(reading.state)
        watchdog.timeoutSeconds = reading.timeoutSeconds
        watchdog.forcedLastBoot = reading.resetTheBoard
        return watchdog
    }

    static func clock(_ environment: Environment) -> BoardReport.Clock {
        var clock = BoardReport.Clock()
        let clocks = environment.path("/sys/class/rtc")
        clock.hardware = SmallFile.names(in: clocks).sorted().first.map {
            // `rpi_rtc soc@107c000000:rpi_rtc`: the driver is enough.
            let name = SmallFile.line("\(clocks)/\($0)/name")?.split(separator: " ").first.map(String.init)
            return ReportText.safe(name) ?? "without a name"
        }
        clock.isSynchronised = environment.isClockSynchronised()
        return clock
    }

    static func power(_ environment: Environment) -> BoardReport.Power {
        var power = BoardReport.Power()
        power.celsius = HeatReading.read(environment.boxPaths).celsius
        let reading = PowerReading.read(environment.boxPaths)
        guard reading.alarm != nil || reading.throttled != nil else { return power }
        power.isTooLow = reading.verdict == .fail
        power.wasTooLow = reading.throttled.map { $0 & 1 << 16 != 0 }
        power.isProcessorSlowed = reading.throttled.map { _ in reading.isProcessorSlowed }
        power.throttled = reading.throttled.map { String($0, radix: 16) }
        return power
    }

    static func network(_ environment: Environment) -> [BoardReport.Link] {
        let directory = environment.path("/sys/class/net")
        return SmallFile.names(in: directory).sorted().filter { name in
            // ARPHRD_ETHER, which wireless has as well; and a device behind it, which bridges and containers' ends have not.
            SmallFile.number("\(directory)/\(name)/type") == 1 && SmallFile.exists("\(directory)/\(name)/device")
        }.prefix(8).map { name in
            let link = "\(directory)/\(name)"
            let driver = SmallFile.link("\(link)/device/driver")?.split(separator: "/").last.map(String.init)
            let isWireless = SmallFile.exists("\(link)/wireless") || SmallFile.exists("\(link)/phy80211")
            return BoardReport.Link(
                kind: isWireless ? "wireless" : "ethernet", driver: ReportText.safe(driver),
                hasCarrier: SmallFile.number("\(link)/carrier") == 1,
                speed: SmallFile.number("\(link)/speed").flatMap { $0 > 0 ? $0 : nil })
        }
    }

    // MARK: - Reading

    /// Of the device tree: texts with a NUL behind each.
    private static func words(_ path: String) -> [String] {
        let bytes = (try? SmallFile.read(path, atMost: 4096)) ?? []
        return bytes.split { $0 == 0 || $0 == 0x0A }.compactMap {
            ReportText.safe(String(decoding: $0, as: UTF8.self))
        }
    }

    /// Of the device tree: four bytes, the most significant first.
    private static func number(_ path: String) -> UInt32? {
        guard let bytes = try? SmallFile.read(path, atMost: 4), bytes.count == 4 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// `0-3`, or `0`.
    private static func processors(_ text: String) -> Int? {
        let ends = text.split(separator: "-").map { Int($0) }
        guard let first = ends.first ?? nil, let last = ends.last ?? nil, last >= first, last < 4096 else { return nil }
        return last - first + 1
    }

    /// Of a time in seconds since 1970: `2026-05-06`.
    private static func date(_ seconds: UInt32) -> String {
        var time = time_t(seconds)
        var parts = tm()
        guard gmtime_r(&time, &parts) != nil else { return "\(seconds)" }
        func two(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    }
}
