import CameraModel
import ErrorCatalog
import Foundation
import Logging
import Media
import ONVIF
import ONVIFClient
import Testing

@testable import RTSPIngest

/// A camera that is asked for its stream: the simulator of Tests/Rigs/onvif, with streams of Tests/Rigs/rtsp.
// These need python3 and ffmpeg, which make a camera and what it sends; the product itself needs neither.
@Suite(.enabled(if: TestCamera.hasMedia, "python3 or ffmpeg with libx264 and libx265 is missing"))
struct ONVIFCameraTests {
    private let directory = TemporaryDirectory()

    private func network(_ device: TestCamera, password: String = "s3cret") throws -> CameraConfiguration.Network {
        var network = try CameraConfiguration.Network.test(
            "onvif://127.0.0.1:\(device.port)", user: "admin", password: password, in: directory)
        network.memoryFile = directory.path("network.json")
        return network
    }

    @Test(arguments: [
        [], ["--auth", "digest-sha256"], ["--skew", "3600"], ["--no-clock", "--skew", "3600"], ["--no-media2"],
        ["--xaddr-host", "192.0.2.77"],
    ])
    func `the camera reports its stream and is pulled`(options: [String]) async throws {
        let stream = try await TestCamera.quirky()
        defer { stream.end() }
        let device = try await TestCamera.device(rtsp: stream.url("auth=sha256"), options)
        defer { device.end() }
        let network = try network(device)
        let running = RunningSource(network)
        try await running.wait("frames") { $0.keyFrames >= 2 }
        let capture = try await running.waitForStatistics("the device") { $0.network?.device != nil }
        let found = try #require(capture.network?.device)
        #expect(found.serial == "SN1")
        #expect(found.profiles.count == 2)
        #expect(found.mac == "02:00:5e:00:53:01")
        #expect(capture.network?.profile != nil)
        #expect(capture.network?.url?.hasPrefix("rtsp://127.0.0.1:\(stream.port)/") == true)
        let memory = CameraCache.load(network.memoryFile, url: network.url)
        #expect(memory.serial == "SN1")
        #expect(memory.serviceURL == device.serviceURL)
        #expect(memory.streams["main"] != nil)
        _ = try await running.stop()
        let text = try String(contentsOfFile: try #require(network.memoryFile), encoding: .utf8)
        #expect(!text.contains("s3cret"))
    }

    @Test func `a stream at another host and port than the device reports is pulled from where the operator says`()
        async throws
    {
        let stream = try await TestCamera.quirky()
        defer { stream.end() }
        // Nothing answers where the device says, which knows its own side of the port forward only.
        let reported = "rtsp://192.0.2.9:9/h264?auth=md5"
        let device = try await TestCamera.device(rtsp: reported)
        defer { device.end() }
        var network = try network(device)
        network.rtspHost = "localhost"
        network.rtspPort = Int(stream.port)
        let running = RunningSource(network)
        try await running.wait("frames") { $0.keyFrames >= 1 }
        #expect(
            running.source.capture.network?.url?.hasPrefix("rtsp://localhost:\(stream.port)/h264?auth=md5") == true)
        let report = await running.source.test { _ in }
        #expect(report.isUsable)
        _ = try await running.stop()
        // What was remembered is brought there, too.
        var memory = CameraCache.load(network.memoryFile, url: network.url)
        memory.streams["main"] = reported
        #expect(memory.store(try #require(network.memoryFile)) == nil)
        device.end()
        let again = RunningSource(network)
        try await again.wait("frames") { $0.keyFrames >= 1 }
        _ = try await again.stop()
    }

    @Test func `events and PTZ work beside the stream`() async throws {
        let stream = try await TestCamera.quirky()
        defer { stream.end() }
        let device = try await TestCamera.device(rtsp: stream.url("auth=md5"))
        defer { device.end() }
        let running = RunningSource(try network(device))
        let sensed = Watched<[SensorEvent]>([])
        running.source.observeSensors { event in sensed.change { $0.append(event) } }
        try await running.wait("frames") { $0.keyFrames >= 1 }
        let capture = try await running.waitForStatistics("motion") { $0.network?.events.isEmpty == false }
        let event = try #require(capture.network?.events.first)
        #expect(event.number == 1)
        #expect(event.kind == "motion")
        // Who records hears the same at once.
        try await sensed.wait("motion") { $0.contains { $0.kind == .motion && $0.isActive == event.isActive } }
        try await running.source.move(.continuous(pan: 0.5, tilt: 0, zoom: 0, seconds: 0.2))
        try await running.source.move(.stop)
        try await running.source.move(.store(preset: "door"))
        let presets = try await running.source.presets()
        #expect(presets.contains { $0.name == "door" })
        try await running.source.move(.goTo(preset: "door"))
        let encoders = try await running.source.encoders()
        let encoder = try #require(encoders.first)
        #expect(encoder.size.width > 0)
        let rate = try #require(encoder.bitrates.map { min(max($0.lowerBound, 500_000), $0.upperBound) })
        try await running.source.configure(.init(token: encoder.token, bitrate: rate))
        let changed = try await running.source.encoders().first { $0.token == encoder.token }
        #expect(changed?.bitrate == rate)
        running.source.requestKeyFrame()
        // A key frame is asked for at the begin as well, so it may be one or two.
        try await device.lines.wait("a request for a key frame") { lines in
            lines.contains { $0.contains("SetSynchronizationPoint") }
        }
        _ = try await running.stop()
    }

    @Test func `a wrong password is refused after two attempts`() async throws {
        let device = try await TestCamera.device(rtsp: "rtsp://127.0.0.1:1/")
        defer { device.end() }
        let running = RunningSource(try network(device, password: "n0tThis"))
        let capture = try await running.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(capture.code == .loginRefused)
        #expect(capture.network?.attempts == 2)
        _ = try await running.stop()
    }

    @Test func `a profile that is not there is named with those that are`() async throws {
        let device = try await TestCamera.device(rtsp: "rtsp://127.0.0.1:1/")
        defer { device.end() }
        var network = try network(device)
        network.profile = "nonsense"
        let running = RunningSource(network)
        let capture = try await running.waitForStatistics("the refusal") { $0.code != nil }
        #expect(capture.code == .noSuchStream)
        _ = try await running.stop()
    }

    @Test func `a remembered stream is pulled while the camera's ONVIF is away`() async throws {
        let stream = try await TestCamera.quirky()
        defer { stream.end() }
        let device = try await TestCamera.device(rtsp: stream.url("a=1"))
        let network = try network(device)
        let first = RunningSource(network)
        try await first.wait("frames") { $0.keyFrames >= 1 }
        _ = try await first.stop()
        device.end()
        let second = RunningSource(network)
        try await second.wait("frames without ONVIF") { $0.keyFrames >= 1 }
        _ = try await second.stop()
    }

    @Test func `what only ONVIF knows is refused by the address of a stream`() async throws {
        let source = NetworkSource(
            .init(url: "rtsp://192.0.2.1/"), camera: "porch",
            logger: Logger(label: "x") { _ in SwiftLogNoOpLogHandler() })
        await #expect(throws: CodedError.self) { try await source.presets() }
        await #expect(throws: CodedError.self) { try await source.move(.home) }
        await #expect(throws: CodedError.self) { try await source.encoders() }
    }

    @Test func `a test of an ONVIF camera reports its clock, its login and its device`() async throws {
        let stream = try await TestCamera.quirky()
        defer { stream.end() }
        let device = try await TestCamera.device(rtsp: stream.url("auth=md5"), ["--skew", "7200"])
        defer { device.end() }
        let subject = StreamTest.Subject(
            network: .init(url: "onvif://127.0.0.1:\(device.port)", user: "admin"), password: "s3cret")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let report = await StreamTest.run(subject, deadline: .seconds(60), logger: logger) { _ in }
        #expect(report.isUsable)
        #expect(report.lines.map(\.step) == StreamTestReport.Step.allCases)
        #expect(report.lines.map(\.outcome) == [.ok, .warning, .ok, .ok, .ok])
        #expect(report.device?.serial == "SN1")
        #expect(report.streamURL?.contains("127.0.0.1:\(stream.port)") == true)
        var wrong = subject
        wrong.password = "nope"
        let refused = await StreamTest.run(wrong, deadline: .seconds(60), logger: logger) { _ in }
        #expect(refused.lines.last?.step == .login)
        #expect(refused.lines.last?.code == .loginRefused)
    }

    // MARK: - Choosing a profile

    private func profile(_ token: String, _ width: Int?, url: String? = "rtsp://c/", codec: String? = "h264")
        -> NetworkStatistics.Profile
    {
        NetworkStatistics.Profile(
            token: token, name: token, service: "media", url: url, codec: codec, width: width,
            height: width.map { $0 / 16 * 9 })
    }

    @Test func `main is the largest, sub the smallest, and a token is itself`() throws {
        let profiles = [
            profile("a", 640), profile("b", 1920), profile("c", 1920), profile("d", 320), profile("e", nil),
            profile("f", 4000, url: nil), profile("g", 3840, codec: "mpeg4"),
        ]
        #expect(try CameraDevice.profile(nil, of: profiles).token == "b")
        #expect(try CameraDevice.profile("main", of: profiles).token == "b")
        #expect(try CameraDevice.profile("sub", of: profiles).token == "d")
        #expect(try CameraDevice.profile("c", of: profiles).token == "c")
        #expect(throws: PullFault.self) { try CameraDevice.profile("f", of: profiles) }
        #expect(throws: PullFault.self) { try CameraDevice.profile("x", of: profiles) }
        #expect(throws: PullFault.self) { try CameraDevice.profile(nil, of: []) }
        #expect(try CameraDevice.profile("sub", of: [profile("e", nil), profile("a", 640)]).token == "a")
        let odd = profile("z", Int.max)
        _ = try CameraDevice.profile("main", of: [odd, profile("a", 640)])
    }

    @Test(arguments: [
        ("onvif://192.0.2.1", CameraURL.device(host: "192.0.2.1", port: nil, path: nil)),
        ("onvif://cam:8000/", .device(host: "cam", port: 8000, path: nil)),
        ("onvif://[fe80::1]:80/dev", .device(host: "fe80::1", port: 80, path: "/dev")),
        ("ONVIF://h/onvif/device_service", .device(host: "h", port: nil, path: "/onvif/device_service")),
        ("rtsp://h/x?y=1", .stream("rtsp://h/x?y=1")),
    ])
    func `a camera's URL names a stream or a device`(text: String, url: CameraURL) throws {
        #expect(try CameraURL(text) == url)
    }

    @Test(arguments: [
        "onvif://", "onvif://:80", "onvif://h:0", "onvif://h:99999", "onvif://h:x", "onvif://u:p@h", "onvif://[::1",
        "onvif://h h", "onvif://\u{e9}", "onvif://[::1]x",
    ])
    func `a device's invalid URL is refused without being quoted`(text: String) {
        #expect { try CameraURL(text) } throws: { error in
            (error as? PullFault).map { !$0.what.contains("u:p") } ?? false
        }
    }
}
