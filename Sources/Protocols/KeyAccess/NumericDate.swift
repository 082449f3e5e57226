/// Seconds since 1970 as a token carries them (RFC 7519 §2): an integer, or a number with a fraction.
public struct NumericDate: Codable, Hashable, Comparable, Sendable {
    public var seconds: Int64

    public init(seconds: Int64) {
        self.seconds = seconds
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let seconds = try? container.decode(Int64.self) {
            self.init(seconds: seconds)
            return
        }
        let value = try container.decode(Double.self)
        // Beyond ±2^53 a double no longer counts seconds; such a date is nonsense, and converting it could trap.
        guard value.isFinite, value.magnitude < 9_007_199_254_740_992 else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "a date out of range")
        }
        self.init(seconds: Int64(value.rounded(.down)))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(seconds)
    }

    public static func < (left: NumericDate, right: NumericDate) -> Bool { left.seconds < right.seconds }
}
