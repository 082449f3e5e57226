import ONVIF
import Testing

struct ClockTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (951_782_399, "2000-02-28T23:59:59Z"), (951_782_400, "2000-02-29T00:00:00Z"),
        (951_868_800, "2000-03-01T00:00:00Z"), (1_709_164_800, "2024-02-29T00:00:00Z"),
        (1_795_319_100, "2026-11-22T03:45:00Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
        (253_402_300_799, "9999-12-31T23:59:59Z"),
    ])
    func `seconds become a date and a date becomes seconds`(_ seconds: Int64, _ text: String) {
        let civil = CivilTime(secondsSince1970: seconds)
        #expect(civil.zulu == text)
        #expect(civil.secondsSince1970 == seconds)
        #expect(TimeText.dateTime(text) == seconds * 1000)
    }

    @Test func `every day of four centuries follows the one before`() {
        var day = CivilTime(secondsSince1970: 0)
        for number in 1..<146_097 {
            let next = CivilTime(secondsSince1970: Int64(number) * 86_400)
            let isNextDay = next.year == day.year && next.month == day.month && next.day == day.day + 1
            let isNewMonth =
                next.day == 1 && (next.month == day.month + 1 || (next.month == 1 && next.year == day.year + 1))
            if !isNextDay && !isNewMonth { Issue.record("\(day) then \(next)") }
            day = next
        }
        #expect(CivilTime(secondsSince1970: .min).zulu == "1970-01-01T00:00:00Z")
        #expect(CivilTime(secondsSince1970: .max).zulu == "9999-12-31T23:59:59Z")
    }

    @Test(arguments: [
        ("2026-11-22T04:45:00+01:00", 1_795_319_100_000), ("2026-11-22T03:45:00.25Z", 1_795_319_100_250),
        ("2026-11-22T03:45:00.123456789", 1_795_319_100_123), (" 2026-11-21t22:15:00-05:30 ", 1_795_319_100_000),
    ])
    func `dates of XML Schema`(_ text: String, _ milliseconds: Int64) {
        #expect(TimeText.dateTime(text) == milliseconds)
    }

    @Test(arguments: [
        "", "2026-11-22", "2026-13-22T03:45:00Z", "2026-02-29T03:45:00Z", "2026-11-22T24:45:00Z",
        "2026-11-22T03:45:00.Z",
        "2026-11-22T03:45:00+1:00", "2026-11-22 03:45:00Z", "-026-11-22T03:45:00Z", "2026-11-22T03:45:00Zulu",
    ])
    func `what is not a date is rejected`(_ text: String) {
        #expect(TimeText.dateTime(text) == nil)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func `HTTP's three forms of a date`(_ text: String) {
        #expect(TimeText.httpDate(text) == 784_111_777_000)
    }

    @Test(arguments: ["", "now", "Sun, 06 Nov", "Sun, 32 Nov 1994 08:49:37 GMT", "a b c d e f", "1 2 3 4:5:6 7"])
    func `what is not a date of HTTP is rejected`(_ text: String) {
        #expect(TimeText.httpDate(text) == nil)
    }

    /// Local noon of 15 January and of 15 July 2026, and how many hours UTC is behind or ahead.
    @Test(arguments: [
        ("UTC0", 0, 0), ("CST-8", -8, -8), ("CET-1CEST,M3.5.0,M10.5.0/3", -1, -2), ("EST5EDT,M3.2.0,M11.1.0", 5, 4),
        ("<+0330>-3:30", -3.5, -3.5), ("AEST-10AEDT,M10.1.0,M4.1.0/3", -11, -10), ("IST-5:30", -5.5, -5.5),
        ("XYZ3ABC2,J60,J300", 3, 2), ("XYZ3ABC,59,300/-1:30", 3, 2), ("NZST-12NZDT", -12, -12),
    ])
    func `time zones as devices name them`(_ zone: String, _ winter: Double, _ summer: Double) throws {
        let parsed = try #require(POSIXTimeZone(zone))
        for (month, hours) in [(1, winter), (7, summer)] {
            let noon = try #require(CivilTime(year: 2026, month: month, day: 15, hour: 12, minute: 0, second: 0))
            let utc = parsed.utcSeconds(ofLocal: noon, isDaylight: false)
            #expect(utc - noon.secondsSince1970 == Int64(hours * 3600))
        }
    }

    @Test func `without rules the device says whether it is summer`() throws {
        let noon = try #require(CivilTime(year: 2026, month: 1, day: 15, hour: 12, minute: 0, second: 0))
        let zone = try #require(POSIXTimeZone("NZST-12NZDT"))
        #expect(zone.utcSeconds(ofLocal: noon, isDaylight: true) == noon.secondsSince1970 - 13 * 3600)
    }

    @Test(arguments: [
        "", "Europe/Berlin", "CST", "AB-1", "UTC99", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "<>0",
        "<+1",
        "CET-1CEST,M3.6.0,M10.5.0", "CET-1CEST,J0,J1", "CET-1CEST,M3.5.0,M10.5.0/200", "UTC0UTC0,,",
    ])
    func `what is not a time zone is rejected`(_ zone: String) {
        #expect(POSIXTimeZone(zone) == nil)
    }

    @Test func `every candidate, in its order, and those that say the same but once`() throws {
        let answer = SystemDateAndTime(
            try response(
                """
                <tds:GetSystemDateAndTimeResponse><tds:SystemDateAndTime><tt:DateTimeType>NTP</tt:DateTimeType>
                <tt:DaylightSavings>false</tt:DaylightSavings><tt:TimeZone><tt:TZ>CET-1</tt:TZ></tt:TimeZone>
                <tt:UTCDateTime><tt:Time><tt:Hour>4</tt:Hour><tt:Minute>45</tt:Minute><tt:Second>0</tt:Second></tt:Time>
                <tt:Date><tt:Year>2026</tt:Year><tt:Month>11</tt:Month><tt:Day>22</tt:Day></tt:Date></tt:UTCDateTime>
                <tt:LocalDateTime><tt:Time><tt:Hour>4</tt:Hour><tt:Minute>45</tt:Minute><tt:Second>0</tt:Second></tt:Time>
                <tt:Date><tt:Year>2026</tt:Year><tt:Month>11</tt:Month><tt:Day>22</tt:Day></tt:Date></tt:LocalDateTime>
                </tds:SystemDateAndTime></tds:GetSystemDateAndTimeResponse>
                """))
        #expect(answer.zone == "CET-1")
        let own: Int64 = 1_795_319_100_000
        let candidates = ClockCandidates(answer: answer, date: "Sun, 22 Nov 2026 03:45:01 GMT", own: own)
        #expect(candidates.readings.map(\.candidate) == [.utc, .httpDate, .localWithZone, .localAsUTC, .own])
        #expect(candidates.readings.map(\.offset) == [3_600_000, 1000, 0, 3_600_000, 0])
        #expect(candidates.distinct(first: nil).map(\.candidate) == [.utc, .httpDate])
        #expect(candidates.distinct(first: .own).map(\.candidate) == [.own, .utc])
        #expect(ClockCandidates(answer: nil, date: nil, own: own).readings.map(\.candidate) == [.own])
    }

    @Test func `a clock that shows nonsense is not a candidate`() throws {
        for hour in ["25", "-1", "99999999999999999999", "x", ""] {
            let answer = SystemDateAndTime(
                try response(
                    """
                    <R><SystemDateAndTime><UTCDateTime><Time><Hour>\(hour)</Hour><Minute>45</Minute></Time>
                    <Date><Year>2026</Year><Month>11</Month><Day>22</Day></Date></UTCDateTime></SystemDateAndTime></R>
                    """))
            #expect(answer.utc == nil)
        }
    }
}
