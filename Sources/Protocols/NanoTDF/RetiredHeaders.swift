/// Hashes of past collections, so that a relay can't bring one back with all its items; of too many the oldest goes.
struct RetiredHeaders {
    /// As long as a key access server vouches for a header at most: 7 days of collections of a minute.
    static let limit = 7 * 24 * 60

    /// A SHA-256, without the memory of an array of its own.
    private struct Name: Hashable {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

        init(_ hash: [UInt8]) {
            func word(_ index: Int) -> UInt64 {
                hash.dropFirst(8 * index).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
            }
            words = (word(0), word(1), word(2), word(3))
        }

        static func == (left: Self, right: Self) -> Bool { left.words == right.words }

        func hash(into hasher: inout Hasher) {
            hasher.combine(words.0)
            hasher.combine(words.1)
            hasher.combine(words.2)
            hasher.combine(words.3)
        }
    }

    private var known: Set<Name> = []
    /// In order of age from `oldest` on, once it is full.
    private var order: [Name] = []
    private var oldest = 0

    func contains(_ hash: [UInt8]) -> Bool { known.contains(Name(hash)) }

    mutating func insert(_ hash: [UInt8]) {
        let name = Name(hash)
        guard known.insert(name).inserted else { return }
        guard order.count == Self.limit else { return order.append(name) }
        known.remove(order[oldest])
        order[oldest] = name
        oldest = (oldest + 1) % Self.limit
    }
}
