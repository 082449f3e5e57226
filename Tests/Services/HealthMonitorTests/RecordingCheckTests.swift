import CameraModel
import ControlAPI
import ErrorCatalog
import Testing

@testable import HealthMonitor

struct RecordingCheckTests {
    private static func finding(
        _ state: RecordingStatistics.State, _ reason: String? = nil, _ code: ErrorCode? = nil
    ) -> Finding? {
        var recording = RecordingStatistics()
        recording.state = state
        recording.reason = reason
        recording.code = code
        recording.files = 3
        recording.bytes = 2_500_000
        return RecordingCheck.finding(recording, "front")
    }

    @Test func `a camera that is not recorded has no such check`() {
        #expect(RecordingCheck.finding(nil, "front") == nil)
    }

    @Test func `what is recorded is well`() throws {
        let finding = try #require(Self.finding(.recording))
        #expect(finding.state == .ok && finding.code == nil)
        #expect(finding.evidence == "3 recordings, 2 MB of them")
        #expect(Self.finding(.waitingForFrames)?.state == .ok)
        #expect(Self.finding(.waitingForKey)?.state == .ok, "it has only just begun")
        let waiting = try #require(Self.finding(.waitingForEvent))
        #expect(waiting.state == .ok && waiting.code == nil)
        #expect(waiting.evidence == "it waits for an event; 3 recordings")
        var recording = RecordingStatistics()
        recording.state = .waitingForEvent
        recording.causes = [.mark, .schedule]
        #expect(
            RecordingCheck.finding(recording, "front")?.evidence == "it waits for its schedule or a mark; 0 recordings")
    }

    @Test func `what keeps a camera from being recorded is said, with what to do`() throws {
        let failing = try #require(Self.finding(.failing, "No space left on device", .recordingFailed))
        #expect(failing.state == .fail && failing.code == .recordingFailed && failing.hint != nil)
        #expect(failing.evidence == "nothing is recorded: No space left on device")
        #expect(Self.finding(.failing)?.code == .recordingFailed, "also when its process says nothing")
        let key = try #require(Self.finding(.waitingForKey, "the KAS does not answer", .noKey))
        #expect(key.state == .warn && key.code == .noKey)
        let still = try #require(Self.finding(.waitingForFrames, "no frame to begin with for 40 s", .noFrames))
        #expect(still.state == .warn && still.code == .noFrames)
        let shortened = try #require(Self.finding(.recording, "the disk is full", .recordingShortened))
        #expect(shortened.state == .warn && shortened.code == .recordingShortened)
    }

    @Test func `a process that was broken into does not fill the report`() throws {
        let finding = try #require(Self.finding(.failing, String(repeating: "x", count: 100_000)))
        #expect(finding.evidence.utf8.count < 300)
    }
}
