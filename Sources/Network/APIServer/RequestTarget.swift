internal import ErrorCatalog
internal import Wire

/// Path and query of a request line, decoded (RFC 3986 §2.1, §3.3): every part means what it says, and nothing else.
struct RequestTarget: Equatable {
    private static let maximumQueryItems = 64

    /// `/api/v1/cameras/front`, decoded part by part; no part is empty, `.`, `..`, or holds a slash or a control
    /// character.
    var path: String
    var query: [String: String]

    /// Throws `WB-8006`.
    init(_ text: String) throws(CodedError) {
        var text = text[...]
        if !text.hasPrefix("/") {  // absolute form, as proxies send it (RFC 9112 §3.2.2)
            guard text.lowercased().hasPrefix("http://"),
                let slash = text.dropFirst(7).firstIndex(of: "/")
            else { throw Self.error("the request's target is not a path") }
            text = text[slash...]
        }
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        path = ""
        for part in text[..<end].split(separator: "/", omittingEmptySubsequences: true) {
            guard let part = PercentEncoding.decode(part) else {
                throw Self.error("the path is not percent-encoded UTF-8")
            }
            guard part != ".", part != "..", !part.unicodeScalars.contains(where: { $0 == "/" || Self.isControl($0) })
            else { throw Self.error("the path has a part that names nothing") }
            path += "/" + part
        }
        if path.isEmpty { path = "/" }
        query = [:]
        guard end < text.endIndex, text[end] == "?" else { return }
        query = try Self.query(text[text.index(after: end)...].prefix { $0 != "#" })
    }

    private static func query(_ text: Substring) throws(CodedError) -> [String: String] {
        var query: [String: String] = [:]
        let items = text.split(separator: "&", omittingEmptySubsequences: true)
        guard items.count <= maximumQueryItems else { throw error("the query has too many parameters") }
        for item in items.map({ $0.replacing("+", with: " ") }) {
            let equals = item.firstIndex(of: "=") ?? item.endIndex
            let value = equals < item.endIndex ? item[item.index(after: equals)...] : ""
            guard let name = PercentEncoding.decode(item[..<equals]), let value = PercentEncoding.decode(value),
                !value.unicodeScalars.contains("\0")
            else { throw error("the query is not percent-encoded UTF-8") }
            guard query.updateValue(value, forKey: name) == nil else {
                throw error("the query has a parameter twice")
            }
        }
        return query
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }

    private static func error(_ why: String) -> CodedError {
        CodedError(.badRequest, "the request is not understood", why: why)
    }
}
