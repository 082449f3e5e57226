import Testing

@testable import ControlPlane

struct EventAllowanceTests {
    @Test func `a few at once, then a few each minute`() {
        var allowance = EventAllowance()
        #expect(allowance.take(3, at: .seconds(10)) == 3)
        #expect(allowance.take(100, at: .seconds(10)) == 5)
        #expect(allowance.take(100, at: .seconds(10)) == 0)
        #expect(allowance.take(1, at: .seconds(19)) == 0)
        #expect(allowance.take(1, at: .seconds(20)) == 1)
        #expect(allowance.take(100, at: .seconds(80)) == 6)
        // Saved up no further than the burst; a clock that goes back gives nothing.
        #expect(allowance.take(100, at: .seconds(100_000)) == 8)
        #expect(allowance.take(100, at: .seconds(5)) == 0)
        #expect(allowance.take(-1, at: .seconds(200_000)) == 0)
    }

    @Test func `a day of flooding is reported in so many events`() {
        var allowance = EventAllowance()
        var reported = 0
        var summaries = 0
        for second in stride(from: 0, to: 86_400, by: 2) {
            reported += allowance.take(8, at: .seconds(second))
            allowance.withhold(1000)
            if allowance.summary(at: .seconds(second)) != nil { summaries += 1 }
        }
        #expect(reported <= EventAllowance.burst + 1440 * EventAllowance.perMinute)
        #expect(summaries <= 1440)
    }

    @Test func `what was not reported is summed up once a minute`() {
        var allowance = EventAllowance()
        #expect(allowance.summary(at: .seconds(0)) == nil)
        allowance.withhold(5)
        #expect(allowance.summary(at: .seconds(1)) == 5)
        allowance.withhold(7)
        allowance.withhold(1)
        #expect(allowance.summary(at: .seconds(60)) == nil)
        #expect(allowance.summary(at: .seconds(61)) == 8)
        #expect(allowance.summary(at: .seconds(200)) == nil)
        allowance.withhold(.max)
        allowance.withhold(1)
        #expect(allowance.summary(at: .seconds(200)) == .max)
    }
}
