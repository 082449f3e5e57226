/// Base64 with padding (RFC 4648 §4). Our own for encoding, because Foundation's leaves copies of a secret behind.
enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// Appends without growing `text` when it has room for `encodedCount` more bytes.
    static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        var index = 0
        while index < bytes.count {
            let first = bytes[index]
            let second = index + 1 < bytes.count ? bytes[index + 1] : 0
            let third = index + 2 < bytes.count ? bytes[index + 2] : 0
            text.append(alphabet[Int(first >> 2)])
            text.append(alphabet[Int((first & 3) << 4 | second >> 4)])
            text.append(index + 1 < bytes.count ? alphabet[Int((second & 15) << 2 | third >> 6)] : UInt8(ascii: "="))
            text.append(index + 2 < bytes.count ? alphabet[Int(third & 63)] : UInt8(ascii: "="))
            index += 3
        }
    }

    static func encodedCount(_ count: Int) -> Int { (count + 2) / 3 * 4 }

    /// Whether `text` is Base64: not empty, whole groups, padding at the end alone.
    static func isValid(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count % 4 == 0 else { return false }
        let padding = text.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        return padding <= 2 && text.utf8.dropLast(padding).allSatisfy { alphabet.contains($0) }
    }

    /// Nil for what `isValid` refuses.
    static func decode(_ text: String) -> [UInt8]? {
        guard isValid(text) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 4 * 3)
        var bits = 0
        var count = 0
        for character in text.utf8 {
            guard let digit = alphabet.firstIndex(of: character) else { break }
            bits = (bits << 6 | digit) & 0xffff
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> count))
        }
        return bytes
    }
}
