import BoxView
import TestSupport
import Testing
import Wire

@testable import BoxCommands

/// Times as people write them; now is Saturday 2026-11-28 12:00:00 in Berlin, where clocks were set back on October 25.
struct MomentParserTests {
    /// Berlin in 2026.
    static let berlin = LocalClock { instant in
        (1_774_746_000..<1_792_890_000).contains(instant) ? (7200, "CEST") : (3600, "CET")
    }

    private static let now: Int64 = 1_795_863_600_000
    private let parser = MomentParser(now: now, clock: berlin)

    private func text(_ written: String) throws -> String {
        guard case .instant(let instant) = try parser.parse(written) else { return "an offset" }
        return CalendarTime.iso8601(instant)
    }

    @Test(arguments: [
        ("now", "2026-11-28T11:00:00.000Z"), ("10:00", "2026-11-28T09:00:00.000Z"),
        ("9:05", "2026-11-28T08:05:00.000Z"), ("10:00:30", "2026-11-28T09:00:30.000Z"),
        ("10:00:30.25", "2026-11-28T09:00:30.250Z"), ("12:00", "2026-11-28T11:00:00.000Z"),
        // Not yet today.
        ("12:00:01", "2026-11-27T11:00:01.000Z"), ("23:59", "2026-11-27T22:59:00.000Z"),
        ("11:00Z", "2026-11-28T11:00:00.000Z"), ("11:01Z", "2026-11-27T11:01:00.000Z"),
        ("10:00+09:00", "2026-11-28T01:00:00.000Z"), ("today 23:00", "2026-11-28T22:00:00.000Z"),
        ("yesterday 10:00", "2026-11-27T09:00:00.000Z"), ("Yesterday 10:00:01", "2026-11-27T09:00:01.000Z"),
        ("yesterday", "2026-11-26T23:00:00.000Z"), ("today", "2026-11-27T23:00:00.000Z"),
        ("2026-11-28T10:00", "2026-11-28T09:00:00.000Z"), ("2026-11-28 10:00", "2026-11-28T09:00:00.000Z"),
        (" 2026-11-28 10:00 ", "2026-11-28T09:00:00.000Z"), ("2026-11-28", "2026-11-27T23:00:00.000Z"),
        ("2026-11-28T10:00:00Z", "2026-11-28T10:00:00.000Z"), ("2026-11-28t10:00z", "2026-11-28T10:00:00.000Z"),
        ("2026-11-28T10:00:00.123-05:30", "2026-11-28T15:30:00.123Z"),
        ("2026-11-28T10:00+01", "2026-11-28T09:00:00.000Z"),
        ("2026-11-28T10:00+0130", "2026-11-28T08:30:00.000Z"), ("2026-11-27T24:00", "2026-11-27T23:00:00.000Z"),
        ("2026-07-01T10:00", "2026-07-01T08:00:00.000Z"), ("2028-02-29T10:00", "2028-02-29T09:00:00.000Z"),
        // Twice on the clock: the first one. Never on the clock: as if it had not yet been set.
        ("2026-10-25T02:30", "2026-10-25T00:30:00.000Z"), ("2026-03-29T02:30", "2026-03-29T01:30:00.000Z"),
        ("-10m", "2026-11-28T10:50:00.000Z"), ("-2h", "2026-11-28T09:00:00.000Z"), ("-90s", "2026-11-28T10:58:30.000Z"),
        ("-3d", "2026-11-25T11:00:00.000Z"),
    ])
    func `a time is understood`(written: String, meant: String) throws {
        #expect(try text(written) == meant)
    }

    /// The clock shows 02:30 at 00:30 and at 01:30 UTC on October 25, and never on March 29.
    @Test(arguments: [
        ("2026-10-25T00:20:00.000Z", "2026-10-24T00:30:00.000Z"),
        ("2026-10-25T01:10:00.000Z", "2026-10-25T00:30:00.000Z"),
        ("2026-10-25T01:40:00.000Z", "2026-10-25T01:30:00.000Z"),
        ("2026-10-25T12:00:00.000Z", "2026-10-25T01:30:00.000Z"),
        ("2026-10-26T01:00:00.000Z", "2026-10-25T01:30:00.000Z"),
        ("2026-03-29T12:00:00.000Z", "2026-03-28T01:30:00.000Z"),
        ("2026-03-30T00:10:00.000Z", "2026-03-28T01:30:00.000Z"),
        ("2026-03-30T00:40:00.000Z", "2026-03-30T00:30:00.000Z"),
    ])
    func `the last time that it was is the last one`(now: String, meant: String) throws {
        guard case .instant(let instant) = try parser.parse(now) else { throw MomentParser.Fault.form(now) }
        guard case .instant(let last) = try MomentParser(now: instant, clock: Self.berlin).parse("2:30") else {
            throw MomentParser.Fault.form("2:30")
        }
        #expect(CalendarTime.iso8601(last) == meant)
    }

    @Test(
        arguments: [("0", 0), ("60", 60_000), ("90.5", 90_500), ("0.0009", 0), ("1.2345", 1234)] as [(String, Int64)])
    func `a number is an offset`(written: String, meant: Int64) throws {
        #expect(try parser.parse(written) == .offset(meant))
    }

    @Test(arguments: [
        "", " ", "ten", "10h", "-10", "-m", "-10w", "--10m", "10:0", "10:00:3", "10:00:30.", "10:00:30.1234567890",
        "1000:00", "2026-11-28T", "T10:00", "2026-11-28T10", "2026-1-28T10:00", "26-11-28T10:00", "tomorrow 10:00",
        "yesterday 10", "yesterday 10:00 x", "2026-11-28T10:00Z1", "2026-11-28T10:00+1", "2026-11-28T10:00+123",
        "２０２６-11-28T10:00", "1.2.3", "1.", ".5", "10:00 pm", "2026-11-28X10:00", "-99999999999999999999d", "1e3",
        String(repeating: "1", count: 100), String(repeating: ":", count: 60),
    ])
    func `what is no time is refused with the forms`(written: String) {
        #expect(throws: MomentParser.Fault.form(String(written.prefix(64)))) { _ = try parser.parse(written) }
    }

    @Test(arguments: [
        "25:00", "10:60", "10:00:60", "24:00:01", "2026-02-29T10:00", "2026-11-31", "2026-13-01T10:00",
        "2026-00-10T10:00",
        "1969-12-31T10:00", "2026-11-28T10:00+15:00", "10:00+01:60", "-99999d", "1970-01-01T00:30",
    ])
    func `a time that no clock shows is refused`(written: String) {
        #expect(throws: MomentParser.Fault.noSuchTime(written)) { _ = try parser.parse(written) }
    }

    @Test(arguments: [UInt64(1), 2])
    func `nothing that is typed traps, at the beginning of the calendar and at its end`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let letters = Array("0123456789:-+.tz TZ yestrdaynow\u{0}é")
        for now in [Int64(0), 1, 253_402_300_799_999, Self.now] {
            for offset in [Int64(-50_400), 0, 50_400] {
                let parser = MomentParser(now: now, clock: .fixed(offset, "X"))
                for form in [
                    "now", "10:00", "00:00", "23:59:59.999", "yesterday", "yesterday 00:00", "today 24:00", "-1d",
                ] {
                    _ = try? parser.parse(form)
                }
                for _ in 0..<2000 {
                    let count = Int.random(in: 0...24, using: &generator)
                    _ = try? parser.parse(String((0..<count).map { _ in letters.randomElement(using: &generator)! }))
                }
            }
        }
    }

    @Test func `a calendar goes both ways for every day of 8000 years`() {
        for day in stride(from: Int64(0), through: 253_402_300_799, by: 86_400 * 97) {
            #expect(CalendarTime(seconds: day + 5).seconds == day + 5)
        }
        #expect(CalendarTime(seconds: 1_795_863_600).weekday == "Sat")
        #expect(CalendarTime(seconds: .max).dayText == "9999-12-31")
        #expect(CalendarTime(seconds: .min).dayText == "1970-01-01")
    }

    @Test(arguments: [
        ("2026-11-28", "2026-11-27T23:00:00.000Z", 24), ("today", "2026-11-27T23:00:00.000Z", 24),
        (" Yesterday", "2026-11-26T23:00:00.000Z", 24), ("2026-10-25", "2026-10-24T22:00:00.000Z", 25),
        ("2026-03-29", "2026-03-28T23:00:00.000Z", 23),
    ])
    func `a day is as long as its clock makes it`(written: String, from: String, hours: Int64) throws {
        let day = try parser.day(written)
        #expect(CalendarTime.iso8601(day.from) == from)
        #expect(day.to - day.from == hours * 3_600_000)
    }

    @Test(arguments: [
        "", "now", "10:00", "-1d", "60", "2026-11-28T10:00", "today 10:00", "2026-11-31", "tomorrow", "26-1-1",
    ])
    func `what is no day is refused`(written: String) {
        #expect(throws: MomentParser.Fault.self) { try parser.day(written) }
    }
}
