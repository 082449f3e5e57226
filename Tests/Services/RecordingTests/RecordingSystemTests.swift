import Glibc
import Testing

@testable import Recording

struct RecordingSystemTests {
    /// Zones are of a process: each has one of its own. As POSIX writes them, so that no data of zones is needed.
    @Test func `the time of the week is that of the machine's zone, over the changes of its clocks`() async {
        await #expect(processExitsWith: .success) {
            // One hour ahead of UTC, two from the last Sunday of March to that of October.
            setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1)
            for (instant, day, minute) in [
                // 2026-03-29 00:59, 01:00; 2026-10-25 00:59, 01:00; 2026-12-31 23:00: in UTC.
                (1_774_745_940, 6, 119), (1_774_746_000, 6, 180), (1_792_889_940, 6, 179), (1_792_890_000, 6, 120),
                (1_798_758_000, 4, 0),
            ] as [(Int64, Int, Int)] {
                let time = RecordingSystem.weekTime(at: instant)
                precondition(time?.day == day && time?.minute == minute, "\(instant): \(String(describing: time))")
            }
        }
        await #expect(processExitsWith: .success) {
            setenv("TZ", "IST-5:30", 1)
            // Sunday, 18:29 and 18:30 in UTC.
            for (instant, day, minute) in [(1_774_808_940, 6, 1439), (1_774_809_000, 0, 0)] as [(Int64, Int, Int)] {
                let time = RecordingSystem.weekTime(at: instant)
                precondition(time?.day == day && time?.minute == minute, "\(instant): \(String(describing: time))")
            }
        }
        await #expect(processExitsWith: .success) {
            setenv("TZ", "UTC0", 1)
            var time = RecordingSystem.weekTime(at: 1_798_758_000)
            precondition(time?.day == 3 && time?.minute == 1380)
            // The zone is set while it runs.
            setenv("TZ", "JST-9", 1)
            time = RecordingSystem.weekTime(at: 1_798_758_000)
            precondition(time?.day == 4 && time?.minute == 480)
        }
    }

    @Test func `a time that no clock can show says nothing`() {
        #expect(RecordingSystem.weekTime(at: .max) == nil)
        #expect(RecordingSystem.weekTime(at: .min) == nil)
    }
}
