public import ControlAPI
internal import ErrorCatalog

/// A board report as a page in Markdown, to be pasted into an issue.
public enum BoardReportView {
    public static let promise =
        "No serial numbers, addresses, names of boxes, cameras or networks, and no secrets are on this page."

    public static func lines(_ report: BoardReport) -> [String] {
        var rows: [(String, String?)] = []
        rows += board(report)
        rows += memory(report.memory)
        rows += supervision(report)
        rows += storage(report.storage)
        rows.append(("Network", list(report.network.map(text))))
        rows += media(report)
        rows += start(report.start)
        var lines = ["### Board report, WatchBox \(report.version)", "", "| what | |", "|---|---|"]
        lines += rows.map { "| \($0.0) | \(cell($0.1 ?? "not known")) |" }
        lines += ["", "Checks of the doctor:", ""]
        for state in [HealthState.fail, .warn, .unknown, .ok] {
            let checks = report.checks.filter { $0.state == state }
            guard !checks.isEmpty else { continue }
            let names = checks.map { check in check.check + (check.code.map { " (\($0))" } ?? "") }
            lines.append("- \(state.rawValue): \(cell(names.joined(separator: ", ")))")
        }
        return lines + ["", promise]
    }

    private static func board(_ report: BoardReport) -> [(String, String?)] {
        let board = report.board
        let processors = board.processors.map { Quantity.count($0, "processor") }
        let aes = board.hasAES.map { $0 ? "with AES" : "without AES" }
        return [
            ("Board", list([board.model, board.revision.map { "revision \($0)" }])),
            ("Device tree", list(board.compatible)),
            ("Firmware", board.firmware),
            ("Processors", list([processors, aes, report.system.architecture])),
            ("System", list([report.system.release, report.system.image])),
            ("Kernel", report.system.kernel),
        ]
    }

    private static func memory(_ memory: BoardReport.Memory) -> [(String, String?)] {
        let available = memory.available.map { "\($0) MB available" }
        let contiguous = memory.contiguous.map { "\($0) MB for devices (CMA)" }
        return [
            (
                "Memory",
                list([memory.total.map { "\($0) MB" }, available, memory.swap.map { "\($0) MB swap" }, contiguous])
            ),
            (
                "Memory limits",
                memory.hasController.map { $0 ? "yes" : "NO: the kernel's cgroup controller for memory is off" }
            ),
            ("Pressure (PSI)", memory.hasPressure ? "yes" : "NO: the kernel reports none"),
        ]
    }

    private static func supervision(_ report: BoardReport) -> [(String, String?)] {
        let watchdog = report.watchdog
        let power = report.power
        let supply = power.isTooLow.map { isTooLow in
            isTooLow ? "TOO LOW now" : power.wasTooLow == true ? "too low since boot" : "no under-voltage"
        }
        let heat = power.celsius.map { "\(Quantity.tenths($0)) °C" }
        let slowed = power.isProcessorSlowed == true ? "the firmware has slowed the processor" : nil
        return [
            (
                "Watchdog",
                watchdog.name == nil
                    ? "none"
                    : list([
                        watchdog.name, watchdog.state, watchdog.timeoutSeconds.map { "resets after \($0) s" },
                        watchdog.forcedLastBoot ? "it forced the last boot" : nil,
                    ])
            ),
            ("Hardware clock", report.clock.hardware ?? "none"),
            ("Time server followed", report.clock.isSynchronised.map { $0 ? "yes" : "NO" }),
            ("Supply", list([supply, power.throttled.map { "throttled 0x\($0)" }])),
            ("Heat", list([heat, slowed])),
        ]
    }

    private static func storage(_ storage: BoardReport.Storage) -> [(String, String?)] {
        let root = storage.isRootReadOnly.map { $0 ? "read-only" : "writable" }
        return [("Root", list([storage.fileSystem, root]))]
            + storage.disks.map { disk in
                let written = disk.written.map { "\($0) MB written since boot" }
                let perDay = disk.writtenPerDay.map { "\($0) MB a day" }
                return (
                    "Disk",
                    list([
                        disk.kind, disk.product, disk.size.map { "\($0) MB" }, disk.holdsRoot ? "holds the root" : nil,
                        written, perDay,
                    ])
                )
            }
    }

    private static func media(_ report: BoardReport) -> [(String, String?)] {
        let devices = report.encoderDevices.map { "\($0.device) \($0.driver): \($0.codecs.joined(separator: ", "))" }
        var rows: [(String, String?)] = [("Encoder devices", list(devices) ?? "none")]
        rows += report.encoders.map { encoder in
            let works =
                encoder.works.map { $0 ? "works" : "does NOT work" }
                ?? (encoder.isAvailable ? "there, not tried" : "not there")
            return (
                "Encoder \(encoder.name)",
                list([works, encoder.rate.map { "\(Quantity.tenths($0)) frames/s" }, encoder.reason])
            )
        }
        if report.cameras.isEmpty { rows.append(("Cameras of this board", "none")) }
        rows += report.cameras.map { camera in
            ("Camera", list([camera.driver, camera.bus, camera.model, list(camera.formats)]))
        }
        guard let streams = report.streams else { return rows + [("Streams", "not known: the daemon does not answer")] }
        if streams.isEmpty { rows.append(("Streams", "none is set")) }
        return rows
            + streams.map { stream in
                let size = stream.width.flatMap { width in stream.height.map { "\(width)x\($0)" } }
                let encoder = stream.encoder.map { name in
                    name + (stream.isHardwareEncoder.map { $0 ? " (hardware)" : " (software)" } ?? "")
                }
                let hangs = stream.encoderHangs.flatMap { $0 > 0 ? "the encoder hung \($0) times" : nil }
                return (
                    "Stream",
                    list([
                        stream.source, stream.state, stream.code.map { "\($0)" }, encoder, size,
                        stream.rate.map { "\(Quantity.tenths($0)) fps" }, hangs,
                    ])
                )
            }
    }

    private static func start(_ start: BoardReport.Start) -> [(String, String?)] {
        let control = start.controlReady.map { ("Boot to control", "\(Quantity.tenths($0)) s") }
        let camera = start.cameraReady.map {
            ("Boot to first frame, or to waiting for one", "\(Quantity.tenths($0)) s")
        }
        let all: [(String, String?)?] = [("Up", start.uptime.map { "\($0) s" }), control, camera]
        return all.compactMap { $0 }
    }

    private static func text(_ link: BoardReport.Link) -> String {
        let speed = link.speed.map { "\($0) Mb/s" }
        return [link.kind, link.driver, link.hasCarrier ? "connected" : "not connected", speed].compactMap(\.self)
            .joined(separator: " ")
    }

    /// Nil when nothing of it is known.
    private static func list(_ parts: [String?]) -> String? {
        let known = parts.compactMap(\.self)
        return known.isEmpty ? nil : known.joined(separator: ", ")
    }

    /// One cell of a table, whatever a driver says.
    private static func cell(_ text: String) -> String {
        Style.oneLine(text).split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}
