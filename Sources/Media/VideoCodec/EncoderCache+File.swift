internal import FoundationEssentials
internal import Glibc
public import Platform

extension EncoderCache {
    /// Seconds since boot, time asleep included (CLOCK_BOOTTIME).
    public static var now: Double {
        Double(Clocks.boot) / 1e9
    }

    /// The kernel's name for this boot; empty where it has none.
    public static var currentBootID: String {
        Clocks.bootIdentifier
    }

    /// What the file says of this boot. A file that is not there, cannot be read, or is of another boot says nothing.
    public static func load(_ path: String, bootID: String = currentBootID) -> EncoderCache {
        guard let bytes = try? SmallFile.whole(path, limit: maxFileSize),
            let memory = try? JSONDecoder().decode(EncoderCache.self, from: Data(bytes)),
            memory.bootID == bootID, memory.isPlausible
        else { return EncoderCache(bootID: bootID) }
        return memory
    }

    /// Replaces the file as a whole: who reads it finds the old content or the new one.
    public func store(_ path: String) throws(FileFailure) {
        guard let data = try? JSONEncoder().encode(self), data.count <= Self.maxFileSize else {
            throw FileFailure(call: "encode", path: path, number: EFBIG)
        }
        // Two processes with one file do not write into each other's new one. Not flushed: after a power cut it is
        // another boot, and the content is worth nothing.
        let name = path.split(separator: "/").last ?? ""
        try DurableFile.replace(
            path, with: [UInt8](data), through: "\(name).\(getpid())", isFlushed: false)
    }

    /// Notes a hang in the file, for the moment in which the process gives up.
    ///
    /// - Returns: what the file says now; nil when it could not be written.
    @discardableResult
    public static func noteHang(of encoder: String, in path: String) -> EncoderCache? {
        var memory = load(path)
        memory.noteHang(of: encoder, at: now)
        do throws(FileFailure) {
            try memory.store(path)
        } catch {
            return nil
        }
        return memory
    }

    static let maxFileSize = 64 << 10
}
