/// "Did you mean …?"
public enum NearestName {
    /// The candidate that differs least from `name`: letters that are missing, too many, wrong or swapped
    /// (Damerau-Levenshtein, each letter touched once). Nil when none is near enough to be meant.
    public static func nearest(_ name: String, in candidates: [String]) -> String? {
        let target = letters(name)
        guard (1...maxLength).contains(target.count) else { return nil }
        let limit = (target.count + 2) / 3
        var best: (name: String, distance: Int)?
        for candidate in candidates.sorted() {
            let letters = letters(candidate)
            guard letters.count <= maxLength, abs(letters.count - target.count) <= limit else { continue }
            let distance = distance(target, letters)
            if distance <= limit, distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// Longer names are not compared: the work grows with the square.
    private static let maxLength = 64

    /// `Rotate-Seconds` is near to `rotate_seconds`.
    private static func letters(_ name: String) -> [Unicode.Scalar] {
        name.unicodeScalars.prefix(maxLength + 1).map {
            $0 == "-" ? "_" : ("A"..."Z").contains($0) ? Unicode.Scalar(UInt8($0.value) + 32) : $0
        }
    }

    private static func distance(_ one: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int {
        var before: [Int] = []
        var last = Array(0...other.count)
        for row in 0..<one.count {
            var now = [row + 1]
            for column in 0..<other.count {
                var least = min(last[column + 1] + 1, now[column] + 1)
                least = min(least, last[column] + (one[row] == other[column] ? 0 : 1))
                if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                    least = min(least, before[column - 1] + 1)
                }
                now.append(least)
            }
            before = last
            last = now
        }
        return last[other.count]
    }
}
