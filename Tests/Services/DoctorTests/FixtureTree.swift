import Foundation
import Systemd

@testable import Doctor

/// A machine made of text files; removed with its owner.
final class FixtureTree: Sendable {
    let root: String

    init(_ files: [String: String] = [:]) throws {
        // Short, because a Unix socket's path has 107 bytes.
        root = "/tmp/wbd-\(UInt32.random(in: 0 ... .max))"
        for directory in ["etc/watchbox", "proc", "sys", "run/watchbox", "var/lib/watchbox"] {
            try FileManager.default.createDirectory(atPath: "\(root)/\(directory)", withIntermediateDirectories: true)
        }
        for (path, text) in files { try write(path, text) }
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }

    func write(_ path: String, _ text: String) throws {
        let url = URL(filePath: "\(root)/\(path)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    func link(_ path: String, to target: String) throws {
        let url = URL(filePath: "\(root)/\(path)")
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: url.path, withDestinationPath: target)
    }

    func environment(
        isOffline: Bool = true, units: FixedUnits = FixedUnits(), identity: Environment.Identity = .current
    ) -> Environment {
        var environment = Environment(version: "0.2.0", units: units)
        environment.root = root
        environment.identity = identity
        environment.isOffline = isOffline
        environment.answerLimit = .seconds(60)
        environment.isClockSynchronised = { true }
        return environment
    }

    /// What one check says of this machine.
    func finding(_ name: String, _ environment: Environment? = nil) async throws -> Finding {
        let check = DoctorCheck.all.first { $0.name == name }
        guard let check else { throw CocoaError(.fileNoSuchFile) }
        return await check.examine(CheckContext(environment ?? self.environment()))
    }
}

/// PID 1 as a list.
struct FixedUnits: UnitControl {
    var states: [UnitState] = []
    var failure: SystemdError?

    func start(_ unit: String) async throws(SystemdError) { throw .denied("the doctor starts nothing") }
    func startIrreversibly(_ unit: String) async throws(SystemdError) { throw .denied("the doctor starts nothing") }
    func stop(_ unit: String) async throws(SystemdError) { throw .denied("the doctor stops nothing") }
    func restart(_ unit: String) async throws(SystemdError) { throw .denied("the doctor restarts nothing") }
    func resetFailed(_ unit: String) async throws(SystemdError) { throw .denied("the doctor changes nothing") }

    func state(of unit: String) async throws(SystemdError) -> UnitState {
        if let failure { throw failure }
        return states.first { $0.name == unit }
            ?? UnitState(name: unit, load: "not-found", active: "inactive", sub: "dead")
    }

    func units(matching pattern: String) async throws(SystemdError) -> [UnitState] {
        if let failure { throw failure }
        return states
    }
}

/// A Raspberry Pi that is well.
let healthyBoard: [String: String] = [
    "etc/group": "root:x:0:\nwatchbox:x:977:alice\n",
    "etc/resolv.conf": "# by hand\nnameserver 192.168.1.1\n",
    "etc/watchbox/watchbox.toml": "version = 1\nbox = { name = \"porch-box\" }\n",
    "sys/class/watchdog/watchdog0/state": "active\n",
    "sys/class/watchdog/watchdog0/identity": "Broadcom BCM2835 Watchdog timer\n",
    "sys/class/watchdog/watchdog0/timeout": "14\n",
    "sys/class/watchdog/watchdog0/bootstatus": "0\n",
    "sys/class/hwmon/hwmon1/name": "rpi_volt\n",
    "sys/class/hwmon/hwmon1/in0_lcrit_alarm": "0\n",
    "sys/class/thermal/thermal_zone0/temp": "51234\n",
    "sys/class/thermal/thermal_zone1/temp": "-273200\n",
    "sys/class/net/eth0/carrier": "1\n",
    "proc/pressure/memory": "some avg10=0.00 avg60=1.25 avg300=0.31 total=123\n",
    "proc/pressure/cpu": "some avg10=4.00 avg60=12.50 avg300=9.00 total=99\n",
    "proc/meminfo": "MemTotal:  948304 kB\nMemFree: 100 kB\nMemAvailable:  512000 kB\n",
    "proc/uptime": "93784.12 1.00\n",
    "proc/41/comm": "watchboxd\n",
    "proc/41/status": "Name:\twatchboxd\nUid:\t977\t977\t977\t977\nNoNewPrivs:\t1\nSeccomp:\t2\n",
    "proc/42/comm": "bash\n",
    "proc/net/route": """
    Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
    eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
    eth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0

    """,
    "proc/net/fib_trie": """
    Main:
         |-- 127.0.0.1
            /32 host LOCAL
         |-- 192.168.1.5
            /32 host LOCAL
    """,
]
