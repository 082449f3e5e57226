import Foundation
import Testing

@testable import Recording

struct RecordingSystemTests {
    @Test func `the time of the week is that of the machine's zone, over all changes of its clocks`() {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = .current
        for hour in Int64(0)..<9000 {
            // From the middle of 2026 on, at other minutes each time.
            let instant = 1_782_000_000 + hour * 3660
            let parts = calendar.dateComponents(
                [.weekday, .hour, .minute], from: Date(timeIntervalSince1970: TimeInterval(instant)))
            let time = RecordingSystem.weekTime(at: instant)
            #expect(time?.day == ((parts.weekday ?? 0) + 5) % 7)
            #expect(time?.minute == 60 * (parts.hour ?? 0) + (parts.minute ?? 0))
        }
    }

    @Test func `a clock that was never set says nothing`() {
        #expect(RecordingSystem.weekTime(at: 0) == nil)
        #expect(RecordingSystem.weekTime(at: -1) == nil)
        #expect(RecordingSystem.weekTime(at: .max) == nil)
    }
}
