internal import Glibc

/// One line of mountinfo (proc_pid_mountinfo(5)).
public struct Mount: Equatable, Sendable {
    /// `179:2`, as in `/sys/dev/block`.
    public var device: String
    /// Where it is seen.
    public var point: String
    /// Of the file system: `ext4`, `tmpfs`.
    public var type: String
    /// What it is made of, as given to `mount`: `/dev/mmcblk0p2`.
    public var source: String
    /// `ro` among the options of this mount: a sandbox makes it so for its own service, too.
    public var isReadOnly: Bool
    /// `ro` among the options of the file system itself: true for everybody.
    public var isFileSystemReadOnly: Bool
    /// The file system gave up by itself: ext4 says `emergency_ro` or `shutdown`. Not `errors=remount-ro`, which only
    /// says what it would do.
    public var isStopped: Bool

    /// Nil for what is not such a line.
    public init?(line: some StringProtocol) {
        let halves = line.split(separator: " - ", maxSplits: 1)
        guard halves.count == 2 else { return nil }
        let left = halves[0].split(separator: " ")
        let right = halves[1].split(separator: " ")
        guard left.count >= 6, right.count >= 3 else { return nil }
        device = String(left[2])
        point = Self.unescaped(left[4])
        type = String(right[0])
        source = Self.unescaped(right[1])
        isReadOnly = left[5].split(separator: ",").contains("ro")
        let options = right[2].split(separator: ",")
        isFileSystemReadOnly = options.contains("ro")
        isStopped = options.contains("emergency_ro") || options.contains("shutdown")
    }

    /// What a file lists, `/proc/self/mountinfo` above all; none when it cannot be read.
    public static func all(_ path: String) -> [Mount] { all(text: SmallFile.text(path, atMost: 1 << 20) ?? "") }

    /// Of the file system that a file is on; nil when that cannot be determined.
    public static func of(_ path: String) -> Mount? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        let device = UInt64(status.st_dev)
        let (major, minor) = ((device >> 8) & 0xfff | (device >> 32) & ~0xfff, device & 0xff | (device >> 12) & ~0xff)
        return all("/proc/self/mountinfo").first { $0.device == "\(major):\(minor)" }
    }

    public static func all(text: String) -> [Mount] {
        text.split(separator: "\n").compactMap { Mount(line: $0) }
    }

    /// `\040` for a space, and so on.
    private static func unescaped(_ text: some StringProtocol) -> String {
        guard text.contains("\\") else { return String(text) }
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.first {
            let digits = rest.dropFirst().prefix(3)
            if byte == UInt8(ascii: "\\"), digits.count == 3,
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
            {
                bytes.append(value)
                rest = rest.dropFirst(4)
            } else {
                bytes.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
