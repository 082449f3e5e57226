internal import Glibc
public import Platform

/// Room for what another system begins with: a copy of the settings and the state of the one that runs, made at its first start
/// (`wb_copy_slot` in packaging/image/overlay/etc/initramfs-tools/scripts/watchbox). Without it that system would start with
/// nothing, and be taken back after three starts.
public struct StateRoom: Equatable, Sendable {
    /// Bytes on the card that the copy takes.
    public var needed: UInt64
    /// Bytes that are free for it.
    public var free: UInt64

    public init(needed: UInt64, free: UInt64) {
        self.needed = needed
        self.free = free
    }

    /// Beside the copy: what the new system adds of its own, and writes until it is kept.
    private static let reserve: UInt64 = 64 << 20
    private static let maxDepth = 64
    private static let maxEntries = 1_000_000
    /// Of /var: what is only on its way, and not copied.
    private static let left: Set = ["tmp", "cache", "log"]

    public var isEnough: Bool { free >= needed + Self.reserve }

    /// How much has to be freed, in whole megabytes.
    public var missingMegabytes: UInt64 { isEnough ? 0 : (needed + Self.reserve - free + 999_999) / 1_000_000 }

    /// - Parameter slot: the directory of what the running system writes, `/data/slots/a`.
    /// - Throws: when a directory of it cannot be read, or it is deeper or holds more than any box's does.
    public static func look(at slot: String) throws(FileFailure) -> StateRoom {
        var file = statvfs()
        guard statvfs(slot, &file) == 0 else { throw FileFailure(call: "statvfs", path: slot, number: errno) }
        var (entries, needed) = (0, UInt64(0))
        for part in ["etc", "var"] {
            try add("\(slot)/\(part)", leaving: part == "var" ? left : [], depth: 0, &entries, &needed)
        }
        // What root may use: it makes the copy.
        return StateRoom(needed: needed, free: UInt64(file.f_bfree) * UInt64(file.f_frsize))
    }

    private static func add(
        _ path: String, leaving: Set<String>, depth: Int, _ entries: inout Int, _ bytes: inout UInt64
    ) throws(FileFailure) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            // It went while this looked.
            if errno == ENOENT { return }
            throw FileFailure(call: "lstat", path: path, number: errno)
        }
        entries += 1
        guard depth < maxDepth, entries < maxEntries else { throw FileFailure(call: "stat", path: path, number: E2BIG) }
        bytes += UInt64(max(status.st_blocks, 0)) * 512
        guard status.st_mode & S_IFMT == S_IFDIR else { return }
        for name in try names(in: path) where !leaving.contains(name) {
            try add("\(path)/\(name)", leaving: [], depth: depth + 1, &entries, &bytes)
        }
    }

    private static func names(in path: String) throws(FileFailure) -> [String] {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return [] }
            throw FileFailure(call: "open", path: path, number: errno)
        }
        defer { close(descriptor) }
        return try Directory.names(of: descriptor, path: path)
    }
}
