internal import ErrorCatalog

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
            else { throw Self.error("the request's target is no path") }
            text = text[slash...]
        }
        let end = text.firstIndex { $0 == "?" || $0 == "#" } ?? text.endIndex
        path = ""
        for part in text[..<end].split(separator: "/", omittingEmptySubsequences: true) {
            guard let part = Self.decoded(part, plusIsSpace: false) else {
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
        for item in items {
            let equals = item.firstIndex(of: "=") ?? item.endIndex
            let value = equals < item.endIndex ? item[item.index(after: equals)...] : ""
            guard let name = decoded(item[..<equals], plusIsSpace: true), let value = decoded(value, plusIsSpace: true),
                !value.unicodeScalars.contains("\0")
            else { throw error("the query is not percent-encoded UTF-8") }
            guard query.updateValue(value, forKey: name) == nil else {
                throw error("the query has a parameter twice")
            }
        }
        return query
    }

    private static func decoded(_ text: Substring, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar.value == 0x7F }

    private static func error(_ why: String) -> CodedError {
        CodedError(.badRequest, "the request is not understood", why: why)
    }
}
