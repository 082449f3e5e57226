/// The Session header (RFC 2326 §12.37): `12345678;timeout=60`.
struct SessionHeader: Equatable, Sendable {
    static let maxIdentifierLength = 512

    var identifier: String
    /// Seconds; nil when there is none that is a number above zero.
    var timeout: Int?

    /// Nil when it names no session.
    init?(_ text: String) {
        let parts = text.split(separator: ";", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(CameraText.trimmed(parts[0]).prefix { $0 != " " && $0 != "," })
        guard !name.isEmpty, name.utf8.count <= Self.maxIdentifierLength,
            name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        identifier = name
        guard parts.count > 1, let value = HeaderParameters(parts[1])["timeout"] else { return }
        // Some write 60.0 or 60s.
        let digits = value.prefix { $0.isASCII && $0.isNumber }
        if let seconds = CameraText.number(digits, as: Int.self), seconds > 0 { timeout = min(seconds, 86_400) }
    }
}
