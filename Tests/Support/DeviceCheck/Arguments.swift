/// What was asked for cannot be understood.
struct UsageError: Error {
    var reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}

/// The arguments after the program's name: options anywhere, then the others in order.
struct Arguments {
    private var words: [String]

    init(_ words: [String]) {
        self.words = words
    }

    mutating func flag(_ name: String) -> Bool {
        guard let index = words.firstIndex(of: name) else { return false }
        words.remove(at: index)
        return true
    }

    /// Every value that was given with `name`.
    mutating func options(_ name: String) throws(UsageError) -> [String] {
        var values: [String] = []
        while let index = words.firstIndex(of: name) {
            guard index + 1 < words.count else { throw UsageError("\(name) needs a value") }
            values.append(words[index + 1])
            words.removeSubrange(index...(index + 1))
        }
        return values
    }

    mutating func option(_ name: String) throws(UsageError) -> String? {
        try options(name).last
    }

    mutating func number(_ name: String) throws(UsageError) -> Double? {
        guard let text = try option(name) else { return nil }
        guard let value = Double(text), value >= 0, value < 1e9 else {
            throw UsageError("\(name) \(text) is not a number")
        }
        return value
    }

    mutating func count(_ name: String) throws(UsageError) -> Int? {
        try number(name).map { Int($0) }
    }

    mutating func next(_ what: String) throws(UsageError) -> String {
        guard !words.isEmpty else { throw UsageError("name \(what)") }
        return words.removeFirst()
    }

    mutating func rest() throws(UsageError) -> [String] {
        defer { words = [] }
        return words
    }

    mutating func end() throws(UsageError) {
        guard words.isEmpty else { throw UsageError("what is \(words.joined(separator: " "))?") }
    }

    /// "640x480"
    static func size(_ text: String) throws(UsageError) -> (width: Int, height: Int) {
        let parts = text.split(separator: "x").compactMap { Int($0) }
        guard parts.count == 2 else { throw UsageError("\(text) is not a size, such as 640x480") }
        return (parts[0], parts[1])
    }

    /// "brightness=100"
    static func setting(_ text: String) throws(UsageError) -> (name: String, value: Int) {
        let parts = text.split(separator: "=", maxSplits: 1)
        guard parts.count == 2, let value = Int(parts[1]) else { throw UsageError("\(text) is not NAME=VALUE") }
        return (String(parts[0]), value)
    }
}
