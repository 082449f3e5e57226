internal import Glibc

/// A file that is written anew each time, flushed, and only then put in place, so that a power cut leaves the old one or the
/// new one.
public enum DurableFile {
    public struct Failure: Error, Equatable, Sendable, CustomStringConvertible {
        public var call: String
        public var path: String
        public var number: Int32

        public var description: String { "\(path): \(call): \(String(cString: strerror(number)))" }
    }

    /// For its owner alone.
    public static func replace(_ path: String, with bytes: [UInt8]) throws(Failure) {
        let temporary = "\(path).new"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Failure(call: "open", path: temporary, number: errno) }
        do throws(Failure) {
            defer { close(descriptor) }
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                if count < 0, errno == EINTR { continue }
                guard count > 0 else {
                    throw Failure(call: "write", path: temporary, number: count < 0 ? errno : ENOSPC)
                }
                rest = rest.dropFirst(count)
            }
            guard fsync(descriptor) == 0 else { throw Failure(call: "fsync", path: temporary, number: errno) }
        } catch {
            unlink(temporary)
            throw error
        }
        guard rename(temporary, path) == 0 else { throw Failure(call: "rename", path: path, number: errno) }
        let directory = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        let parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { throw Failure(call: "open", path: directory, number: errno) }
        defer { close(parent) }
        guard fsync(parent) == 0 else { throw Failure(call: "fsync", path: directory, number: errno) }
    }
}
