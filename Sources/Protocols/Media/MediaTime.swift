/// A point on a stream's timeline, or a distance on it, in nanoseconds.
///
/// Kept whole until a wire format asks for its own unit, so that rounding never adds up: each conversion starts from
/// the exact value, and the average of the rounded ones is right.
public struct MediaTime: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// From a count of `1/timescale` seconds, to the nearest nanosecond; saturates at the ends of the range.
    public init(ticks: Int64, timescale: Int64) {
        nanoseconds = Self.scaled(ticks, by: 1_000_000_000, over: timescale)
    }

    public init(milliseconds: Int64) {
        self.init(ticks: milliseconds, timescale: 1000)
    }

    public static let zero = MediaTime(nanoseconds: 0)

    /// Rounded to the nearest millisecond, halves up.
    public var milliseconds: Int64 {
        let shifted = nanoseconds.addingReportingOverflow(500_000)
        let value = shifted.overflow ? nanoseconds : shifted.partialValue
        let quotient = value / 1_000_000
        return value % 1_000_000 < 0 ? quotient - 1 : quotient
    }

    /// In units of `1/timescale` seconds, rounded to the nearest, saturating.
    public func ticks(timescale: Int64) -> Int64 {
        Self.scaled(nanoseconds, by: timescale, over: 1_000_000_000)
    }

    /// `value × factor ÷ divisor` without an intermediate overflow, to the nearest, halves away from zero; saturates.
    private static func scaled(_ value: Int64, by factor: Int64, over divisor: Int64) -> Int64 {
        precondition(factor > 0 && divisor > 0)
        let limit: Int64 = value < 0 ? .min : .max
        let (whole, part) = value.quotientAndRemainder(dividingBy: divisor)
        // |part| < divisor, so this quotient is below `factor` and always fits.
        let (fraction, rest) = divisor.dividingFullWidth(part.multipliedFullWidth(by: factor))
        let carry: Int64 = rest.magnitude * 2 >= divisor.magnitude ? value.signum() : 0
        let product = whole.multipliedReportingOverflow(by: factor)
        let sum = product.partialValue.addingReportingOverflow(fraction + carry)
        return product.overflow || sum.overflow ? limit : sum.partialValue
    }

    public static func < (left: MediaTime, right: MediaTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// Wraps at the ends of the range (292 years): a hostile time stamp must not trap.
    public static func + (left: MediaTime, right: MediaTime) -> MediaTime {
        MediaTime(nanoseconds: left.nanoseconds &+ right.nanoseconds)
    }

    public static func - (left: MediaTime, right: MediaTime) -> MediaTime {
        MediaTime(nanoseconds: left.nanoseconds &- right.nanoseconds)
    }
}
