/// One word of a command that is shown: whoever copies it into a shell, perhaps root's, gets that word and nothing else.
/// What a device on the network calls itself is in such commands.
public enum ShellWord {
    /// Unchanged when no shell reads anything into it, else in single quotes.
    public static func quoted(_ text: String) -> String {
        !text.isEmpty && text.utf8.allSatisfy(isPlain) ? text : inQuotes(text)
    }

    /// In single quotes; a NUL, which no argument and no variable can hold, is left out.
    public static func inQuotes(_ text: String) -> String {
        "'" + text.replacing("\0", with: "").replacing("'", with: "'\\''") + "'"
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: plain.contains(byte)
        }
    }

    private static let plain = Array(":/._~%?=[]-".utf8)
}
