internal import Wire

/// The kind of a box or of a sample entry (ISO/IEC 14496-12 §4.2).
struct FourCC: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral {
    let value: UInt32

    init(value: UInt32) { self.value = value }

    init(stringLiteral text: String) {
        value = text.utf8.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// For messages, since it may come from anybody.
    var description: String {
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * UInt32($0))) }
        return ShownText.ascii(String(decoding: bytes, as: UTF8.self), limit: 8, replacing: "?")
    }
}
