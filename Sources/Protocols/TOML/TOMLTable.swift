/// A table of a document. Its keys are in the order in which they are mentioned first.
public struct TOMLTable: Sendable {
    public struct Entry: Sendable {
        public let key: String
        public let node: TOMLNode
    }

    public let entries: [Entry]
    private let places: [ExactText: Int]

    init(_ entries: [Entry]) {
        self.entries = entries
        var places: [ExactText: Int] = [:]
        places.reserveCapacity(entries.count)
        for (place, entry) in entries.enumerated() { places[ExactText(entry.key)] = place }
        self.places = places
    }

    public subscript(key: String) -> TOMLNode? { places[ExactText(key)].map { entries[$0].node } }

    public var keys: [String] { entries.map(\.key) }
}

/// Keys are the same when their bytes are. `String` compares by meaning: for it, ü is also u with two dots behind it.
struct ExactText: Hashable {
    let text: String

    init(_ text: String) { self.text = text }

    static func == (one: ExactText, other: ExactText) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        hasher.combine(0xFF as UInt8)
    }
}
