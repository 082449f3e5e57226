import Testing
import Wire

struct CalendarTimeTests {
    @Test(arguments: [
        ("1970-01-01T00:00:00Z", 0), ("1970-01-01T00:00:00.001Z", 1), ("2026-11-28T19:22:01.040Z", 1_795_893_721_040),
        ("2026-11-28T19:22:01.04Z", 1_795_893_721_040), ("2026-11-28T19:22:01.5Z", 1_795_893_721_500),
        ("2028-02-29T23:59:59Z", 1_835_481_599_000), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
    ])
    func `a time is read`(text: String, milliseconds: Int64) {
        #expect(CalendarTime.milliseconds(iso8601: text) == milliseconds)
    }

    @Test func `what is written is read again`() {
        for milliseconds in stride(from: Int64(0), through: 253_402_300_799_999, by: 86_400_000 * 97 + 61_007) {
            #expect(CalendarTime.milliseconds(iso8601: CalendarTime.iso8601(milliseconds)) == milliseconds)
        }
    }

    @Test(arguments: [
        "", "Z", "now", "0", "1795893721", "2026-11-28", "2026-11-28T19:22Z", "2026-11-28T19:22:01",
        "2026-11-28T19:22:01+00:00", "2026-11-28T19:22:01.Z", "2026-11-28T19:22:01.0400Z", "2026-11-28T19:22:01,5Z",
        "2026-11-28T19:22:01.-5Z", "2026-11-28 19:22:01Z", "2026-11-28t19:22:01z", " 2026-11-28T19:22:01Z",
        "2026-11-28T19:22:01Z ", "2026-11-31T00:00:00Z", "2027-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-11-28T24:00:00Z", "2026-11-28T19:60:00Z",
        "2026-11-28T19:22:60Z", "1969-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "+026-11-28T19:22:01Z",
        "２026-11-28T19:22:01Z", String(repeating: "2026-11-28T19:22:01Z", count: 1000),
    ])
    func `what is no time is refused`(text: String) {
        #expect(CalendarTime.milliseconds(iso8601: text) == nil)
    }
}
