/// A stream's name, or a pattern in which each `*` stands for any run of characters, the empty one included.
public struct StreamPattern: Hashable, Sendable {
    public var text: String

    /// Longest name and pattern, in bytes.
    public static let maximumLength = 256
    /// Matches every stream, and also what has no stream (a header that was not registered).
    public static let any = StreamPattern("*")

    public init(_ text: String) {
        self.text = text
    }

    /// Compares bytes; a pattern or name longer than 256 bytes matches nothing.
    public func matches(_ name: String) -> Bool {
        let pattern = Array(text.utf8)
        let name = Array(name.utf8)
        guard pattern.count <= Self.maximumLength, name.count <= Self.maximumLength else { return false }
        // Greedy with one point of return: linear space, at most pattern × name steps.
        var next = 0
        var position = 0
        var lastStar: (pattern: Int, name: Int)?
        while position < name.count {
            if next < pattern.count, pattern[next] == UInt8(ascii: "*") {
                lastStar = (next, position)
                next += 1
            } else if next < pattern.count, pattern[next] == name[position] {
                next += 1
                position += 1
            } else if let star = lastStar {
                lastStar = (star.pattern, star.name + 1)
                next = star.pattern + 1
                position = star.name + 1
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == UInt8(ascii: "*") }
    }

    /// True for a name that may be registered: 1…256 bytes, no control characters, no `*`.
    public static func isValidName(_ name: String) -> Bool {
        (1...maximumLength).contains(name.utf8.count)
            && name.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F && $0 != "*" }
    }
}
