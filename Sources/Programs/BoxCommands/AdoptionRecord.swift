internal import Cryptography
import Platform
internal import Wire

/// By which file a box was adopted. Whoever can put a stick into a box is not yet its owner: one that is adopted takes nothing
/// from there but the end of what a power cut interrupted.
struct AdoptionRecord: Sendable {
    /// On the box, and kept with its state.
    let path: String
    /// Anybody can put it in: a stick, and not the card that the box starts from.
    let isRemovable: Bool

    /// Whether a file may be taken.
    ///
    /// - Parameter bytes: all of it; nil: it is none that can be read.
    func allows(_ bytes: [UInt8]?) -> Bool {
        guard isRemovable else { return true }
        do throws(SmallFile.Failure) {
            let sum = try SmallFile.whole(path, limit: 4096, followsLinks: false)
            return bytes.map { Self.text(of: $0) == sum } ?? false
        } catch {
            // What is there and cannot be read says that the box is somebody's.
            return error == .missing
        }
    }

    /// Before anything of the file is put to use, so that no power cut leaves an adopted box without it.
    func write(_ bytes: [UInt8]) throws(FileFailure) {
        try DurableFile.replace(path, with: Self.text(of: bytes))
    }

    private static func text(of bytes: [UInt8]) -> [UInt8] {
        Array((Hexadecimal.encode(Digest.sha256(bytes)) + "\n").utf8)
    }
}
