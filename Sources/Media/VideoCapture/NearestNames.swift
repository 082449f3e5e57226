/// For "did you mean".
enum NearestNames {
    /// At most three, best first; those that hold the name, or that it holds, come before those that only look like it.
    static func of(_ name: String, among names: [String]) -> [String] {
        let ranked = names.map { candidate in
            let isPart = candidate.contains(name) || name.contains(candidate)
            return (name: candidate, distance: isPart && !name.isEmpty ? 0 : distance(name, candidate))
        }
        return Array(ranked.sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(3).map(\.name))
    }

    /// Levenshtein's; names are cut at 64 characters.
    private static func distance(_ first: String, _ second: String) -> Int {
        let a = Array(first.utf8.prefix(64))
        let b = Array(second.utf8.prefix(64))
        var row = Array(0...b.count)
        for (i, x) in a.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, y) in b.enumerated() {
                let replaced = diagonal + (x == y ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
            }
        }
        return row[b.count]
    }
}
