/// Percent-encoding of UTF-8 (RFC 3986 §2.1).
public enum PercentEncoding {
    /// Everything but the unreserved characters (RFC 3986 §2.3) is encoded.
    ///
    /// - Parameter alsoAllowed: characters of ASCII that stay as they are.
    public static func encode(_ text: String, alsoAllowed: String = "") -> String {
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                encoded.append(byte)
            case _ where alsoAllowed.utf8.contains(byte): encoded.append(byte)
            default: encoded += "%\(Hexadecimal.encode(byte).uppercased())".utf8
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Nil when an escape is broken or the result is not UTF-8. A plus sign stays one: only forms mean a space by it.
    public static func decode(_ text: some StringProtocol) -> String? {
        let (bytes, isWhole) = unescaped(text)
        return isWhole ? String(validating: bytes, as: UTF8.self) : nil
    }

    /// A percent sign that begins no escape stands for itself; what is not UTF-8 is replaced.
    public static func decodeLeniently(_ text: some StringProtocol) -> String {
        String(decoding: unescaped(text).bytes, as: UTF8.self)
    }

    private static func unescaped(_ text: some StringProtocol) -> (bytes: [UInt8], isWhole: Bool) {
        var bytes: [UInt8] = []
        var isWhole = true
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2).compactMap(Hexadecimal.value)
            if digits.count == 2 {
                bytes.append(digits[0] << 4 | digits[1])
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
                isWhole = false
            }
        }
        return (bytes, isWhole)
    }
}
