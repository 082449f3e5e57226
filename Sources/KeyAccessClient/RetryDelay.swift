/// How long to wait before a failed KAS request is sent again; pure, chance is an argument.
///
/// Exponential from 0.5 s to 30 s with jitter where the KAS may come back any moment; minutes where somebody must act.
public struct RetryDelay: Equatable, Sendable {
    public static let first: UInt64 = 500_000_000
    public static let longest: UInt64 = 30_000_000_000
    /// For `KeyAccessError.Retry.late`: from 30 s to 5 min.
    public static let late: UInt64 = 30_000_000_000
    public static let latest: UInt64 = 300_000_000_000

    private var failures = 0

    public init() {}

    /// Nanoseconds; nil when the request is not worth repeating.
    /// - Parameter random: any 64 random bits.
    public mutating func next(after retry: KeyAccessError.Retry, random: UInt64) -> UInt64? {
        let bounds: (first: UInt64, longest: UInt64)
        switch retry {
        case .soon: bounds = (Self.first, Self.longest)
        case .late: bounds = (Self.late, Self.latest)
        case .never: return nil
        }
        let delay = min(bounds.first << UInt64(min(failures, 10)), bounds.longest)
        failures += 1
        // Between half of it and all of it: five hundred viewers of one stream come back one after the other.
        return delay - random % (delay / 2 + 1)
    }

    public mutating func succeeded() {
        failures = 0
    }
}
