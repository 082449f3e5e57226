import CameraModel
import ControlAPI
import ErrorCatalog
import Foundation
import Systemd
import Testing

@testable import Doctor

/// A page about a kind of board, for an issue that everybody reads.
struct BoardReportTests {
    /// What must not come out, wherever it stands in the machine.
    private static let planted = [
        "10000000abcdef01", "1cf7b0a4", "dc:a6:32:01:02:03", "dca632010203", "SecretCafe", "192.168.1.5", "2001:db8",
        "porch-box", "front-door", "Front Door", "hunter22", "live.example.net", "0xdeadbeef", "alice",
    ]

    private static func raspberryPi() throws -> FixtureTree {
        let tree = try FixtureTree(healthyBoard)
        for (path, text) in [
            ("proc/device-tree/model", "Raspberry Pi 4 Model B Rev 1.4\u{0}"),
            ("proc/device-tree/compatible", "raspberrypi,4-model-b\u{0}brcm,bcm2711\u{0}"),
            ("proc/device-tree/serial-number", "10000000abcdef01\u{0}"),
            ("proc/cpuinfo", "processor: 0\nFeatures\t: fp asimd evtstrm crc32 cpuid\nSerial\t: 10000000abcdef01\n"),
            ("proc/sys/kernel/osrelease", "6.12.34+rpt-rpi-v8\n"),
            ("proc/sys/kernel/hostname", "porch-box\n"),
            ("etc/hostname", "porch-box\n"),
            ("etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 13 (trixie)\"\nID=debian\n"),
            ("etc/rpi-issue", "Raspberry Pi reference 2026-05-06\nGenerated using pi-gen, 0xdeadbeef, stage2\n"),
            ("proc/meminfo", "MemTotal: 3884000 kB\nMemAvailable: 3000000 kB\nSwapTotal: 0 kB\nCmaTotal: 524288 kB\n"),
            ("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io pids\n"),
            ("sys/devices/system/cpu/present", "0-3\n"),
            ("sys/devices/platform/soc/soc:firmware/get_throttled", "50005\n"),
            ("sys/block/mmcblk0/device/type", "SD\n"), ("sys/block/mmcblk0/device/name", "SC32G\n"),
            ("sys/block/mmcblk0/device/serial", "0x1cf7b0a4\n"),
            ("sys/block/mmcblk0/device/cid", "035344534333324780 1cf7b0a4\n"), ("sys/block/mmcblk0/size", "62333952\n"),
            ("sys/block/mmcblk0/stat", "100 0 2000 30 200 0 1953000 40 0 50 70\n"),
            ("sys/block/loop0/size", "2\n"), ("sys/block/loop0/stat", "1 1 1 1 1 1 1 1 1 1 1\n"),
            (
                "proc/self/mountinfo",
                "1 0 179:2 / / ro,noatime - ext4 /dev/mmcblk0p2 rw\n2 1 0:5 / /proc rw - proc proc rw\n"
            ),
            ("sys/class/net/eth0/type", "1\n"), ("sys/class/net/eth0/speed", "1000\n"),
            ("sys/class/net/eth0/address", "dc:a6:32:01:02:03\n"), ("sys/class/net/eth0/device/uevent", ""),
            ("sys/class/net/wlxdca632010203/type", "1\n"), ("sys/class/net/wlxdca632010203/device/uevent", ""),
            ("sys/class/net/wlxdca632010203/wireless/link", ""), ("sys/class/net/wlxdca632010203/carrier", "0\n"),
            ("etc/wpa_supplicant/wpa_supplicant.conf", "network={\n ssid=\"SecretCafe\"\n psk=\"hunter22\"\n}\n"),
        ] { try tree.write(path, text) }
        func bytes(_ path: String, _ bytes: [UInt8]) throws {
            try tree.write(path, "")
            try Data(bytes).write(to: URL(filePath: "\(tree.root)/\(path)"))
        }
        try bytes("proc/device-tree/system/linux,revision", [0x00, 0xC0, 0x31, 0x14])
        try bytes("proc/device-tree/chosen/bootloader/build-timestamp", [0x65, 0x9D, 0x47, 0x80])
        try tree.link("sys/dev/block/179:2", to: "../../devices/soc/mmc0/block/mmcblk0/mmcblk0p2")
        try tree.link("sys/class/net/eth0/device/driver", to: "../../bus/platform/drivers/bcmgenet")
        return tree
    }

    private static func collect(_ tree: FixtureTree, isOffline: Bool = true) async -> BoardReport {
        let environment = tree.environment(
            isOffline: isOffline,
            units: FixedUnits(states: [
                UnitState(
                    name: "watchbox-control.service", load: "loaded", active: "active", sub: "running",
                    activeSinceMonotonic: 14_300_000),
                UnitState(
                    name: "watchbox-camera@front-door.service", load: "loaded", active: "active", sub: "running",
                    activeSinceMonotonic: 21_500_000),
                UnitState(
                    name: "watchbox-camera@again.service", load: "loaded", active: "active", sub: "running",
                    activeSinceMonotonic: 5_000_000_000),
            ]))
        let findings = DoctorReport(
            time: 0, version: "0.2.0", isOffline: isOffline,
            findings: [
                DoctorFinding(
                    check: "network", state: .ok, evidence: "eth0 has 192.168.1.5 and 2001:db8::5, front-door is live"),
                DoctorFinding(
                    check: "relay", state: .fail, evidence: "live.example.net refuses alice", code: .relayUnreachable),
            ])
        let encoders = CameraEncodersDocument(
            cameras: nil,
            nodes: [
                .init(device: "/dev/video11", card: "bcm2835-codec-encode", driver: "bcm2835-codec", codecs: ["h264"])
            ], libraries: [.init(name: "h264_v4l2m2m", isHardware: true, isAvailable: true, works: true, rate: 61.5)])
        return await BoardReport.collect(findings, encoders: encoders, in: environment)
    }

    @Test func `a Raspberry Pi is described from its own files`() async throws {
        let report = await Self.collect(try Self.raspberryPi())
        #expect(report.board.model == "Raspberry Pi 4 Model B Rev 1.4" && report.board.revision == "c03114")
        #expect(report.board.compatible == ["raspberrypi,4-model-b", "brcm,bcm2711"])
        #expect(report.board.firmware == "boot loader of 2024-01-09")
        #expect(report.board.processors == 4 && report.board.hasAES == false)
        #expect(report.system.release == "Debian GNU/Linux 13 (trixie)" && report.system.kernel == "6.12.34+rpt-rpi-v8")
        #expect(report.system.image == "Raspberry Pi reference 2026-05-06")
        #expect(report.memory.total == 3792 && report.memory.contiguous == 512)
        #expect(report.memory.hasController == false && report.memory.hasPressure)
        #expect(report.watchdog.state == "active" && report.watchdog.timeoutSeconds == 14)
        #expect(report.clock.hardware == nil && report.clock.isSynchronised == true)
        #expect(report.power.isTooLow == true && report.power.wasTooLow == true && report.power.throttled == "50005")
        #expect(report.power.isProcessorSlowed == true && report.power.celsius == 51.234)
        #expect(report.storage.fileSystem == "ext4" && report.storage.isRootReadOnly == true)
        // Written in 93784 s: 1000 MB.
        #expect(
            report.storage.disks == [
                .init(kind: "SD", product: "SC32G", size: 31917, written: 1000, writtenPerDay: 921, holdsRoot: true)
            ])
        #expect(
            report.network == [
                .init(kind: "ethernet", driver: "bcmgenet", hasCarrier: true, speed: 1000),
                .init(kind: "wireless", hasCarrier: false),
            ])
        #expect(report.encoders.map(\.works) == [true] && report.encoderDevices.count == 1)
        #expect(report.checks.map(\.check) == ["network", "relay"])
        #expect(report.checks.last?.state == .fail && report.checks.last?.code == .relayUnreachable)
        #expect(report.streams == nil && report.start.controlReady == nil)
    }

    @Test func `of a machine that says nothing everything is left out`() async throws {
        let report = await Self.collect(try FixtureTree())
        #expect(report.board == BoardReport.Board() && report.power == BoardReport.Power())
        #expect(report.watchdog == BoardReport.Watchdog() && report.storage == BoardReport.Storage())
        #expect(report.network.isEmpty && report.cameras.isEmpty && report.start == BoardReport.Start())
    }

    @Test func `nothing on the page is about its owner`() async throws {
        let tree = try Self.raspberryPi()
        let statistics = CameraStatistics(camera: "front-door", stream: "front-door")
        let camera = CameraDocument(
            id: "front-door", name: "Front Door", source: "rtsp://alice:hunter22@192.168.1.5/1", origin: "store",
            stream: StreamDocument(
                camera: "front-door", stream: "front-door", state: .live, reason: "192.168.1.5 answers", restarts: 0,
                unit: "watchbox-camera@front-door.service", statistics: statistics))
        let status = BoxStatus(
            name: "porch-box", version: "0.2.0", state: .ok, time: 0, uptimeSeconds: 1, generation: 1,
            cameras: [camera],
            relays: [
                RelayDocument(
                    name: "main", url: "rtmps://live.example.net/live", hasSecret: true, certificateAuthorityFile: nil,
                    profile: "keeps-metadata", origin: "store", cameras: ["front-door"])
            ], keyAccess: KeyAccessDocument(url: "https://live.example.net/kas", hasToken: true, origin: "store"),
            secretProtection: "tpm2")
        let daemon = try CannedDaemon(
            "\(tree.root)/run/watchbox/api.sock", answers: ["/api/v1/status": JSONDocument.text(status)])
        let report = await Self.collect(tree, isOffline: false)
        withExtendedLifetime(daemon) {}
        #expect(report.streams == [.init(source: "rtsp", state: "live")])
        #expect(report.start.controlReady == 14.3 && report.start.cameraReady == 21.5)
        let text = JSONDocument.text(report)
        for secret in Self.planted { #expect(!text.contains(secret), "\(secret) in \(text)") }
    }

    /// A driver, or an image, may have written one into a name.
    @Test(arguments: [
        "Camera 10000000abcdef01", "eth dc:a6:32:01:02:03", "dc-a6-32-01-02-03", "at 192.168.1.5", "1.2.3.4:80",
        "fe80::1", "2001:db8:0:0:0:0:0:1", "SN0123456789", "", "\u{1}\u{2}",
    ])
    func `a text that looks like an address or a serial number is left out`(text: String) {
        #expect(ReportText.safe(text) == nil)
    }

    @Test(arguments: [
        "Raspberry Pi 4 Model B Rev 1.4", "6.12.34+rpt-rpi-v8", "Debian GNU/Linux 13 (trixie)", "2026-05-06",
        "046d:082d", "6.1.0-28-arm64", "Samsung SSD 970 EVO 500GB", "raspberrypi,5-model-b", "F3 v1.0", "SC32G",
        "Broadcom BCM2835 Watchdog timer", "Raspberry Pi reference 2026-05-06", "bcm2835-codec-encode",
    ])
    func `a kind of thing is shown`(text: String) {
        #expect(ReportText.safe(text) == text)
        #expect(ReportText.safe("  \(text)\u{0}\n") == text)
    }

    @Test func `a long text is cut`() {
        #expect(ReportText.safe(String(repeating: "x", count: 5000))?.utf8.count == ReportText.maxLength)
    }
}
