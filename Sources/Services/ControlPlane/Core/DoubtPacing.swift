/// When to look again at secrets that could not be looked up: after 2 s, then twice as long each time, a minute at
/// most. Time is an argument.
struct DoubtPacing: Equatable {
    private static let first = Duration.seconds(2)
    private static let last = Duration.seconds(60)

    private var next: Duration?
    private var pause = Self.first

    mutating func found(_ isInDoubt: Bool, at now: Duration) {
        guard isInDoubt else {
            self = DoubtPacing()
            return
        }
        // Whoever else looked in between is not a reason to wait longer.
        if let next, now < next { return }
        if next != nil { pause = min(pause * 2, Self.last) }
        next = now + pause
    }

    func isDue(at now: Duration) -> Bool { next.map { now >= $0 } ?? false }
}
