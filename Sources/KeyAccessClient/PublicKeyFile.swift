internal import FoundationEssentials
internal import Glibc
internal import Platform

/// The file that keeps the last good public key over a restart. Not secret, but whoever can change it chooses whom a
/// camera seals for: it belongs into a directory of the camera's own.
struct PublicKeyFile: Sendable {
    static let limit = 32 * 1024

    let path: String

    /// Nil when there is none, or none that can be read.
    func read() -> KnownPublicKey? {
        guard let bytes = try? SmallFile.whole(path, limit: Self.limit, followsLinks: false) else { return nil }
        return try? KASConnection.decode(KnownPublicKey.self, bytes)
    }

    /// Whole or not at all: a power cut leaves the old file or the new one.
    /// - Returns: why it could not be written; nil when it was.
    func write(_ key: KnownPublicKey) -> String? {
        guard let bytes = try? KASConnection.encode(key) else { return "it cannot be encoded" }
        let new = path + ".new"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { return String(cString: strerror(errno)) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            rest = rest.dropFirst(count)
        }
        let isComplete = rest.isEmpty && fsync(descriptor) == 0
        let code = errno
        close(descriptor)
        guard isComplete, rename(new, path) == 0 else {
            let reason = String(cString: strerror(isComplete ? errno : code))
            unlink(new)
            return reason
        }
        return nil
    }
}
