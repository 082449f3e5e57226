/// `a=b; c="d;e"; f`: what Transport, Session and RTP-Info are made of, with blanks in any place.
package struct HeaderParameters: Equatable, Sendable {
    struct Parameter: Equatable, Sendable {
        /// In lower case.
        var name: String
        /// Without quotes; empty when there is none.
        var value: String
    }

    static let maxCount = 32

    var items: [Parameter] = []

    package init(_ text: some StringProtocol) {
        for part in Self.split(text, at: UInt8(ascii: ";")).prefix(Self.maxCount) {
            let halves = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = CameraText.trimmed(halves[0]).lowercased()
            let value = halves.count > 1 ? Self.unquoted(CameraText.trimmed(halves[1])) : ""
            if !name.isEmpty { items.append(Parameter(name: name, value: value)) }
        }
    }

    /// The value of the first parameter of this name; empty for one without value, nil when there is none.
    package subscript(name: String) -> String? {
        items.first { $0.name == name }?.value
    }

    /// Parts between separators that do not stand in quotes. With a quote that nothing closes, quotes mean nothing.
    static func split(
        _ text: some StringProtocol, at separator: UInt8, isQuoting: Bool = true
    ) -> [String] {
        var parts: [String] = []
        var part: [UInt8] = []
        var isQuoted = false
        var isEscaped = false
        for byte in text.utf8 {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if isQuoting, byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == separator, !isQuoted {
                parts.append(String(decoding: part, as: UTF8.self))
                part = []
                continue
            }
            part.append(byte)
        }
        guard !isQuoted else { return split(text, at: separator, isQuoting: false) }
        parts.append(String(decoding: part, as: UTF8.self))
        return parts
    }

    /// Without quotes, which may be one-sided, and with escapes resolved.
    static func unquoted(_ text: String) -> String {
        guard text.utf8.first == UInt8(ascii: "\"") else { return text }
        var bytes: [UInt8] = []
        var isEscaped = false
        for byte in text.utf8.dropFirst() {
            if isEscaped {
                isEscaped = false
                bytes.append(byte)
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                break
            } else {
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
