import CameraModel
import ControlAPI
import Cryptography
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

    private func finding(
        _ status: BoxStatus?, configuration: String = Self.configuration
    ) async throws -> Finding {
        let tree = try FixtureTree(healthyBoard)
        try tree.write("etc/watchbox/watchbox.toml", configuration)
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
        let key = try RSAPrivateKey.generate(bits: 2048).publicKey.spkiPEM()
        let front = "\n[camera.hall]\nsource = 'test:'\nrecord = 'continuous'\nrecord_recovery_key = '''\n\(key)'''\n"
        let both = try await finding(nil, configuration: Self.configuration + front)
        #expect(both.state == .ok && both.evidence.hasPrefix("front, hall: "))
        #expect(both.evidence.contains("the KAS's keys alone; watchboxctl kas backup"))
        #expect(both.evidence.contains("; of hall with a recovery key as well, from when it was set"))
        let one = try await finding(
            nil, configuration: (Self.configuration + front).replacing("\"continuous\"", with: "\"off\""))
        #expect(one.evidence.hasPrefix("hall: ") && one.evidence.contains("; of hall with a recovery key as well"))
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
