package import ControlAPI
internal import Glibc

/// How full a file system is.
package struct DiskReading: Equatable, Sendable {
    /// It, or its directory, cannot be asked.
    package struct Failure: Error {
        package var errno: Int32

        package var isMissing: Bool { errno == ENOENT || errno == ENOTDIR }
    }

    package var sizeBytes: UInt64
    /// For unprivileged users.
    package var freeBytes: UInt64
    /// Share in use as `df` counts it.
    package var blocksUsed: Double
    /// Nil on file systems without a fixed number of inodes.
    package var inodesUsed: Double?
    /// For this process: a sandbox may have made it so.
    package var isReadOnly = false

    /// Of the file system that the directory is on.
    package static func read(_ directory: String) throws(Failure) -> DiskReading {
        var status = statvfs()
        guard statvfs(directory, &status) == 0 else { throw Failure(errno: errno) }
        guard status.f_blocks > 0 else { throw Failure(errno: ENODATA) }
        let unit = UInt64(status.f_frsize)
        let used = UInt64(status.f_blocks) - min(UInt64(status.f_bfree), UInt64(status.f_blocks))
        let usable = used + UInt64(status.f_bavail)
        return DiskReading(
            sizeBytes: UInt64(status.f_blocks) * unit, freeBytes: UInt64(status.f_bavail) * unit,
            blocksUsed: usable > 0 ? Double(used) / Double(usable) : 1,
            inodesUsed: status.f_files > 0
                ? Double(status.f_files - min(status.f_ffree, status.f_files)) / Double(status.f_files) : nil,
            isReadOnly: status.f_flag & UInt(ST_RDONLY) != 0)
    }

    /// Blocks and inodes both fill it.
    package func verdict(limits: HealthThresholds.Pair, was: HealthState?) -> HealthState {
        limits.state(max(blocksUsed, inodesUsed ?? 0), was: was, slack: 0.01)
    }
}
