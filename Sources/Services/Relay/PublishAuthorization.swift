/// Who may publish.
public enum PublishAuthorization: Equatable, Sendable {
    /// Anybody, under any name: for loopback and closed networks.
    case open
    /// Only with the key of the stream's path ("live/cam1"), or with that of "*", which stands for every other path.
    case keys([String: String])

    public enum Fault: Error, Equatable, Sendable {
        /// A line that is neither empty, nor a comment, nor `stream = key`; counted from 1. The line itself is not
        /// repeated, because it may hold a key.
        case malformedLine(Int)
        /// Two keys for one stream.
        case repeatedStream(line: Int)
        case noKeys
    }

    /// Reads lines of `app/name = key`; `#` begins a comment line.
    public static func parse(_ text: String) throws(Fault) -> PublishAuthorization {
        .keys(try keys(in: text))
    }

    static func keys(in text: String) throws(Fault) -> [String: String] {
        var keys: [String: String] = [:]
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let content = trimmed(line)
            if content.isEmpty || content.first == "#" { continue }
            guard let equals = content.firstIndex(of: "=") else { throw .malformedLine(index + 1) }
            let stream = trimmed(content[..<equals])
            let key = trimmed(content[content.index(after: equals)...])
            guard !stream.isEmpty, !key.isEmpty else { throw .malformedLine(index + 1) }
            guard keys.updateValue(String(key), forKey: String(stream)) == nil else {
                throw .repeatedStream(line: index + 1)
            }
        }
        guard !keys.isEmpty else { throw .noKeys }
        return keys
    }

    /// The path has a key of its own, and with it a place.
    func reserves(_ path: StreamPath) -> Bool {
        switch self {
        case .open: false
        case .keys(let keys): keys[path.description] != nil
        }
    }

    /// Paths that `reserves` says yes to.
    var reserved: Int {
        switch self {
        case .open: 0
        case .keys(let keys): keys.count
        }
    }

    func permits(_ path: StreamPath, key: String?) -> Bool {
        switch self {
        case .open: true
        case .keys(let keys):
            if let expected = keys[path.description] ?? keys["*"], let key {
                Self.constantTimeEqual(expected, key)
            } else {
                false
            }
        }
    }

    /// The time taken depends on the lengths only, not on where the first difference lies.
    static func constantTimeEqual(_ left: String, _ right: String) -> Bool {
        let left = Array(left.utf8)
        let right = Array(right.utf8)
        guard left.count == right.count else { return false }
        var difference: UInt8 = 0
        for index in left.indices { difference |= left[index] ^ right[index] }
        return difference == 0
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text
        while text.first?.isWhitespace == true { text.removeFirst() }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }
}

extension PublishAuthorization: CustomStringConvertible {
    /// Without the keys.
    public var description: String {
        switch self {
        case .open: "open"
        case .keys(let keys): "\(keys.count) publish keys"
        }
    }
}
