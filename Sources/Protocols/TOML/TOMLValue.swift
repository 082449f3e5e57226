/// A value of a document.
public enum TOMLValue: Sendable {
    case string(String)
    case integer(Int64)
    /// Can be infinite or no number.
    case float(Double)
    case boolean(Bool)
    /// `offset`: minutes east of UTC.
    case offsetDateTime(TOMLDate, TOMLTime, offset: Int)
    case localDateTime(TOMLDate, TOMLTime)
    case localDate(TOMLDate)
    case localTime(TOMLTime)
    /// Written in brackets, or by headers `[[name]]`.
    case array([TOMLNode])
    case table(TOMLTable)
}

/// A value, and where it stands.
public struct TOMLNode: Sendable {
    public let value: TOMLValue
    /// Where the value begins. Tables and lists that headers or dotted keys made begin at their name.
    public let position: TOMLPosition
    /// Where the key is mentioned first; for an element of a list the same as `position`.
    public let keyPosition: TOMLPosition
}

/// A day that exists.
public struct TOMLDate: Hashable, Sendable {
    /// 0 to 9999.
    public let year: Int
    public let month: Int
    public let day: Int

    /// Nil when there is no such day.
    public init?(year: Int, month: Int, day: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
        guard day <= days[month - 1] else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }
}

/// A time of a day.
public struct TOMLTime: Hashable, Sendable {
    public let hour: Int
    public let minute: Int
    /// 60 in a leap second (RFC 3339 §5.7).
    public let second: Int
    public let nanosecond: Int

    /// Nil when there is no such time.
    public init?(hour: Int, minute: Int, second: Int, nanosecond: Int = 0) {
        guard (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second),
            (0...999_999_999).contains(nanosecond)
        else { return nil }
        self.hour = hour
        self.minute = minute
        self.second = second
        self.nanosecond = nanosecond
    }
}
