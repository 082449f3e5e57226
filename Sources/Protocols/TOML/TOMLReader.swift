/// Reads TOML 1.0.0 (https://toml.io/en/v1.0.0), all of it: never traps, whatever the text is, and refuses what is beyond
/// its limits.
public enum TOMLReader {
    /// Bytes of a document.
    public static let sizeLimit = 256 << 10
    /// Of keys, dotted keys, lists and tables in each other; `a.b = [1]` has three. The reader recurses no deeper.
    public static let depthLimit = 32
    /// Keys and elements of lists.
    public static let keyLimit = 16_384

    /// - Throws: at the first place that is wrong.
    public static func read(_ text: String, keyLimit: Int = keyLimit) throws(TOMLError) -> TOMLTable {
        guard text.utf8.count <= sizeLimit else {
            throw TOMLError(position: TOMLPosition(line: 1, column: 1), reason: .tooLong(limit: sizeLimit))
        }
        var parser = Parser(text, keyLimit: keyLimit)
        return try parser.document()
    }
}
