/// A time zone as the environment variable TZ names it (POSIX.1-2017 §8.3), which is how ONVIF devices do:
/// `CST-8`, `CET-1CEST,M3.5.0,M10.5.0/3`, `<+0330>-3:30`.
public struct POSIXTimeZone: Equatable, Sendable {
    struct Rule: Equatable {
        enum Day: Equatable {
            /// 1 to 365; 29 February is not counted.
            case julian(Int)
            /// 0 to 365
            case ordinal(Int)
            /// Month, week (5 is the last), day of the week (0 is Sunday).
            case weekday(Int, Int, Int)
        }
        var day: Day
        /// Seconds after midnight; may be negative.
        var time: Int
    }

    /// Seconds that are added to local time to make UTC: positive to the west.
    let standard: Int
    let daylight: Int?
    let begin: Rule?
    let end: Rule?

    /// Nil for what does not follow the form, a zone by its name (`Europe/Berlin`) above all.
    public init?(_ text: String) {
        let trimmed = text.trimmingSpaces
        guard trimmed.utf8.count <= 128 else { return nil }
        var scanner = Scanner(rest: Array(trimmed.utf8)[...])
        guard scanner.name(), let standard = scanner.offset() else { return nil }
        self.standard = standard
        guard !scanner.rest.isEmpty else {
            (daylight, begin, end) = (nil, nil, nil)
            return
        }
        guard scanner.name() else { return nil }
        daylight = scanner.rest.isEmpty || scanner.rest.first == 0x2C ? standard - 3600 : scanner.offset()
        guard daylight != nil else { return nil }
        if scanner.rest.isEmpty {
            (begin, end) = (nil, nil)
            return
        }
        guard scanner.take(0x2C), let begin = scanner.rule(), scanner.take(0x2C), let end = scanner.rule(),
            scanner.rest.isEmpty
        else { return nil }
        self.begin = begin
        self.end = end
    }

    /// UTC of a local time, in seconds since 1970.
    ///
    /// - Parameter isDaylight: what the device says of itself; used when the zone has no rules of its own for it.
    public func utcSeconds(ofLocal local: CivilTime, isDaylight: Bool) -> Int64 {
        let seconds = local.secondsSince1970
        guard let daylight else { return seconds + Int64(standard) }
        guard let begin, let end else { return seconds + Int64(isDaylight ? daylight : standard) }
        let from = begin.seconds(in: local.year)
        let until = end.seconds(in: local.year)
        let isNow = from <= until ? (from..<until).contains(seconds) : !(until..<from).contains(seconds)
        return seconds + Int64(isNow ? daylight : standard)
    }

    private struct Scanner {
        var rest: ArraySlice<UInt8>

        mutating func take(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest = rest.dropFirst()
            return true
        }

        /// Three letters or more, or anything between angle brackets.
        mutating func name() -> Bool {
            if take(0x3C) {
                guard let end = rest.firstIndex(of: 0x3E), end > rest.startIndex else { return false }
                rest = rest[(end + 1)...]
                return true
            }
            let letters = rest.prefix { (0x61...0x7A).contains($0 | 0x20) }
            rest = rest.dropFirst(letters.count)
            return letters.count >= 3
        }

        mutating func number(_ limit: Int) -> Int? {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard (1...3).contains(digits.count), let value = Int(String(decoding: digits, as: UTF8.self)),
                value <= limit
            else { return nil }
            rest = rest.dropFirst(digits.count)
            return value
        }

        /// `[+-]hh[:mm[:ss]]`, in seconds.
        mutating func offset(hours limit: Int = 24) -> Int? {
            let isNegative = rest.first == 0x2D
            if isNegative || rest.first == 0x2B { rest = rest.dropFirst() }
            guard let hours = number(limit) else { return nil }
            var seconds = hours * 3600
            for unit in [60, 1] where take(0x3A) {
                guard let value = number(59) else { return nil }
                seconds += value * unit
            }
            return isNegative ? -seconds : seconds
        }

        mutating func rule() -> Rule? {
            let day: Rule.Day
            if take(0x4D) {
                guard let month = number(12), month > 0, take(0x2E), let week = number(5), week > 0, take(0x2E),
                    let weekday = number(6)
                else { return nil }
                day = .weekday(month, week, weekday)
            } else if take(0x4A) {
                guard let number = number(365), number > 0 else { return nil }
                day = .julian(number)
            } else {
                guard let number = number(365) else { return nil }
                day = .ordinal(number)
            }
            guard take(0x2F) else { return Rule(day: day, time: 7200) }
            guard let time = offset(hours: 167) else { return nil }
            return Rule(day: day, time: time)
        }
    }
}

extension POSIXTimeZone.Rule {
    /// Local time at which it takes effect, as if it were UTC, in seconds since 1970.
    func seconds(in year: Int) -> Int64 {
        let newYear = CivilTime.daysSince1970(year, 1, 1)
        let number: Int
        switch day {
        case .ordinal(let index): number = newYear + index
        case .julian(let index): number = newYear + index - 1 + (CivilTime.isLeap(year) && index >= 60 ? 1 : 0)
        case .weekday(let month, let week, let weekday):
            let first = CivilTime.daysSince1970(year, month, 1)
            // 1 January 1970 was a Thursday.
            let firstWeekday = (first + 4) % 7
            var inMonth = (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
            if inMonth >= CivilTime.days(inMonth: month, of: year) { inMonth -= 7 }
            number = first + inMonth
        }
        return Int64(number) * 86_400 + Int64(time)
    }
}
