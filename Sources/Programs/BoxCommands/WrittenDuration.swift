import ArgumentParser

/// A length of time as a person writes it: `90`, `90s`, `5m`, `2h` or `1d`.
struct WrittenDuration: ExpressibleByArgument, Equatable {
    /// A second to a year.
    static let range: ClosedRange<Int64> = 1...31_622_400
    private static let units: [(name: String, seconds: Int64)] = [("d", 86_400), ("h", 3600), ("m", 60), ("s", 1)]

    let seconds: Int64

    init(seconds: Int64) {
        self.seconds = seconds
    }

    init?(argument: String) {
        let unit = Self.units.first { argument.hasSuffix($0.name) }
        let digits = argument.dropLast(unit?.name.count ?? 0)
        guard (1...8).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let number = Int64(digits), Self.range.contains(number * (unit?.seconds ?? 1))
        else { return nil }
        seconds = number * (unit?.seconds ?? 1)
    }

    /// As somebody types it, in the largest unit that it has a whole number of.
    var text: String {
        let unit = Self.units.first { seconds % $0.seconds == 0 } ?? ("s", 1)
        return "\(seconds / unit.seconds)\(unit.name)"
    }
}
