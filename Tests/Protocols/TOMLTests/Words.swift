import TOML

/// One step of the way to a value.
enum PathPart: Hashable {
    case key(String)
    case index(Int)
}

/// Documents in the notation of the tests.
enum Words {
    /// Like JSON, keys sorted by their bytes, so that an expectation can be read and two readers can be compared.
    ///
    /// - Parameter exactly: floats as their bits; microseconds, because Python knows no smaller ones.
    static func of(_ value: TOMLValue, exactly: Bool = false) -> String {
        switch value {
        case .string(let text): "'\(text)'"
        case .integer(let number): "\(number)"
        case .float(let number): exactly ? bits(number) : "\(number)"
        case .boolean(let flag): "\(flag)"
        case .localDate(let date): of(date)
        case .localTime(let time): of(time, exactly)
        case .localDateTime(let date, let time): "\(of(date))T\(of(time, exactly))"
        case .offsetDateTime(let date, let time, let offset): "\(of(date))T\(of(time, exactly))Z\(offset)"
        case .array(let nodes): "[\(nodes.map { of($0.value, exactly: exactly) }.joined(separator: ","))]"
        case .table(let table):
            "{\(table.entries.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { "\($0.key):\(of($0.node.value, exactly: exactly))" }.joined(separator: ","))}"
        }
    }

    static func of(_ text: String, exactly: Bool = false) throws -> String {
        of(.table(try TOMLReader.read(text)), exactly: exactly)
    }

    static func bits(_ number: Double) -> String {
        number.isNaN ? "nan" : "f" + String(number.bitPattern, radix: 16)
    }

    static func of(_ date: TOMLDate) -> String { "\(date.year)-\(date.month)-\(date.day)" }

    static func of(_ time: TOMLTime, _ exactly: Bool) -> String {
        "\(time.hour):\(time.minute):\(time.second).\(exactly ? time.nanosecond / 1000 : time.nanosecond)"
    }

    /// Every path below a value, with the place where it is mentioned first.
    static func places(
        _ value: TOMLValue, below path: [PathPart] = []
    ) -> [[PathPart]: TOMLPosition] {
        var places: [[PathPart]: TOMLPosition] = [:]
        func add(_ part: PathPart, _ node: TOMLNode) {
            places[path + [part]] = node.keyPosition
            places.merge(Self.places(node.value, below: path + [part])) { one, _ in one }
        }
        switch value {
        case .table(let table): for entry in table.entries { add(.key(entry.key), entry.node) }
        case .array(let nodes): for (index, node) in nodes.enumerated() { add(.index(index), node) }
        default: break
        }
        return places
    }
}
