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

    /// Milliseconds since 1970 of what ``iso8601(_:)`` writes, with up to three digits of a second or none; nil: it is no such time.
    public static func milliseconds(iso8601 text: some StringProtocol) -> Int64? {
        let bytes = Array(text.utf8.prefix(25))
        guard (20...24).contains(bytes.count), bytes.last == UInt8(ascii: "Z"),
            zip(bytes, "0000-00-00T00:00:00".utf8).allSatisfy({ $1 == zero ? isDigit($0) : $0 == $1 })
        else { return nil }
        let fraction = bytes[19..<bytes.count - 1]
        guard fraction.isEmpty || fraction.count > 1 && fraction.first == UInt8(ascii: "."),
            fraction.dropFirst().allSatisfy(isDigit)
        else { return nil }
        func number(_ digits: ArraySlice<UInt8>) -> Int64 { digits.reduce(0) { $0 * 10 + Int64($1 - zero) } }
        let (hour, minute, second) = (number(bytes[11..<13]), number(bytes[14..<16]), number(bytes[17..<19]))
        guard hour < 24, minute < 60, second < 60,
            let seconds = CalendarTime(
                year: number(bytes[..<4]), month: number(bytes[5..<7]), day: number(bytes[8..<10]),
                secondOfDay: hour * 3600 + minute * 60 + second
            ).seconds
        else { return nil }
        let thousandths = fraction.dropFirst() + Array(repeating: zero, count: 3)
        return seconds * 1000 + number(thousandths.prefix(3))
    }

    private static let zero = UInt8(ascii: "0")

    private static func isDigit(_ byte: UInt8) -> Bool { (zero...UInt8(ascii: "9")).contains(byte) }
}
