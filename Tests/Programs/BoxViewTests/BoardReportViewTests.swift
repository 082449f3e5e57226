import ControlAPI
import ErrorCatalog
import Testing

@testable import BoxView

/// A page that is pasted into an issue, letter by letter.
struct BoardReportViewTests {
    @Test func `a board that is known well`() {
        var report = BoardReport(version: "0.2.0")
        report.board.model = "Raspberry Pi 4 Model B Rev 1.4"
        report.board.revision = "c03114"
        report.board.compatible = ["raspberrypi,4-model-b", "brcm,bcm2711"]
        report.board.firmware = "boot loader of 2024-01-09"
        report.board.processors = 4
        report.board.hasAES = false
        report.system.release = "Debian GNU/Linux 13 (trixie)"
        report.system.kernel = "6.12.34+rpt-rpi-v8"
        report.system.architecture = "aarch64"
        report.memory.total = 3792
        report.memory.available = 2929
        report.memory.contiguous = 512
        report.memory.hasController = false
        report.memory.hasPressure = true
        report.watchdog.name = "Broadcom BCM2835 Watchdog timer"
        report.watchdog.state = "active"
        report.watchdog.timeoutSeconds = 14
        report.clock.isSynchronised = true
        report.power.isTooLow = false
        report.power.wasTooLow = true
        report.power.throttled = "50000"
        report.power.celsius = 51.234
        report.storage.fileSystem = "ext4"
        report.storage.isRootReadOnly = false
        report.storage.disks = [
            .init(kind: "SD", product: "SC32G", size: 31917, written: 1000, writtenPerDay: 921, holdsRoot: true)
        ]
        report.network = [
            .init(kind: "ethernet", driver: "bcmgenet", hasCarrier: true, speed: 1000),
            .init(kind: "wireless", hasCarrier: false),
        ]
        report.encoderDevices = [.init(device: "/dev/video11", card: "c", driver: "bcm2835-codec", codecs: ["h264"])]
        report.encoders = [
            .init(name: "h264_v4l2m2m", isHardware: true, isAvailable: true, works: true, rate: 61.5),
            .init(name: "libx265", isHardware: false, isAvailable: false, reason: "a | b"),
        ]
        report.cameras = [
            .init(driver: "uvcvideo", bus: "usb", model: "046d:082d", formats: ["MJPG 1920x1080", "YUYV 640x480"])
        ]
        var stream = BoardReport.Stream(source: "v4l2", state: "live")
        stream.encoder = "h264_v4l2m2m"
        stream.isHardwareEncoder = true
        (stream.width, stream.height, stream.rate) = (1280, 720, 30)
        report.streams = [stream]
        report.start.uptime = 93784
        report.start.cameraReady = 21.5
        report.checks = [
            .init(DoctorFinding(check: "power", state: .warn, evidence: "secret", code: .underVoltage)),
            .init(DoctorFinding(check: "config", state: .ok, evidence: "secret")),
            .init(DoctorFinding(check: "clock", state: .ok, evidence: "secret")),
        ]
        let page = BoardReportView.lines(report).joined(separator: "\n")
        #expect(
            page == """
                ### Board report, WatchBox 0.2.0

                | what | |
                |---|---|
                | Board | Raspberry Pi 4 Model B Rev 1.4, revision c03114 |
                | Device tree | raspberrypi,4-model-b, brcm,bcm2711 |
                | Firmware | boot loader of 2024-01-09 |
                | Processors | 4 processors, without AES, aarch64 |
                | System | Debian GNU/Linux 13 (trixie) |
                | Kernel | 6.12.34+rpt-rpi-v8 |
                | Memory | 3792 MB, 2929 MB available, 512 MB for devices (CMA) |
                | Memory limits | NO: the kernel's cgroup controller for memory is off |
                | Pressure (PSI) | yes |
                | Watchdog | Broadcom BCM2835 Watchdog timer, active, resets after 14 s |
                | Hardware clock | none |
                | Time server followed | yes |
                | Supply | too low since boot, throttled 0x50000 |
                | Heat | 51.2 °C |
                | Root | ext4, writable |
                | Disk | SD, SC32G, 31917 MB, holds the root, 1000 MB written since boot, 921 MB a day |
                | Network | ethernet bcmgenet connected 1000 Mb/s, wireless not connected |
                | Encoder devices | /dev/video11 bcm2835-codec: h264 |
                | Encoder h264_v4l2m2m | works, 61.5 frames/s |
                | Encoder libx265 | not there, a \\| b |
                | Camera | uvcvideo, usb, 046d:082d, MJPG 1920x1080, YUYV 640x480 |
                | Stream | v4l2, live, h264_v4l2m2m (hardware), 1280x720, 30.0 fps |
                | Up | 93784 s |
                | Boot to first frame, or to waiting for one | 21.5 s |

                Checks of the doctor:

                - warn: power (WB-6001)
                - ok: config, clock

                No serial numbers, addresses, names of boxes, cameras or networks, and no secrets are on this page.
                """)
        #expect(!page.contains("secret,"))
    }

    @Test func `a machine that says nothing has a page as well`() {
        let lines = BoardReportView.lines(BoardReport(version: "0.2.0"))
        #expect(lines.contains("| Board | not known |") && lines.contains("| Watchdog | none |"))
        #expect(lines.contains("| Encoder devices | none |") && lines.contains("| Cameras of this board | none |"))
        #expect(lines.last == BoardReportView.promise)
    }
}
