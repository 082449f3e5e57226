internal import Wire

/// Text that a camera sent, or that goes into a header.
package enum CameraText {
    package static func trimmed(_ text: some StringProtocol) -> String {
        var bytes = Array(text.utf8)[...]
        while let first = bytes.first, isBlank(first) { bytes.removeFirst() }
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    package static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) || byte == 0 }

    /// At most `limit` characters, without what could steer a terminal or turn the writing direction.
    package static func printable(_ text: some StringProtocol, limit: Int) -> String {
        trimmed(ShownText.cleaned(text, limit: limit, replacing: nil))
    }

    /// Digits and nothing else; nil for anything else, and for what does not fit.
    package static func number<Number: FixedWidthInteger>(_ text: some StringProtocol, as: Number.Type) -> Number? {
        let digits = trimmed(text)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Number(digits)
    }
}
