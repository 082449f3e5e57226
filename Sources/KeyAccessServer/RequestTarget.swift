/// What stands behind the method of a request line (RFC 9112 §3.2).
struct RequestTarget: Equatable {
    /// Without query, not decoded.
    var path: String
    /// Decoded; of a name that is given twice the first.
    var query: [String: String] = [:]

    init(_ text: String) {
        var rest = Substring(text)
        for scheme in ["http://", "https://"] where rest.lowercased().hasPrefix(scheme) {
            rest = rest.dropFirst(scheme.count).drop { $0 != "/" && $0 != "?" }
        }
        let parts = rest.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = parts.first.map { $0.isEmpty ? "/" : String($0) } ?? "/"
        guard parts.count == 2 else { return }
        for parameter in parts[1].split(separator: "&") {
            let pair = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = Self.decoded(pair[0])
            if query[name] == nil { query[name] = pair.count == 2 ? Self.decoded(pair[1]) : "" }
        }
    }

    /// A percent sign that begins no escape stands for itself.
    private static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let high = Character(UnicodeScalar(bytes[index + 1])).hexDigitValue,
                let low = Character(UnicodeScalar(bytes[index + 2])).hexDigitValue
            {
                result.append(UInt8(high << 4 | low))
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
