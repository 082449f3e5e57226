internal import ControlAPI
internal import Platform

/// What is written to cards and disks, by the kernel's own count.
enum DiskReadings {
    static func storage(_ environment: Environment) -> BoardReport.Storage {
        var storage = BoardReport.Storage()
        let root = Mount.all(environment.path("/proc/self/mountinfo")).last { $0.point == "/" }
        storage.fileSystem = ReportText.safe(root?.type)
        storage.isRootReadOnly = root.map { $0.isReadOnly || $0.isFileSystemReadOnly }
        let uptime = uptime(environment)
        let blocks = environment.path("/sys/block")
        // `../../devices/platform/soc/…/block/mmcblk0/mmcblk0p2`
        let rootPlace = root.flatMap { SmallFile.link(environment.path("/sys/dev/block/\($0.device)")) }
        let rootParts = (rootPlace ?? "").split(separator: "/").map(String.init)
        storage.disks = SmallFile.names(in: blocks).sorted().compactMap { name in
            kind(name, "\(blocks)/\(name)").map { kind in
                disk(kind, "\(blocks)/\(name)", uptime: uptime, holdsRoot: rootParts.contains(name))
            }
        }
        storage.disks = Array(storage.disks.prefix(8))
        return storage
    }

    /// Seconds since boot.
    static func uptime(_ environment: Environment) -> Double? {
        let word = SmallFile.line(environment.path("/proc/uptime"))?.split(separator: " ").first
        return word.flatMap { Double($0) }.flatMap { (0...1e10).contains($0) ? $0 : nil }
    }

    /// Nil for what is no disk of its own: boot partitions of eMMC, loops, memory.
    private static func kind(_ name: String, _ path: String) -> String? {
        if name.hasPrefix("mmcblk") {
            guard !name.contains("boot"), !name.contains("rpmb") else { return nil }
            return ReportText.safe(SmallFile.line("\(path)/device/type")) ?? "mmc"
        }
        return ["nvme", "sd", "vd"].first { name.hasPrefix($0) }
    }

    private static func disk(_ kind: String, _ path: String, uptime: Double?, holdsRoot: Bool) -> BoardReport.Disk {
        // Never `serial`, `cid` and `wwid`, which stand beside them.
        let product = SmallFile.line("\(path)/device/name") ?? SmallFile.line("\(path)/device/model")
        // Sectors of 512 bytes, whatever the disk's own are.
        let size = SmallFile.number("\(path)/size").map { $0 / 1953 }
        let fields = SmallFile.line("\(path)/stat")?.split(separator: " ") ?? []
        let written = fields.count > 6 ? Int64(fields[6]).map { $0 / 1953 } : nil
        var perDay: Int64?
        // Of the first minutes nothing follows for a day.
        if let written, let uptime, uptime >= 3600 { perDay = Int64(Double(written) / uptime * 86_400) }
        return BoardReport.Disk(
            kind: kind, product: ReportText.safe(product), size: size, written: written, writtenPerDay: perDay,
            holdsRoot: holdsRoot)
    }
}
