internal import Glibc

/// Files of the kernel and of the system: read whole, with a bound, and never waited for.
public enum SmallFile {
    public enum Failure: Error, Equatable, CustomStringConvertible {
        case missing
        /// By the kernel.
        case refused(errno: Int32)
        /// Than `limit` bytes, where a part of it says nothing.
        case tooLong(limit: Int)

        public var description: String {
            switch self {
            case .missing: "it is not there"
            case .refused(let number): SystemMessage.text(number)
            case .tooLong(let limit): "it is longer than \(limit) bytes"
            }
        }

        /// As the C library numbers it.
        public var number: CInt {
            switch self {
            case .missing: ENOENT
            case .refused(let number): number
            case .tooLong: EFBIG
            }
        }
    }

    /// Without another limit; `/proc/net/fib_trie` of a router would be longer, and is cut.
    public static let maxBytes = 256 << 10

    /// At most the first `limit` bytes.
    public static func read(_ path: String, atMost limit: Int = maxBytes) throws(Failure) -> [UInt8] {
        let descriptor = try opened(path, O_RDONLY)
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count < limit {
            let count = Glibc.read(descriptor, &buffer, min(buffer.count, limit - bytes.count))
            if count < 0 {
                if errno == EINTR { continue }
                throw .refused(errno: errno)
            }
            if count == 0 { break }
            bytes += buffer[..<count]
        }
        return bytes
    }

    /// All of it, or nothing.
    ///
    /// - Parameters:
    ///   - followsLinks: false: a symbolic link is refused (ELOOP).
    ///   - isOwn: a file of another user is refused (EACCES), though it may be read.
    public static func whole(
        _ path: String, limit: Int, followsLinks: Bool = true, isOwn: Bool = false
    ) throws(Failure) -> [UInt8] {
        let descriptor = try opened(path, O_RDONLY | (followsLinks ? 0 : O_NOFOLLOW))
        defer { close(descriptor) }
        if isOwn {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw .refused(errno: errno) }
            guard status.st_uid == geteuid() else { throw .refused(errno: EACCES) }
        }
        return try WholeFile.read(descriptor, limit: limit)
    }

    private static func opened(_ path: String, _ flags: CInt) throws(Failure) -> CInt {
        // Not blocking: a FIFO in place of a file must not block the caller.
        let descriptor = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor < 0 else { return descriptor }
        let number = errno
        throw number == ENOENT || number == ENOTDIR ? .missing : .refused(errno: number)
    }

    /// Nil when it cannot be read, for files whose absence says nothing.
    public static func text(_ path: String, atMost limit: Int = maxBytes) -> String? {
        (try? read(path, atMost: limit)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Without white space at its ends.
    public static func line(_ path: String) -> String? { text(path, atMost: 4096).map(trimmed) }

    /// A decimal number on a line of its own.
    public static func number(_ path: String) -> Int64? { line(path).flatMap { Int64($0) } }

    /// Whether there is something of that name that may be seen.
    public static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// Names in a directory, sorted, at most 4096; none when it cannot be read.
    public static func names(in directory: String) -> [String] {
        (try? Directory.names(in: directory)) ?? []
    }

    /// Where a symbolic link points to, as it is written in it.
    public static func link(_ path: String) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &buffer, buffer.count)
        return count > 0 ? String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    /// Without white space at its ends, nor the NUL that ends the texts of the device tree.
    public static func trimmed(_ text: some StringProtocol) -> String {
        let isSpace: (Character) -> Bool = { $0.isWhitespace || $0 == "\0" }
        let end = text.lastIndex { !isSpace($0) }
        guard let start = text.firstIndex(where: { !isSpace($0) }), let end else { return "" }
        return String(text[start...end])
    }
}
