import CameraModel
import ErrorCatalog
import Media
import Synchronization
import Testing

@testable import CameraPipeline

/// A camera on the network in the pipeline; what it does on the network is tested with `RTSPIngest`.
@Suite struct NetworkCameraTests {
    private static func network(_ url: String) -> CameraConfiguration.Source { .network(.init(url: url)) }

    @Test func `a network camera's settings make a source that can be asked, and no other's do`() throws {
        var settings = configuration(port: 1)
        settings.source = Self.network("rtsp://192.0.2.1/stream1")
        let service = try CameraService(configuration: settings)
        #expect(service.network != nil)
        settings.source = .testPattern(.init())
        #expect(try CameraService(configuration: settings).network == nil)
    }

    @Test func `an address with a password in it is refused before anything is opened`() {
        var settings = configuration(port: 1)
        settings.source = Self.network("rtsp://admin:hunter2@192.0.2.1/stream1")
        let error = #expect(throws: ConfigurationError.self) { try CameraService(configuration: settings) }
        #expect(error?.problems.map(\.field) == ["source.network.url"])
        #expect(error.map { "\($0)".contains("hunter2") } == false)
    }

    @Test func `what the camera says of itself is in the statistics, and why there is no frame`() async throws {
        let source = WaitingNetworkSource()
        let service = try CameraService(
            configuration: configuration(port: 1), source: source, authority: TestAuthority())
        let capture = await service.statistics().capture
        #expect(capture?.network?.state == .refused && capture?.code == .loginRefused)
        await #expect(throws: CodedError.self) { try await service.snapshot() }
        do {
            _ = try await service.snapshot()
        } catch {
            #expect(error.code == .loginRefused && error.why == "the camera refuses user or password")
        }
        #expect(service.network === source)
        #expect(throws: CodedError.self) { try service.change(VideoChange(bitrate: 100_000)) }
    }
}

/// One that waits, and delivers nothing.
private final class WaitingNetworkSource: LiveSource, NetworkSourceControl {
    var capture: CaptureStatistics {
        var capture = CaptureStatistics(path: "rtsp://cam/1")
        capture.state = .waiting
        capture.code = .loginRefused
        capture.reason = "the camera refuses user or password"
        var network = NetworkStatistics()
        network.state = .refused
        capture.network = network
        return capture
    }

    func run(_ deliver: @escaping @Sendable (MediaEvent) -> Void) throws(MediaSourceError) {}
    func stop() {}
    func requestKeyFrame() {}

    func change(_ change: VideoChange) throws(CodedError) {
        throw CodedError(.badRequest, "its media are encoded already")
    }

    func test(_ progress: @escaping @Sendable (StreamTestReport) -> Void) async -> StreamTestReport {
        StreamTestReport(url: "rtsp://cam/1")
    }

    func observeSensors(_ observer: @escaping @Sendable (SensorEvent) -> Void) {}
    func move(_ command: PTZCommand) async throws(CodedError) {}
    func presets() async throws(CodedError) -> [PTZPreset] { [] }
    func encoders() async throws(CodedError) -> [CameraEncoder] { [] }
    func configure(_ encoder: CameraEncoder.Change) async throws(CodedError) {}
    func announced(
        address: String, url: String?, evidence: NetworkStatistics.Move.Evidence, isKeyShared: Bool
    ) {}
}
