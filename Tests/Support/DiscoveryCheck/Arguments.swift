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

    mutating func seconds(_ name: String) throws(UsageError) -> Duration? {
        guard let text = try options(name).last else { return nil }
        guard let value = Double(text), value >= 0, value < 1e6 else {
            throw UsageError("\(name) \(text) is not a number")
        }
        return .seconds(value)
    }

    mutating func ports(_ name: String) throws(UsageError) -> [UInt16]? {
        guard let text = try options(name).last else { return nil }
        return try text.split(separator: ",").map { word throws(UsageError) in
            guard let port = UInt16(word) else { throw UsageError("\(word) is not a port") }
            return port
        }
    }

    mutating func next(_ what: String) throws(UsageError) -> String {
        guard !words.isEmpty else { throw UsageError("name \(what)") }
        return words.removeFirst()
    }

    mutating func end() throws(UsageError) {
        guard words.isEmpty else { throw UsageError("what is \(words.joined(separator: " "))?") }
    }
}
