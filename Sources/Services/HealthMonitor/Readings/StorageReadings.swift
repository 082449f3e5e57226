internal import BoxReadings
internal import Glibc
internal import Platform

/// Where the data is, and whether it may be written.
struct MountReading: Equatable, Sendable {
    /// Of the data directory; nil when mountinfo could not be read.
    var data: Mount?
    /// Of `/`.
    var root: Mount?
    /// Errors that ext4 has on record for it, kept on the disk until a check; nil when it is not an ext4.
    var rootErrors: Int64?

    static func read(_ paths: HealthPaths) -> MountReading {
        let mounts = Mount.all("\(paths.box.processRoot)/self/mountinfo")
        let root = mounts.last { $0.point == "/" }
        return MountReading(
            data: mount(of: paths.dataDirectory, in: mounts), root: root,
            rootErrors: root.flatMap { errors(of: $0, paths) })
    }

    private static func errors(of mount: Mount, _ paths: HealthPaths) -> Int64? {
        // The source may be a name such as /dev/root or /dev/mapper/system, which the kernel does not list under ext4.
        let target = SmallFile.link("\(paths.box.systemRoot)/dev/block/\(mount.device)") ?? mount.source
        return target.split(separator: "/").last.flatMap {
            SmallFile.number("\(paths.box.systemRoot)/fs/ext4/\($0)/errors_count")
        }
    }

    /// The longest mount point above `path`; of equals the last one, which covers the others.
    static func mount(of path: String, in mounts: [Mount]) -> Mount? {
        var best: Mount?
        for mount in mounts where mount.point == "/" || path == mount.point || path.hasPrefix(mount.point + "/") {
            if mount.point.utf8.count >= best?.point.utf8.count ?? 0 { best = mount }
        }
        return best
    }
}

/// A file that was written, flushed and read back.
struct CanaryReading: Equatable, Sendable {
    /// Nil: it worked.
    var failure: Int32?
    /// Which call failed.
    var call: String?
    var milliseconds: Double = 0

    private static func content(_ time: UInt64) -> [UInt8] {
        let text = [UInt8]("\(time)".utf8)
        return text + [UInt8](repeating: UInt8(ascii: " "), count: max(0, 31 - text.count)) + [UInt8(ascii: "\n")]
    }

    static func read(_ paths: HealthPaths) -> CanaryReading {
        let begin = Clocks.monotonic
        let path = "\(paths.stateDirectory)/canary"
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return CanaryReading(failure: errno, call: "open") }
        defer { close(descriptor) }
        // In place, and always as long: only the data is new, once a minute for years, and no block is given back and
        // taken.
        let bytes = content(begin)
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_size > bytes.count { ftruncate(descriptor, off_t(bytes.count)) }
        let written = pwrite(descriptor, bytes, bytes.count, 0)
        guard written == bytes.count else {
            return CanaryReading(failure: written < 0 ? errno : ENOSPC, call: "write")
        }
        guard fdatasync(descriptor) == 0 else { return CanaryReading(failure: errno, call: "fdatasync") }
        var buffer = [UInt8](repeating: 0, count: bytes.count)
        guard pread(descriptor, &buffer, buffer.count, 0) == bytes.count, buffer == bytes else {
            return CanaryReading(failure: EIO, call: "read")
        }
        return CanaryReading(milliseconds: Double(Clocks.monotonic - begin) / 1e6)
    }
}
