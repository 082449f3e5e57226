import BoxReadings
import Foundation

@testable import HealthMonitor

/// A tree of text files in place of `/proc`, `/sys` and the state directory; removed with its owner.
final class FixtureTree: Sendable {
    let root: String
    var paths: HealthPaths {
        var paths = HealthPaths()
        paths.box = BoxPaths(
            processRoot: "\(root)/proc", systemRoot: "\(root)/sys", managerSettings: "\(root)/etc/90-watchbox.conf")
        paths.stateDirectory = "\(root)/state"
        paths.dataDirectory = "\(root)/data"
        paths.cameraSockets = "\(root)/run/camera"
        paths.settingsFile = "\(root)/run/health.json"
        paths.persistentMessages = "\(root)/pmsg0"
        return paths
    }

    var box: BoxPaths { paths.box }

    init(_ files: [String: String] = [:]) throws {
        root = FileManager.default.temporaryDirectory.appending(path: "watchbox-health-\(UUID().uuidString)").path
        for directory in ["proc", "sys", "run", "state", "data"] {
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

    func text(_ path: String) throws -> String {
        String(decoding: try Data(contentsOf: URL(filePath: "\(root)/\(path)")), as: UTF8.self)
    }

    func remove(_ path: String) throws { try FileManager.default.removeItem(atPath: "\(root)/\(path)") }
}

/// A Raspberry Pi that is well.
let healthyBoard: [String: String] = [
    "proc/device-tree/model": "Raspberry Pi 4 Model B Rev 1.5\0",
    "sys/class/watchdog/watchdog0/state": "active\n",
    "sys/class/watchdog/watchdog0/timeout": "14\n",
    "sys/class/watchdog/watchdog0/bootstatus": "0\n",
    "sys/class/hwmon/hwmon0/name": "cpu_thermal\n",
    "sys/class/hwmon/hwmon1/name": "rpi_volt\n",
    "sys/class/hwmon/hwmon1/in0_lcrit_alarm": "0\n",
    "sys/class/thermal/thermal_zone0/temp": "51234\n",
    "sys/class/thermal/thermal_zone0/type": "cpu-thermal\n",
    "proc/pressure/memory": "some avg10=0.00 avg60=1.25 avg300=0.31 total=123\nfull avg10=0.00 avg60=0.00 total=1\n",
    "proc/pressure/cpu": "some avg10=4.00 avg60=12.50 avg300=9.00 total=99\n",
    "proc/pressure/io": "some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n",
    "proc/vmstat": "nr_free_pages 1\noom_kill 0\n",
    "proc/1/stat": "1 (systemd) S 0 1 1 0 -1 4194560 1 2 3 4 10 20 0 0 20 0 1 0 5 1 1",
    "proc/sys/kernel/random/boot_id": "11111111-2222-3333-4444-555555555555\n",
    "proc/self/mountinfo": "22 1 179:2 / / rw,relatime shared:1 - ext4 /dev/mmcblk0p2 rw\n",
    "etc/90-watchbox.conf": "# Why\n[Manager]\nRuntimeWatchdogSec=14s\nRebootWatchdogSec=14s\n",
    "sys/class/net/lo/type": "772\n",
    "sys/class/net/eth0/type": "1\n",
    "sys/class/net/eth0/carrier": "1\n",
    "sys/class/net/eth0/device/uevent": "",
    "proc/net/route": """
    Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
    eth0\t00000000\t0101A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0
    eth0\t0001A8C0\t00000000\t0001\t0\t0\t100\t00FFFFFF\t0\t0\t0

    """,
    "proc/net/fib_trie": """
    Main:
      +-- 192.168.1.0/24 2 0 2
         |-- 192.168.1.0
            /24 link UNICAST
         |-- 192.168.1.5
            /32 host LOCAL
    """,
    "proc/net/arp": """
    IP address       HW type     Flags       HW address            Mask     Device
    192.168.1.1      0x1         0x2         02:fc:00:00:00:05     *        eth0

    """,
]
