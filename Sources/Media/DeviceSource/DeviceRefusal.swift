internal import Glibc
internal import Platform
internal import VideoCapture

/// A device that its mode and its group would give to this process, and that the kernel refuses all the same: the rule
/// of the unit's control group is in the way. systemd makes it when it starts the unit, from the drivers that are there
/// then; for one that came later only a new start makes it again, so the process ends itself.
///
/// Once for each appearance of a device: where the rule forbids it for good, the next process finds the mark of this
/// one and waits for a person, as for every other refusal.
struct DeviceRefusal: Sendable {
    /// One appearance of a device: it is made again whenever it comes back, and changed when its owner is.
    struct Appearance: Equatable, Sendable, CustomStringConvertible {
        var device: UInt64
        var inode: UInt64
        var changedSeconds: Int
        var changedNanoseconds: Int

        var description: String { "\(device) \(inode) \(changedSeconds).\(changedNanoseconds)\n" }
    }

    private let markFile: String?
    private let appearance: @Sendable (_ path: String) -> Appearance?
    private var first: (appearance: Appearance, at: UInt64)?
    private var count = 0

    /// In a row, over so many nanoseconds: a device that has just come may not be ready.
    private static let fewest = 5
    private static let minLength: UInt64 = 2_000_000_000

    /// - Parameters:
    ///   - markFile: outlives the process, not the boot; nil: nothing starts this process again.
    ///   - appearance: of a device that mode and group give to this process; nil: they do not, or it is gone.
    init(markFile: String?, appearance: @escaping @Sendable (_ path: String) -> Appearance? = Self.granted) {
        self.markFile = markFile
        self.appearance = appearance
    }

    mutating func opened() {
        first = nil
        count = 0
    }

    /// - Returns: the process is to end; the mark is made.
    mutating func refused(_ path: String, at now: UInt64) -> Bool {
        guard let markFile, let seen = appearance(path) else {
            opened()
            return false
        }
        if first?.appearance != seen {
            first = (seen, now)
            count = 0
        }
        count += 1
        guard count >= Self.fewest, let first, now &- first.at >= Self.minLength else { return false }
        guard Self.mark(in: markFile) != seen.description else { return false }
        return Self.set(seen.description, in: markFile)
    }

    // MARK: What the kernel says

    /// Of a character device that this process might read and write by its mode, its owner and its group.
    static let granted: @Sendable (_ path: String) -> Appearance? = { path in
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFCHR else { return nil }
        var groups = [gid_t](repeating: 0, count: 1024)
        let count = getgroups(CInt(groups.count), &groups)
        groups = [getegid()] + groups.prefix(Int(max(0, count)))
        guard
            isGranted(
                mode: status.st_mode, owner: status.st_uid, group: status.st_gid, user: geteuid(), groups: groups)
        else { return nil }
        return Appearance(
            device: UInt64(status.st_rdev), inode: UInt64(status.st_ino), changedSeconds: status.st_ctim.tv_sec,
            changedNanoseconds: status.st_ctim.tv_nsec)
    }

    /// As the kernel decides for a process without capabilities: the first class that it belongs to, and no other.
    static func isGranted(mode: mode_t, owner: uid_t, group: gid_t, user: uid_t, groups: [gid_t]) -> Bool {
        let shift: mode_t = user == owner ? 6 : groups.contains(group) ? 3 : 0
        return mode >> shift & 0o6 == 0o6
    }

    private static func mark(in file: String) -> String? {
        (try? SmallFile.whole(file, limit: 256, followsLinks: false)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// False: without the mark the next process would end itself as well, and the one after it.
    private static func set(_ mark: String, in file: String) -> Bool {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let bytes = Array(mark.utf8)
        return write(descriptor, bytes, bytes.count) == bytes.count
    }
}
