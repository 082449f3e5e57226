/// Names that become parts of file names, of units' names and of URLs, in ASCII.
public enum Names {
    /// `[a-z0-9](-?[a-z0-9])*`, at most `limit` characters.
    public static func isHyphenated(_ text: some StringProtocol, limit: Int) -> Bool {
        guard text.utf8.count <= limit else { return false }
        var afterHyphen = true
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): afterHyphen = false
            case UInt8(ascii: "-") where !afterHyphen: afterHyphen = true
            default: return false
            }
        }
        return !afterHyphen
    }

    /// 1 to `limit` letters, digits and `signs`.
    public static func isPlain(_ text: some StringProtocol, limit: Int, signs: String = "._-") -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: signs.utf8.contains(byte)
                }
            }
    }

    /// What a stream is called below its application: 1 to 128 letters, digits, `.`, `_` and `-`.
    public static func isStreamName(_ text: some StringProtocol) -> Bool { isPlain(text, limit: 128) }
}
