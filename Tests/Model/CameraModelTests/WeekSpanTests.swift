import FoundationEssentials
import Testing

@testable import CameraModel

struct WeekSpanTests {
    private static func contains(_ text: String, _ day: Int, _ hour: Int, _ minute: Int = 0) throws -> Bool {
        try WeekSpan(text).contains(day: day, minute: 60 * hour + minute)
    }

    @Test(arguments: [
        ("mon", "mon"), ("sat-sun", "sat-sun"), ("fri-mon", "fri-mon"), ("mon-fri 18:00-07:00", "mon-fri 18:00-07:00"),
        ("18:00-07:00", "18:00-07:00"), ("wed 00:00-24:00", "wed"), ("wed 12:30-00:00", "wed 12:30-24:00"),
        ("mon-sun 01:00-02:00", "01:00-02:00"), ("mon-sun", "mon-sun"), ("00:00-24:00", "mon-sun"),
    ])
    func `a span is written as it is read`(text: String, written: String) throws {
        let span = try WeekSpan(text)
        #expect(span.text == written)
        #expect(try WeekSpan(written) == span)
        #expect(try JSONDecoder().decode([WeekSpan].self, from: try JSONEncoder().encode([span])) == [span])
    }

    @Test func `a span within a day has its begin and not its end`() throws {
        #expect(try !Self.contains("mon-fri 08:00-18:30", 0, 7, 59))
        #expect(try Self.contains("mon-fri 08:00-18:30", 0, 8))
        #expect(try Self.contains("mon-fri 08:00-18:30", 4, 18, 29))
        #expect(try !Self.contains("mon-fri 08:00-18:30", 4, 18, 30))
        #expect(try !Self.contains("mon-fri 08:00-18:30", 5, 12))
    }

    @Test func `a night belongs to the day on which it begins, also over the week's end`() throws {
        #expect(try Self.contains("fri 22:00-06:00", 4, 23))
        #expect(try Self.contains("fri 22:00-06:00", 5, 5, 59))
        #expect(try !Self.contains("fri 22:00-06:00", 5, 6))
        #expect(try !Self.contains("fri 22:00-06:00", 5, 23))
        #expect(try !Self.contains("fri 22:00-06:00", 4, 5))
        #expect(try Self.contains("sun 22:00-06:00", 0, 3))
        #expect(try !Self.contains("mon-fri 22:00-06:00", 0, 3))
    }

    @Test func `days go over the week's end, and a day is whole`() throws {
        for (day, isInside) in [(3, false), (4, true), (5, true), (6, true), (0, true), (1, false)] {
            #expect(try Self.contains("fri-mon", day, 0) == isInside)
            #expect(try Self.contains("fri-mon", day, 23, 59) == isInside)
        }
    }

    @Test(arguments: [
        ("", WeekSpan.Fault.Reason.day, 1), ("Mon", .day, 1), ("funday", .day, 1), ("mon-fry", .day, 5),
        ("mon-", .day, 5), ("mon,tue", .blank, 4), ("mon ", .time, 5), ("mon  18:00-19:00", .time, 5),
        ("18:00", .hyphen, 6), ("18:00-", .time, 7), ("8:00-9:00", .time, 1), ("mon 24:00-25:00", .time, 5),
        ("mon 18:60-19:00", .time, 5), ("mon 18:00-24:01", .time, 11), ("18:00-18:00", .empty, 7),
        ("18:00-19:00 ", .rest, 12), ("18:00-19:00,", .rest, 12), ("１8:00-19:00", .day, 1), ("18.00-19.00", .time, 1),
        ("00:00-00:00", .empty, 7), ("mon\u{0}", .blank, 4), ("-", .day, 1),
    ])
    func `what is no span says why, and where`(text: String, reason: WeekSpan.Fault.Reason, position: Int) {
        #expect(throws: WeekSpan.Fault(reason: reason, position: position)) { try WeekSpan(text) }
    }

    @Test func `a long text is not looked at`() {
        let text = "mon " + String(repeating: "1", count: 1 << 20)
        #expect(throws: WeekSpan.Fault(reason: .length, position: 33)) { try WeekSpan(text) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([WeekSpan].self, from: Data("[\"x\"]".utf8)) }
    }
}
