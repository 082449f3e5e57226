/// A span that comes again every week, by clocks on the wall: `mon-fri 18:00-07:00`, `sat-sun`, `22:00-06:00`.
///
/// The days come first, one (`sat`) or from one to another (`fri-mon`); all of them when there is none. Then the time of day, from and
/// to; the whole day when there is none. One that ends before it begins ends on the next day, and belongs to the day on which it begins.
public struct WeekSpan: Equatable, Sendable {
    /// Entries that a list of them may have, and bytes of one as text.
    public static let countLimit = 16
    public static let lengthLimit = 32

    static let dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    static let minutesOfDay = 1440

    /// Days on which it begins, 0: Monday; the first may be behind the last.
    let firstDay: Int
    let lastDay: Int
    /// Minutes of the day, 0 to 1439.
    let from: Int
    /// Minutes of the day, 1 to 1440.
    let to: Int

    /// - Parameters:
    ///   - day: 0: Monday, by the clock on the wall, as the minute is.
    ///   - minute: of the day, 0 to 1439.
    public func contains(day: Int, minute: Int) -> Bool {
        if to > from { return begins(on: day) && minute >= from && minute < to }
        return begins(on: day) && minute >= from || begins(on: (day + 6) % 7) && minute < to
    }

    private func begins(on day: Int) -> Bool { (day - firstDay + 7) % 7 <= (lastDay - firstDay + 7) % 7 }
}

extension WeekSpan {
    /// Why a text is no span, and where in it.
    public struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        public enum Reason: String, Sendable {
            case day = "a day is expected: mon, tue, wed, thu, fri, sat or sun"
            case time = "a time of day is expected, such as 07:00, up to 24:00 where it ends"
            case hyphen = "a hyphen and the end are expected"
            case blank = "a blank and a time of day are expected"
            case empty = "it begins and ends at the same time"
            case rest = "nothing more is expected"
            case length = "it is longer than 32 bytes"
        }

        public var reason: Reason
        /// Counts from 1, in bytes.
        public var position: Int

        public var description: String { "\(reason.rawValue), at character \(position)" }
    }

    public init(_ text: String) throws(Fault) {
        guard text.utf8.count <= Self.lengthLimit else { throw Fault(reason: .length, position: Self.lengthLimit + 1) }
        var reader = Reader(bytes: Array(text.utf8))
        var days = (first: 0, last: 6)
        let namesDays = reader.next.map { !Reader.isDigit($0) } ?? true
        if namesDays {
            days.first = try reader.day()
            days.last = reader.skip("-") ? try reader.day() : days.first
            guard !reader.isAtEnd else {
                self.init(firstDay: days.first, lastDay: days.last, from: 0, to: Self.minutesOfDay)
                return
            }
            guard reader.skip(" ") else { throw reader.fault(.blank) }
        }
        let from = try reader.time(last: Self.minutesOfDay - 1)
        guard reader.skip("-") else { throw reader.fault(.hyphen) }
        let end = reader
        let to = try reader.time(last: Self.minutesOfDay)
        guard to != from else { throw end.fault(.empty) }
        guard reader.isAtEnd else { throw reader.fault(.rest) }
        // Clocks show midnight as the beginning of a day.
        self.init(firstDay: days.first, lastDay: days.last, from: from, to: to == 0 ? Self.minutesOfDay : to)
    }

    /// As it is read; the shortest text for it.
    public var text: String {
        let isWhole = from == 0 && to == Self.minutesOfDay
        let hours = isWhole ? nil : "\(Self.clock(from))-\(Self.clock(to))"
        let names = Self.dayNames
        let isDaily = firstDay == 0 && lastDay == 6
        let days = firstDay == lastDay ? names[firstDay] : "\(names[firstDay])-\(names[lastDay])"
        guard let hours else { return days }
        return isDaily ? hours : "\(days) \(hours)"
    }

    private static func clock(_ minute: Int) -> String {
        let (hours, minutes) = minute.quotientAndRemainder(dividingBy: 60)
        return "\(hours < 10 ? "0" : "")\(hours):\(minutes < 10 ? "0" : "")\(minutes)"
    }

    private struct Reader {
        let bytes: [UInt8]
        var place = 0

        static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

        var next: UInt8? { place < bytes.count ? bytes[place] : nil }
        var isAtEnd: Bool { next == nil }

        func fault(_ reason: Fault.Reason) -> Fault { Fault(reason: reason, position: place + 1) }

        mutating func skip(_ sign: Character) -> Bool {
            guard let next, next == sign.asciiValue else { return false }
            place += 1
            return true
        }

        mutating func day() throws(Fault) -> Int {
            let name = bytes[place...].prefix(3)
            guard let day = WeekSpan.dayNames.firstIndex(where: { $0.utf8.elementsEqual(name) }) else {
                throw fault(.day)
            }
            place += 3
            return day
        }

        mutating func time(last: Int) throws(Fault) -> Int {
            let text = bytes[place...].prefix(5)
            let digits = text.filter(Self.isDigit).map { Int($0) - 0x30 }
            guard text.count == 5, digits.count == 4, text[place + 2] == UInt8(ascii: ":") else { throw fault(.time) }
            let (hours, minutes) = (10 * digits[0] + digits[1], 10 * digits[2] + digits[3])
            guard minutes < 60, 60 * hours + minutes <= last else { throw fault(.time) }
            place += 5
            return 60 * hours + minutes
        }
    }
}

extension WeekSpan: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        do throws(Fault) {
            try self.init(text)
        } catch {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a span of the week: \(error)")
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}
