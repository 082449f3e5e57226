internal import FoundationEssentials
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
        do throws(FileFailure) {
            try DurableFile.replace(path, with: bytes)
            return nil
        } catch {
            return error.reason
        }
    }
}
