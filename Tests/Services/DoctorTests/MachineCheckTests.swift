import BoxConfiguration
import BoxReadings
import ControlAPI
import ErrorCatalog
import Foundation
import Platform
import Testing

@testable import Doctor

struct MachineCheckTests {
    @Test func `a board that is well has nothing that failed`() async throws {
        let tree = try FixtureTree(healthyBoard)
        for name in [
            "config", "user", "sandbox", "network", "dns", "certificates", "clock", "ntp", "watchdog", "boot", "memory",
            "processor", "heat", "power",
        ] {
            let identity = Environment.Identity(userIdentifier: 1000, groupIdentifiers: [1000, 977])
            let finding = try await tree.finding(name, tree.environment(identity: identity))
            #expect(finding.state == .ok, "\(name): \(finding.evidence)")
            #expect(finding.code == nil && finding.hint == nil, "\(name)")
        }
    }

    /// One file differs, one check sees it.
    @Test(
        arguments: [
            ("sys/class/watchdog/watchdog0/state", "inactive\n", "watchdog", .fail, .watchdogInactive),
            ("sys/class/watchdog/watchdog0/bootstatus", "32\n", "boot", .warn, .bootByWatchdog),
            ("sys/class/hwmon/hwmon1/in0_lcrit_alarm", "1\n", "power", .fail, .underVoltage),
            ("sys/devices/platform/soc/soc:firmware/get_throttled", "50000\n", "power", .warn, .underVoltage),
            ("sys/class/thermal/thermal_zone0/temp", "78000\n", "heat", .warn, .hot),
            ("sys/class/thermal/thermal_zone0/temp", "90000\n", "heat", .fail, .hot),
            ("proc/pressure/memory", "some avg10=0 avg60=31.00 avg300=0 total=1\n", "memory", .fail, .memoryPressure),
            ("proc/meminfo", "MemTotal: 948304 kB\nMemAvailable: 9000 kB\n", "memory", .fail, .memoryPressure),
            (
                "proc/pressure/cpu", "some avg10=0 avg60=81.00 avg300=0 total=1\n", "processor", .warn,
                .processorPressure
            ),
            (
                "proc/pressure/cpu", "some avg10=0 avg60=95.00 avg300=0 total=1\n", "processor", .fail,
                .processorPressure
            ),
            ("proc/net/route", "Iface\tDestination\n", "network", .warn, .noGateway),
            ("sys/class/net/eth0/carrier", "0\n", "network", .fail, .noCarrier),
            ("proc/net/fib_trie", "Main:\n |-- 127.0.0.1\n /32 host LOCAL\n", "network", .fail, .noAddress),
            ("etc/resolv.conf", "search example.net\n", "dns", .fail, .noDNS),
            ("etc/watchbox/watchbox.toml", "version = 1\nbox = { nam = \"x\" }\n", "config", .fail, .unknownKey),
            ("etc/watchbox/watchbox.toml", "version = \n", "config", .fail, .invalidSyntax),
        ] as [(String, String, String, HealthState, ErrorCode)])
    func `what is wrong is found`(
        path: String, text: String, check: String, state: HealthState, code: ErrorCode
    ) async throws {
        let tree = try FixtureTree(healthyBoard)
        try tree.write(path, text)
        let finding = try await tree.finding(check)
        #expect(finding.state == state && finding.code == code, "\(finding)")
        #expect(finding.hint?.isEmpty == false)
    }

    /// The limits are the health monitor's: one box has one verdict.
    @Test func `a value at a limit of the health monitor is as bad here`() async throws {
        let limits = HealthThresholds.self
        let tree = try FixtureTree(healthyBoard)
        func look(_ check: String, _ path: String, _ pair: HealthThresholds.Pair, _ unit: Double) async throws {
            func text(_ value: Double) -> String {
                let number = Int64((value * unit).rounded())
                guard path.hasPrefix("proc/pressure/") else { return "\(number)\n" }
                let part = number % 100
                return "some avg10=0.00 avg60=\(number / 100).\(part < 10 ? "0" : "")\(part) avg300=0.00 total=1\n"
            }
            for (value, state) in [
                (pair.warn - 1 / unit, HealthState.ok), (pair.warn, .warn), (pair.fail - 1 / unit, .warn),
                (pair.fail, .fail),
            ] {
                try tree.write(path, text(value))
                let finding = try await tree.finding(check)
                #expect(finding.state == state, "\(check) \(value): \(finding)")
                #expect((finding.code != nil) == (state != .ok) && (finding.hint != nil) == (state != .ok))
            }
        }
        try await look("processor", "proc/pressure/cpu", limits.processorPressure, 10_000)
        try await look("memory", "proc/pressure/memory", limits.memoryPressure, 10_000)
        try await look("heat", "sys/class/thermal/thermal_zone0/temp", limits.heatCelsius, 1000)
    }

    @Test func `what the health monitor makes of firmware and watchdog is shown here, too`() async throws {
        var tree = try FixtureTree(healthyBoard)
        // Bit 3: slowed for its heat.
        try tree.write("sys/devices/platform/soc/soc:firmware/get_throttled", "8\n")
        let warm = try await tree.finding("heat")
        #expect(warm.state == .warn && warm.code == .hot && warm.evidence.hasPrefix("51.2 °C, and the firmware"))
        try tree.write("etc/systemd/system.conf.d/90-watchbox.conf", "[Manager]\nRuntimeWatchdogSec=10s\n")
        let slow = try await tree.finding("watchdog")
        #expect(slow.state == .warn && slow.code == .watchdogSlow && slow.evidence.contains("resets after 14 s"))
        tree = try FixtureTree(["proc/device-tree/model": "Raspberry Pi 5\0"])
        let missing = try await tree.finding("watchdog")
        #expect(
            missing.state == .fail && missing.code == .watchdogInactive && missing.evidence.contains("Raspberry Pi 5"))
        // A virtual machine that was started with a device tree.
        tree = try FixtureTree(["proc/device-tree/model": "linux,dummy-virt\0"])
        #expect(try await tree.finding("watchdog").state == .unknown)
    }

    @Test(arguments: ["power", "heat", "watchdog", "processor", "memory", "sandbox"])
    func `what this machine does not report is unknown, never ok`(check: String) async throws {
        #expect(try await FixtureTree().finding(check).state == .unknown)
    }

    @Test func `garbage in the kernel's files is not a crash and not ok`() async throws {
        let garbage = "\u{0}\u{FFFD} -99999999999999999999 avg60=nan some avg60=1e999\nsome avg60=inf\n|--\n LOCAL host"
        let tree = try FixtureTree(healthyBoard.mapValues { _ in garbage })
        let report = await CheckRunner().run(in: tree.environment())
        #expect(report.findings.count == DoctorCheck.all.count)
        for name in ["power", "heat", "processor", "memory"] {
            #expect(report.findings.first { $0.check == name }?.state != .ok, "\(name)")
        }
    }

    @Test func `what holds decoders is reported, and what is missing`() async throws {
        let tree = try FixtureTree(healthyBoard)
        var environment = tree.environment()
        #expect(try await tree.finding("decoders", environment).state == .unknown)
        environment.decoders = { ("landlock 7, system calls are filtered", nil) }
        let well = try await tree.finding("decoders", environment)
        #expect(well.state == .ok && well.evidence.contains("landlock 7"))
        environment.decoders = { ("no landlock", "this kernel has no landlock") }
        let lacking = try await tree.finding("decoders", environment)
        #expect(lacking.state == .warn && lacking.hint?.isEmpty == false)
    }

    @Test func `a crash record of the kernel is reported`() async throws {
        let tree = try FixtureTree(healthyBoard)
        try tree.write("sys/fs/pstore/dmesg-ramoops-0", "Oops")
        #expect(try await tree.finding("boot").state == .warn)
    }

    @Test func `a process that is less than confined is reported`() async throws {
        let tree = try FixtureTree(healthyBoard)
        try tree.write("proc/41/status", "Uid:\t0\t0\t0\t0\nNoNewPrivs:\t1\nSeccomp:\t2\n")
        #expect(try await tree.finding("sandbox").evidence == "process 41 runs as root")
        #expect(DoctorCheck.weakness("Uid:\t9\t9\nNoNewPrivs:\t0\nSeccomp:\t2\n") == "may gain privileges")
        #expect(DoctorCheck.weakness("Uid:\t9\t9\nNoNewPrivs:\t1\nSeccomp:\t0\n") == "may make every system call")
        #expect(DoctorCheck.weakness("Uid:\t9\t9\nNoNewPrivs:\t1\nSeccomp:\t2\n") == nil)
        #expect(DoctorCheck.weakness("") == "runs as root")
    }

    @Test func `a user outside the group learns how to get in`() async throws {
        let tree = try FixtureTree(healthyBoard)
        let stranger = Environment.Identity(userIdentifier: 1000, groupIdentifiers: [1000])
        let finding = try await tree.finding("user", tree.environment(identity: stranger))
        #expect(finding.state == .warn && finding.code == .notPermitted)
        try tree.write("etc/group", "root:x:0:\n")
        #expect(
            try await tree.finding("user", tree.environment(identity: stranger)).evidence.contains("not installed"))
        let root = Environment.Identity(userIdentifier: 0, groupIdentifiers: [0])
        #expect(try await tree.finding("user", tree.environment(identity: root)).state == .ok)
    }

    @Test func `storage writes a file of its own and leaves none`() async throws {
        let tree = try FixtureTree(healthyBoard)
        let directory = "\(tree.root)/var/lib/watchbox"
        let finding = try await tree.finding("storage")
        #expect(finding.evidence.contains("used"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
        try FileManager.default.removeItem(atPath: directory)
        #expect(try await tree.finding("storage").state == .fail)
    }

    @Test func `a database is assessed by its header`() async throws {
        let tree = try FixtureTree()
        #expect(try await tree.finding("database").state == .unknown)
        try tree.write("var/lib/watchbox/state.db", "this is no database")
        #expect(try await tree.finding("database").code == .databaseDamaged)
        var header = Array("SQLite format 3\0".utf8) + [UInt8](repeating: 0, count: 84)
        header[16] = 0x10
        #expect(DoctorCheck.damage(header, size: 8192) == nil)
        #expect(DoctorCheck.damage(header, size: 8191)?.contains("was cut") == true)
        #expect(DoctorCheck.damage([], size: 0) == nil)
        #expect(DoctorCheck.damage(Array(header.prefix(40)), size: 40) != nil)
        header[16] = 0x03
        #expect(DoctorCheck.damage(header, size: 8192)?.contains("page size") == true)
    }

    @Test func `secrets that others can read are a failure`() async throws {
        let tree = try FixtureTree(healthyBoard)
        #expect(try await tree.finding("secrets").evidence.contains("key in a file"))
        try tree.write("var/lib/watchbox/device.key", "x")
        let path = "\(tree.root)/var/lib/watchbox/device.key"
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: path)
        let finding = try await tree.finding("secrets")
        #expect(finding.state == .fail && finding.evidence == "others may read /var/lib/watchbox/device.key")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        #expect(try await tree.finding("secrets").state == .warn)
    }

    @Test func `without a daemon the newest generation on disk is the configuration`() async throws {
        let tree = try FixtureTree()
        #expect(try await tree.finding("relay").state == .unknown)
        try tree.write("etc/watchbox/watchbox.toml", "version = 1\n")
        #expect(try await tree.finding("relay").code == .incompleteCamera)
        #expect(try await tree.finding("kas").code == .incompleteCamera)
        try tree.write(
            "etc/watchbox/watchbox.toml", "version = 1\nrelay.main = { url = \"rtmp://127.0.0.1:1/live\" }\n")
        #expect(try await tree.finding("relay").evidence.contains("--offline"))
        // What was put to use counts more than what the files say now; one that was cut off counts nothing.
        let settings = try #require(
            ConfigurationReader.read(files: [SourceFile(name: "x", text: "version = 1\nbox = { name = \"x\" }\n")])
                .settings)
        let json = String(decoding: try JSONEncoder().encode(settings), as: UTF8.self)
        try tree.write(
            "var/lib/watchbox/generations/000007.json",
            #"{"schema":"watchbox.generation/1","number":7,"time":1,"cause":"boot","files":[],"settings":\#(json)}"#)
        try tree.write("var/lib/watchbox/generations/000008.json", "{")
        #expect(try await tree.finding("generation") == .ok("generation 7 is the newest on disk (boot)"))
        #expect(try await tree.finding("relay").code == .incompleteCamera)
    }

    @Test func `the doctor's own port answers, another does not`() async throws {
        // Port 1 of loopback: nothing is there, and the kernel says so at once.
        #expect(throws: Reachability.Failure.self) {
            _ = try Reachability.connect("127.0.0.1", 1)
        }
        let tree = try FixtureTree()
        try tree.write(
            "etc/watchbox/watchbox.toml", "version = 1\nrelay.main = { url = \"rtmp://127.0.0.1:1/live\" }\n")
        let finding = try await tree.finding("relay", tree.environment(isOffline: false))
        #expect(finding.state == .fail && finding.code == .relayUnreachable, "\(finding)")
    }
}
