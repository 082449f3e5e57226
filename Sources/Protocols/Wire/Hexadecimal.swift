/// Bytes as lower-case hexadecimal text and back.
public enum Hexadecimal {
    public enum Fault: Error, Equatable, Sendable {
        case invalidCharacter(offset: Int)
        /// An odd number of digits.
        case invalidLength(Int)
    }

    public static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// All of its digits, so that two numbers of a type are texts of one length.
    public static func encode<Number: FixedWidthInteger & UnsignedInteger>(_ number: Number) -> String {
        encode(stride(from: Number.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) })
    }

    public static func decode(_ text: some StringProtocol) throws(Fault) -> [UInt8] {
        let characters = Array(text.utf8)
        guard characters.count.isMultiple(of: 2) else { throw .invalidLength(characters.count) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(characters.count / 2)
        for offset in stride(from: 0, to: characters.count, by: 2) {
            guard let high = value(of: characters[offset]) else { throw .invalidCharacter(offset: offset) }
            guard let low = value(of: characters[offset + 1]) else { throw .invalidCharacter(offset: offset + 1) }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// - Returns: whether these are `count` digits in lower case: the one spelling that `encode` makes.
    public static func isLower(_ text: some StringProtocol, count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy { digits.contains($0) }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Of a digit in ASCII, in either case; nil when it is not one.
    public static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
