internal import Wire

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
            let name = PercentEncoding.decodeLeniently(pair[0])
            if query[name] == nil { query[name] = pair.count == 2 ? PercentEncoding.decodeLeniently(pair[1]) : "" }
        }
    }
}
