import Foundation
import Glibc

/// A disk in a file, with ext4 and its journal on it: a copy of the file, taken at any moment, is what a power cut would leave at that moment.
/// Everything else that the kernel holds in memory for it is not in there.
struct DiskImage {
    let path: String

    /// A new one.
    init(_ path: String, megabytes: Int) throws {
        self.path = path
        try Data().write(to: URL(filePath: path))
        truncate(path, off_t(megabytes) << 20)
        try Self.run("mkfs.ext4", "-q", "-F", "-m", "0", path)
    }

    private init(_ path: String) {
        self.path = path
    }

    /// Two copies that are the same: nothing was written while they were made.
    func copy(to path: String) throws -> DiskImage {
        let second = path + ".2"
        defer { try? FileManager.default.removeItem(atPath: second) }
        for _ in 0..<20 {
            for copy in [path, second] { try Self.run("cp", "--sparse=always", self.path, copy) }
            if FileManager.default.contentsEqual(atPath: path, andPath: second) { return DiskImage(path) }
        }
        throw CocoaError(.fileReadUnknown)
    }

    /// Mounts it at a directory; what its journal has is brought in.
    func mount(at directory: String) throws {
        try Self.run("mount", "-o", "loop", path, directory)
        rmdir("\(directory)/lost+found")
        // Of no user's, and no recording.
        chmod(directory, 0o700)
    }

    static func unmount(_ directory: String) {
        umount2(directory, CInt(MNT_DETACH))
    }

    /// What is on it, without the blocks that are empty.
    func bytes() throws -> [UInt8] {
        let file = try FileHandle(forReadingFrom: URL(filePath: path))
        var bytes: [UInt8] = []
        while let data = try file.read(upToCount: 1 << 20), !data.isEmpty {
            let part = Array(data)
            for begin in stride(from: 0, to: part.count, by: 4096) {
                let block = part[begin..<min(begin + 4096, part.count)]
                if block.contains(where: { $0 != 0 }) { bytes += block }
            }
        }
        return bytes
    }

    /// Whether this machine makes and mounts them.
    static let isPossible: Bool = {
        let path = NSTemporaryDirectory() + "watchbox-image-" + UUID().uuidString
        let directory = path + ".d"
        mkdir(directory, 0o700)
        defer {
            rmdir(directory)
            unlink(path)
        }
        guard (try? DiskImage(path, megabytes: 8).mount(at: directory)) != nil else { return false }
        unmount(directory)
        return true
    }()

    private static func run(_ program: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [program] + arguments
        // Its tools lie where only an administrator's shell looks.
        process.environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"]
        process.standardInput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw CocoaError(.executableLoad) }
    }
}
