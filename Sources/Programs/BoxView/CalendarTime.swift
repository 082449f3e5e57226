/// A day and a time as a calendar and a clock on the wall show them, of no zone.
public struct CalendarTime: Equatable, Sendable {
    public var year: Int64
    public var month: Int64
    public var day: Int64
    /// Seconds since midnight.
    public var secondOfDay: Int64 = 0

    public init(year: Int64, month: Int64, day: Int64, secondOfDay: Int64 = 0) {
        self.year = year
        self.month = month
        self.day = day
        self.secondOfDay = secondOfDay
    }

    /// - Parameter seconds: since the beginning of 1970 by the same clock; brought into ``range``.
    public init(seconds: Int64) {
        // After Howard Hinnant's `civil_from_days`, which needs no library.
        let clamped = min(max(seconds, Self.range.lowerBound), Self.range.upperBound)
        let days = clamped / 86_400 + 719_468
        let era = days / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        secondOfDay = clamped % 86_400
    }

    /// All seconds of the years 1970 to 9999. A zone may lead out of them: what does is the nearest of these.
    public static let range: ClosedRange<Int64> = 0...253_402_300_799

    /// Since the beginning of 1970; nil when there is no such day, or not in these years.
    public var seconds: Int64? {
        guard (1970...9999).contains(year), (1...12).contains(month), (1...31).contains(day),
            (0...86_400).contains(secondOfDay)
        else { return nil }
        let counted = month <= 2 ? year - 1 : year
        let era = counted / 400
        let yearOfEra = counted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let seconds = (era * 146_097 + dayOfEra - 719_468) * 86_400
        // The 31st of April is the first of May otherwise.
        guard seconds >= 0, CalendarTime(seconds: seconds).day == day else { return nil }
        return seconds + secondOfDay
    }

    /// `2026-11-28`
    public var dayText: String { "\(Self.digits(year, 4))-\(Self.digits(month))-\(Self.digits(day))" }

    /// `19:22:01`
    public var timeText: String {
        "\(Self.digits(secondOfDay / 3600)):\(Self.digits(secondOfDay / 60 % 60)):\(Self.digits(secondOfDay % 60))"
    }

    /// `Sat`
    public var weekday: String {
        // 1970 began on a Thursday.
        let days = (CalendarTime(year: year, month: month, day: day).seconds ?? 0) / 86_400
        return ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][Int(days % 7)]
    }

    /// A number of so many digits at least.
    public static func digits(_ value: Int64, _ count: Int = 2) -> String {
        let text = String(value)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }

    /// `2026-11-28T19:22:01.040Z` of milliseconds since 1970: what programs read.
    public static func iso8601(_ milliseconds: Int64) -> String {
        let time = CalendarTime(seconds: milliseconds / 1000)
        return "\(time.dayText)T\(time.timeText).\(digits(milliseconds % 1000, 3))Z"
    }
}
