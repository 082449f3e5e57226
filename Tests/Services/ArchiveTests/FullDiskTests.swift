import Foundation
import Glibc
import Platform
import TestSupport
import Testing

@testable import Archive

/// A file system of 256 KiB in memory, which it takes root to mount.
private final class SmallDisk {
    static let bytes = 256 << 10
    let directory: String

    init?() {
        directory = NSTemporaryDirectory() + "watchbox-full-" + UUID().uuidString
        guard mkdir(directory, 0o700) == 0 else { return nil }
        guard mount("tmpfs", directory, "tmpfs", UInt(MS_NODEV), "size=\(Self.bytes)") == 0 else {
            rmdir(directory)
            return nil
        }
    }

    deinit {
        umount2(directory, CInt(MNT_DETACH))
        rmdir(directory)
    }

    static let isPossible = SmallDisk() != nil

    /// Takes all room but so many bytes.
    func fill(leaving free: Int) throws {
        var status = statvfs()
        #expect(statvfs(directory, &status) == 0)
        let count = max(0, Int(status.f_bavail) * Int(status.f_frsize) - free)
        try ArchiveStage.write([UInt8](repeating: 7, count: count), "\(directory)/ballast")
    }

    func makeRoom() { unlink("\(directory)/ballast") }
}

@Suite(.ownThread, .enabled(if: SmallDisk.isPossible, "a tmpfs cannot be mounted here: that takes root"))
struct ArchiveFullDiskTests {
    private static let segment = (0..<7000).map { UInt8(truncatingIfNeeded: $0) }

    /// - Parameter free: bytes that are left for the archive; where exactly it is too few differs.
    @Test(arguments: stride(from: 8 << 10, through: 72 << 10, by: 4 << 10).map { $0 })
    func `a full disk costs what there was no room for, and the archive ends when there is some`(free: Int) throws {
        let disk = try #require(SmallDisk())
        try disk.fill(leaving: free)
        let archive = try GrowingStage.archive(in: disk.directory)
        var appended: [[UInt8]] = []
        var refused = 0
        func append() {
            do throws(ArchiveError) {
                try archive.append(Self.segment[...], milliseconds: 1000)
                appended.append(Self.segment)
            } catch {
                guard case .output(let failure) = error, failure.number == ENOSPC else {
                    Issue.record("\(error)")
                    return
                }
                refused += 1
            }
        }
        while refused < 3 { append() }
        try archive.flush()
        let full = appended.count
        // No room for the end either, or just enough.
        let ended = try? archive.end(named: GrowingStage.fileName)
        if ended == nil {
            // Neither has whoever comes later.
            #expect(throws: ArchiveError.self) { try GrowingStage.finish(in: disk.directory) }
            disk.makeRoom()
            if free.isMultiple(of: 8 << 10) {
                append()
                #expect(appended.count == full + 1)
                _ = try archive.end(named: GrowingStage.fileName)
            } else {
                try GrowingStage.finish(in: disk.directory)
            }
        } else {
            disk.makeRoom()
        }
        let found = GrowingStage.count(in: disk.directory, of: appended)
        #expect(found.count == appended.count, "\(found.reason)")
    }

    @Test func `one for which there is no room is not begun`() throws {
        let disk = try #require(SmallDisk())
        for free in [0, 4096] {
            try disk.fill(leaving: free)
            #expect(throws: ArchiveError.self) { try GrowingStage.archive(in: disk.directory) }
            #expect(try GrowingStage.files(in: disk.directory).keys.sorted() == ["ballast"])
            disk.makeRoom()
        }
    }
}
