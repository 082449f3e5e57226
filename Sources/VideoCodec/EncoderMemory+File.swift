internal import FoundationEssentials
internal import Glibc
internal import Platform

extension EncoderMemory {
    /// Seconds since boot, time asleep included (CLOCK_BOOTTIME).
    public static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// The kernel's name for this boot; empty where it has none.
    public static var currentBootID: String {
        SmallFile.line("/proc/sys/kernel/random/boot_id") ?? ""
    }

    /// What the file says of this boot. A file that is not there, cannot be read, or is of another boot says nothing.
    public static func load(_ path: String, bootID: String = currentBootID) -> EncoderMemory {
        guard let bytes = try? SmallFile.whole(path, limit: longestFile),
            let memory = try? JSONDecoder().decode(EncoderMemory.self, from: Data(bytes)),
            memory.bootID == bootID, memory.isPlausible
        else { return EncoderMemory(bootID: bootID) }
        return memory
    }

    /// Replaces the file as a whole: who reads it finds the old content or the new one.
    public func store(_ path: String) throws(EncoderMemoryError) {
        guard let data = try? JSONEncoder().encode(self), data.count <= Self.longestFile else {
            throw EncoderMemoryError(call: "encode", path: path, number: EFBIG)
        }
        // Two processes with one file do not write into each other's new one.
        let new = "\(path).\(getpid())"
        let file = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw EncoderMemoryError(call: "open", path: new, number: errno) }
        var failure = Self.write([UInt8](data), to: file)
        if close(file) != 0, failure == 0 { failure = errno }
        if failure == 0, rename(new, path) != 0 { failure = errno }
        guard failure != 0 else { return }
        unlink(new)
        throw EncoderMemoryError(call: "write", path: path, number: failure)
    }

    /// Notes a hang in the file, for the moment in which the process gives up.
    ///
    /// - Returns: what the file says now; nil when it could not be written.
    @discardableResult
    public static func noteHang(of encoder: String, in path: String) -> EncoderMemory? {
        var memory = load(path)
        memory.noteHang(of: encoder, at: now)
        do throws(EncoderMemoryError) {
            try memory.store(path)
        } catch {
            return nil
        }
        return memory
    }

    static let longestFile = 64 << 10

    /// 0, or an errno. Not synced: after a power cut it is another boot, and the content is worth nothing.
    private static func write(_ bytes: [UInt8], to file: Int32) -> Int32 {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return count < 0 ? errno : EIO }
            rest = rest.dropFirst(count)
        }
        return 0
    }
}

/// Why the memory could not be written.
public struct EncoderMemoryError: Error, Equatable, Sendable, CustomStringConvertible {
    public var call: String
    public var path: String
    /// errno.
    public var number: Int32

    public var description: String { "\(call) \(path): \(String(cString: strerror(number)))" }
}
