internal import Platform

/// What this process sees mounted (proc(5), `/proc/self/mountinfo`).
enum MountTable {
    /// Whether the file system of a device number is a tmpfs or a ramfs.
    static func isMemory(device: UInt64, mounts: [Mount] = Mount.all("/proc/self/mountinfo")) -> Bool {
        let major = (device >> 8) & 0xfff | (device >> 32) & ~0xfff
        let minor = device & 0xff | (device >> 12) & ~0xff
        let type = mounts.first { $0.device == "\(major):\(minor)" }?.type
        return type == "tmpfs" || type == "ramfs"
    }
}
