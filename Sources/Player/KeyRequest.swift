/// How often and how fast one header's key is asked for. A pure decision.
struct KeyRequest: Equatable {
    /// Refusals in a row that are believed; a publisher registers its headers within less.
    static let believedDenials = 6

    private(set) var attempts = 0
    private(set) var denials = 0

    /// - Returns: nanoseconds until the next try; nil when there is none.
    mutating func refused(_ kind: KeyRefusal.Kind) -> UInt64? {
        attempts += 1
        switch kind {
        case .denied:
            denials += 1
            return denials < Self.believedDenials ? 250_000_000 << UInt64(min(denials - 1, 3)) : nil
        case .unavailable:
            denials = 0
            return 250_000_000 << UInt64(min(attempts - 1, 4))
        }
    }
}
