import Console
import Platform
import Wire

/// The publish key that a relay makes for itself when other machines reach it and it was given none.
enum MadePublishKey {
    /// The path of the file of keys in the state directory; it is made on the first call, with one key for all streams,
    /// for its owner's eyes only.
    static func file(in state: String) throws(CommandFailure) -> String {
        let path = state + "/publish-keys"
        guard !SmallFile.exists(path) else { return path }
        var generator = SystemRandomNumberGenerator()
        let key = (0..<4).map { _ in Hexadecimal.encode(generator.next() as UInt64) }
        // Whole or not at all, and there after a power cut as well: cameras are given this key.
        do throws(FileFailure) {
            try DurableFile.replace(path, with: Array("* = \(key.joined())\n".utf8))
        } catch {
            throw CommandFailure(
                what: "the relay does not run", why: "\(path) cannot be written: \(error.reason)",
                hint: "check the state directory, or give the relay a file of publish keys",
                status: .invalidConfiguration)
        }
        return path
    }
}
