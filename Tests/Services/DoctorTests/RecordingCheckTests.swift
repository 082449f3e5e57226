import CameraModel
import ControlAPI
import ErrorCatalog
import Testing

@testable import Doctor

struct RecordingCheckTests {
    private static let configuration = """
        version = 1
        kas = { url = "https://kas.example.net/kas" }
        relay.main = { url = "rtmp://relay.example.net/live" }
        camera.front = { source = "test:", record = "continuous" }
        camera.yard = { source = "test:" }
        """

    private static func status(_ recording: RecordingStatistics) -> BoxStatus {
        var status = DaemonCheckTests.status()
        status.cameras[0].id = "front"
        status.cameras[0].stream.statistics = CameraStatistics(camera: "front", stream: "front")
        status.cameras[0].stream.statistics?.recording = recording
        return status
    }

    private func finding(_ status: BoxStatus?) async throws -> Finding {
        let tree = try FixtureTree(healthyBoard)
        try tree.write("etc/watchbox/watchbox.toml", Self.configuration)
        guard let status else { return try await tree.finding("recording") }
        let daemon = try CannedDaemon(
            "\(tree.root)/run/watchbox/api.sock", answers: ["/api/v1/status": JSONDocument.text(status)])
        defer { withExtendedLifetime(daemon) {} }
        return try await tree.finding("recording", tree.environment(isOffline: false))
    }

    @Test func `a box that records nothing`() async throws {
        let tree = try FixtureTree(healthyBoard)
        #expect(try await tree.finding("recording") == .ok("no camera is recorded"))
    }

    @Test func `who can open what is recorded is said`() async throws {
        let found = try await finding(nil)
        #expect(found.state == .ok && found.evidence.hasPrefix("front: ") && !found.evidence.contains("yard"))
        #expect(found.evidence.contains("the KAS's keys alone"))
    }

    @Test func `what keeps a camera from being recorded is said`() async throws {
        var recording = RecordingStatistics()
        recording.state = .recording
        #expect(try await finding(Self.status(recording)).state == .ok)
        var silent = Self.status(recording)
        silent.cameras[0].stream.statistics = nil
        #expect(try await finding(silent).state == .unknown)
        recording.code = .recordingShortened
        recording.reason = "the disk is full"
        let shortened = try await finding(Self.status(recording))
        #expect(shortened.state == .warn && shortened.code == .recordingShortened)
        recording.state = .failing
        recording.code = .recordingFailed
        let failing = try await finding(Self.status(recording))
        #expect(failing.state == .fail && failing.evidence == "front: nothing is recorded: the disk is full")
    }
}
