/// Names and values in the order of the wire. A name may occur twice there; the last one counts, as in ActionScript.
public struct AMF0Object: Equatable, Sendable {
    public struct Entry: Equatable, Sendable {
        public var key: String
        public var value: AMF0Value

        public init(key: String, value: AMF0Value) {
            self.key = key
            self.value = value
        }
    }

    public var entries: [Entry]

    public init(_ entries: [Entry] = []) {
        self.entries = entries
    }

    /// Setting replaces the value in its place or appends; setting nil removes every entry of that name.
    public subscript(key: String) -> AMF0Value? {
        get { entries.last { $0.key == key }?.value }
        set {
            guard let newValue else {
                entries.removeAll { $0.key == key }
                return
            }
            if let index = entries.lastIndex(where: { $0.key == key }) {
                entries[index].value = newValue
            } else {
                entries.append(Entry(key: key, value: newValue))
            }
        }
    }
}

extension AMF0Object: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, AMF0Value)...) {
        self.init(elements.map { Entry(key: $0.0, value: $0.1) })
    }
}
