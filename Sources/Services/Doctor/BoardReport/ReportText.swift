/// Texts of the kernel, firmware and drivers that go into a report which strangers read.
///
/// The report asks for none that names a person's things. This is the second lock: a driver, or an image, may still have
/// written one into a name.
enum ReportText {
    /// In bytes, of one of them.
    static let maxLength = 100

    /// Nil for a text that is empty, or has something in it that looks like an address or a serial number.
    static func safe(_ text: String?) -> String? {
        guard let text else { return nil }
        let printable = text.unicodeScalars.prefix(maxLength).filter { (0x20..<0x7F).contains($0.value) }
        let shown = String(String.UnicodeScalarView(printable)).split(separator: " ").joined(separator: " ")
        return shown.isEmpty || isTelling(shown) ? nil : shown
    }

    /// An IPv4, an IPv6 or a hardware address, or ten hexadecimal digits or more in a row.
    static func isTelling(_ text: String) -> Bool {
        // What is between characters that no address has.
        for word in text.utf8.split(whereSeparator: { !isHexDigit($0) && !separators.contains($0) }) {
            let digits = word.split { separators.contains($0) }
            if digits.contains(where: { $0.count >= 10 }) { return true }
            let colons = word.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            let parts = colons.flatMap { $0.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false) }
            if parts.contains(where: isIPv4) { return true }
            if parts.count >= 6, parts.allSatisfy({ $0.count == 2 }) { return true }
            if colons.count >= 3, colons.allSatisfy({ $0.count <= 4 }) { return true }
        }
        return false
    }

    private static let separators = Array(".:-".utf8)

    private static func isIPv4(_ text: Substring.UTF8View) -> Bool {
        let numbers = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return numbers.count == 4
            && numbers.allSatisfy { (1...3).contains($0.count) && $0.allSatisfy { (48...57).contains($0) } }
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }
}
