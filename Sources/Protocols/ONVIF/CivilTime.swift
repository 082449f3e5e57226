/// Year to second of the Gregorian calendar, without a zone of its own.
public struct CivilTime: Equatable, Sendable {
    public var year: Int
    public var month: Int
    public var day: Int
    public var hour: Int
    public var minute: Int
    public var second: Int

    /// Nil for what is not a time between 1970 and 9999. A leap second is taken for the one before it.
    public init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (1970...9999).contains(year), (1...12).contains(month),
            (1...Self.days(inMonth: month, of: year)).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = min(second, 59)
    }

    /// Of UTC. What is before 1970 or after 9999 becomes the nearest that is not.
    public init(secondsSince1970 seconds: Int64) {
        let bounded = min(max(seconds, 0), 253_402_300_799)
        let inDay = Int(bounded % 86_400)
        // Days since 0000-03-01, in eras of 400 years, so that the leap day is the last of its year.
        let days = Int(bounded / 86_400) + 719_468
        let era = days / 146_097
        let inEra = days % 146_097
        let yearInEra = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
        let inYear = inEra - (365 * yearInEra + yearInEra / 4 - yearInEra / 100)
        let shifted = (5 * inYear + 2) / 153
        month = shifted < 10 ? shifted + 3 : shifted - 9
        day = inYear - (153 * shifted + 2) / 5 + 1
        year = yearInEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = inDay / 3600
        minute = inDay / 60 % 60
        second = inDay % 60
    }

    /// Taken as UTC.
    public var secondsSince1970: Int64 {
        Int64(Self.daysSince1970(year, month, day)) * 86_400 + Int64(hour * 3600 + minute * 60 + second)
    }

    static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = shiftedYear / 400
        let yearInEra = shiftedYear % 400
        let inYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearInEra * 365 + yearInEra / 4 - yearInEra / 100 + inYear - 719_468
    }

    static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    static func days(inMonth month: Int, of year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// `2026-11-22T03:45:00Z`: UTC, no fraction. Some devices take no other form.
    public var zulu: String {
        "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(day, 2))"
            + "T\(Self.padded(hour, 2)):\(Self.padded(minute, 2)):\(Self.padded(second, 2))Z"
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
