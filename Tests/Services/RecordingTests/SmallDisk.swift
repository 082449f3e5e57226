import Foundation
import Glibc

/// A file system of its own, with little room.
struct SmallDisk {
    private let path: String

    /// Nil where nothing may be mounted.
    init?(at path: String, bytes: Int) {
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(bytes),mode=700") == 0 else { return nil }
        self.path = path
    }

    func unmount() {
        Self.unmount(path)
    }

    static func unmount(_ path: String) {
        umount2(path, CInt(MNT_DETACH))
    }

    /// Mounts a file on itself.
    static func bind(_ path: String) -> Bool {
        mount(path, path, "", UInt(MS_BIND), nil) == 0
    }

    /// Whether this process may.
    static let isPossible: Bool = {
        let path = NSTemporaryDirectory() + "watchbox-mount-" + UUID().uuidString
        mkdir(path, 0o700)
        defer { rmdir(path) }
        guard let disk = SmallDisk(at: path, bytes: 1 << 16) else { return false }
        disk.unmount()
        return true
    }()
}
