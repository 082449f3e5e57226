internal import Platform

/// What this process sees mounted (proc(5), `/proc/self/mountinfo`).
enum MountTable {
    /// Whether the file system of a device number is a tmpfs or a ramfs.
    static func isMemory(device: UInt64, table: String = text()) -> Bool {
        let major = (device >> 8) & 0xfff | (device >> 32) & ~0xfff
        let minor = device & 0xff | (device >> 12) & ~0xff
        let wanted = "\(major):\(minor)"
        for line in table.split(separator: "\n") {
            // 36 35 98:0 /root /mount/point options optional… - type source options
            let fields = line.split(separator: " ")
            guard fields.count > 3, fields[2] == wanted, let dash = fields.firstIndex(of: "-"),
                dash + 1 < fields.endIndex
            else { continue }
            return fields[dash + 1] == "tmpfs" || fields[dash + 1] == "ramfs"
        }
        return false
    }

    private static func text() -> String {
        SmallFile.text("/proc/self/mountinfo", atMost: 1 << 20) ?? ""
    }
}
