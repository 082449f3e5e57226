/// Base64 (RFC 4648), standard and URL-safe alphabets.
public enum Base64 {
    public enum Alphabet: Sendable {
        /// `+` and `/`, padded (RFC 4648 §4).
        case standard
        /// `-` and `_`, without padding (RFC 4648 §5, as JWT uses it).
        case url
    }

    public enum Fault: Error, Equatable, Sendable {
        /// A character outside the alphabet, or padding in the wrong place, at `offset` of the UTF-8 text.
        case invalidCharacter(offset: Int)
        /// The text ends within a group, or the unused bits of its last character are not zero.
        case invalidLength(Int)
    }

    public static func encode(_ bytes: some Sequence<UInt8>, alphabet: Alphabet = .standard) -> String {
        let digits = alphabet == .standard ? standardDigits : urlDigits
        var text: [UInt8] = []
        var bits: UInt32 = 0
        var pending = 0
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            pending += 8
            while pending >= 6 {
                pending -= 6
                text.append(digits[Int(bits >> UInt32(pending) & 63)])
            }
            bits &= 0xFF
        }
        if pending > 0 { text.append(digits[Int(bits << UInt32(6 - pending) & 63)]) }
        if alphabet == .standard {
            while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Reads either alphabet, padded or not; white space is refused.
    public static func decode(_ text: some StringProtocol) throws(Fault) -> [UInt8] {
        try decode(utf8: Array(text.utf8))
    }

    public static func decode(utf8 text: [UInt8]) throws(Fault) -> [UInt8] {
        var end = text.count
        while end > 0, text.count - end < 2, text[end - 1] == UInt8(ascii: "=") { end -= 1 }
        if end < text.count, text.count % 4 != 0 { throw .invalidLength(text.count) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(end * 3 / 4)
        var bits: UInt32 = 0
        var pending = 0
        for offset in 0..<end {
            guard let digit = value(of: text[offset]) else { throw .invalidCharacter(offset: offset) }
            bits = bits << 6 | digit
            pending += 6
            if pending >= 8 {
                pending -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(pending)))
                bits &= (1 << UInt32(pending)) - 1
            }
        }
        // A lone last character carries six bits: less than a byte.
        guard pending < 6, bits == 0 else { throw .invalidLength(text.count) }
        return bytes
    }

    private static let standardDigits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let urlDigits = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"), UInt8(ascii: "-"): 62
        case UInt8(ascii: "/"), UInt8(ascii: "_"): 63
        default: nil
        }
    }
}
