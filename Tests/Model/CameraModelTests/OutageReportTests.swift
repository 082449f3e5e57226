import ErrorCatalog
import Testing

@testable import CameraModel

struct OutageReportTests {
    private static func at(_ seconds: Int) -> Duration { .seconds(seconds) }

    @Test func `after any flapping the end is reported when it lasts`() {
        for period in [2, 20, 45, 61, 90, 300] {
            var report = OutageReport()
            var (second, lastIsAway) = (0, false)
            for _ in 0..<40 {
                if report.missed("closed", at: Self.at(second)) != nil { lastIsAway = true }
                second += period / 2
                if report.returned(at: Self.at(second)) != nil { lastIsAway = false }
                second += period / 2
            }
            let due = report.returnDue
            #expect((due != nil) == lastIsAway, "period \(period)")
            guard let due else { continue }
            #expect(due <= Self.at(second + 60))
            #expect(report.returned(at: due) != nil, "period \(period)")
            #expect(report.returnDue == nil)
        }
    }

    @Test func `a return that does not last is reported the first time only`() {
        var report = OutageReport()
        var returns = 0
        for number in 0..<200 {
            _ = report.missed("closed", at: Self.at(number * 10))
            if report.returned(at: Self.at(number * 10 + 5)) != nil { returns += 1 }
        }
        #expect(returns == 1)
    }

    @Test func `a new code is reported when reasons have used up the messages`() {
        var report = OutageReport()
        for number in 0..<100 {
            _ = report.missed("reason \(number)", code: .relayUnreachable, at: Self.at(number * 200))
            _ = report.returned(at: Self.at(number * 200 + 100))
        }
        #expect(report.missed("yet another", code: .relayUnreachable, at: Self.at(20_000)) == nil)
        #expect(report.missed("it is refused", code: .certificateRefused, at: Self.at(20_001)) != nil)
        #expect(report.missed("it is refused", code: .certificateRefused, at: Self.at(20_002)) == nil)
    }

    @Test func `a reason that could not be reported is still news`() {
        var report = OutageReport()
        var second = 0
        while report.missed("away", at: Self.at(second)) != nil {
            _ = report.returned(at: Self.at(second))
            second += 61
            _ = report.returned(at: Self.at(second))
        }
        #expect(report.missed("another", at: Self.at(second + 1)) == nil)
        #expect(report.missed("another", at: Self.at(second + 3 * 3600)) != nil)
    }

    @Test func `an end is reported though nothing else is any more, and stays owed`() {
        var report = OutageReport()
        for number in 0..<100 {
            _ = report.missed("away", at: Self.at(number * 130))
            _ = report.returned(at: Self.at(number * 130 + 60))
        }
        #expect(report.ended(at: Self.at(13_000)) != nil)
        for second in 13_001..<13_004 { #expect(report.ended(at: Self.at(second)) != nil) }
        #expect(report.ended(at: Self.at(13_004)) == nil)
        #expect(report.owed(at: Self.at(13_010)) == nil)
        #expect(report.owed(at: Self.at(13_004 + 3600)) != nil)
        #expect(report.owed(at: Self.at(13_004 + 7200)) == nil)
    }

    @Test func `whatever happens in a day, it is fewer than a hundred messages`() {
        let codes: [ErrorCode] = [.relayUnreachable, .certificateRefused, .noKey]
        for step in [1, 7, 31, 61, 200] {
            var report = OutageReport()
            var notices = 0
            for second in stride(from: 0, to: 86_400, by: step) {
                let notice =
                    switch second / step % 5 {
                    case 0, 1: report.missed("\(second)", code: codes[second / step % 3], at: Self.at(second))
                    case 2: report.returned(at: Self.at(second))
                    case 3: report.goesOn(at: Self.at(second))
                    default: report.ended(at: Self.at(second))
                    }
                if notice != nil { notices += 1 }
            }
            #expect(notices < 100, "\(notices)")
        }
    }
}
