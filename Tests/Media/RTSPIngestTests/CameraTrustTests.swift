import CameraModel
import ErrorCatalog
import Foundation
import HTTPClient
import Logging
import ONVIF
import ONVIFClient
import Testing

@testable import RTSPIngest

/// Whom an ONVIF camera's finder believes: certificates, announcements, devices.
// These need python3, openssl and ffmpeg, which make a camera and what it sends; the product itself needs none of them.
@Suite(
    .enabled(
        if: TestCamera.hasMedia && CertificateFiles.isInstalled,
        "python3, openssl or ffmpeg with libx264 and libx265 is missing"))
struct CameraTrustTests {
    private let directory = TemporaryDirectory()
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private static let otherPin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    private func network(port: UInt16, memory change: (inout CameraCache) -> Void = { _ in }) throws
        -> CameraConfiguration.Network
    {
        var network = try CameraConfiguration.Network.test("onvif://127.0.0.1:\(port)", user: "admin", in: directory)
        network.memoryFile = directory.path("network.json")
        var memory = CameraCache.load(nil, for: network)
        change(&memory)
        #expect(memory.store(directory.path("network.json")) == nil)
        return network
    }

    private func subject(_ service: TestCamera, user: String? = "admin") -> StreamTest.Subject {
        // An address with a scheme comes from the memory; that of the settings has none.
        var network = CameraConfiguration.Network(url: "onvif://127.0.0.1:1")
        network.user = user
        var subject = StreamTest.Subject(network: network, password: user == nil ? nil : "s3cret")
        var memory = CameraCache(url: network.url)
        memory.serviceURL = service.serviceURL.replacing("http:", with: "https:")
        subject.memory = memory
        return subject
    }

    @Test func `a test without a login reports the certificate that it saw`() async throws {
        let files = try CertificateFiles("service", in: directory)
        let device = try await TestCamera.device(
            rtsp: "rtsp://127.0.0.1:1/", ["--tls", files.certificate, files.key])
        defer { device.end() }
        let report = await StreamTest.run(subject(device, user: nil), deadline: .seconds(60), logger: logger) { _ in }
        #expect(!report.isUsable)
        #expect(report.lines.last?.code == .loginNeeded)
        #expect(report.pin.map(CameraConfiguration.Network.isPin) == true)
        #expect(report.address == "127.0.0.1")
    }

    @Test(arguments: [true, false])
    func `a pin is reported when it is that of both services`(isSame: Bool) async throws {
        let files = try CertificateFiles("service", in: directory)
        let others = try isSame ? files : CertificateFiles("stream", in: directory)
        let stream = try await TestCamera.quirky(["--tls", others.certificate, others.key])
        defer { stream.end() }
        let device = try await TestCamera.device(
            rtsp: "rtsps://127.0.0.1:\(stream.port)/cam?a=1", ["--tls", files.certificate, files.key])
        defer { device.end() }
        let report = await StreamTest.run(subject(device), deadline: .seconds(60), logger: logger) { _ in }
        #expect(report.isUsable)
        #expect((report.pin != nil) == isSame)
        #expect(report.lines.first?.text.contains("different certificates") == !isSame)
        #expect(report.lines.map(\.step) == StreamTestReport.Step.allCases)
    }

    @Test func `a password in the stream's own address is in no status, log or report`() async throws {
        let stream = try await TestCamera.quirky()
        defer { stream.end() }
        let device = try await TestCamera.device(
            rtsp: stream.url("user=admin&password=tlJwpbo6"), ["--xaddr-host", "192.0.2.77"])
        defer { device.end() }
        let network = try network(port: device.port)
        let running = RunningSource(network)
        try await running.wait("frames") { $0.keyFrames >= 1 }
        let capture = try await running.waitForStatistics("the device") { $0.network?.device != nil }
        let report = await running.source.test { _ in }
        #expect(report.isUsable)
        _ = try await running.stop()
        let status = String(decoding: try JSONEncoder().encode(capture), as: UTF8.self)
        #expect(!status.contains("tlJwpbo6"))
        #expect(!String(decoding: try JSONEncoder().encode(report), as: UTF8.self).contains("tlJwpbo6"))
        #expect(running.log.value.contains { $0.contains("the camera gave") })
        for line in running.log.value { #expect(!line.contains("tlJwpbo6")) }
        // Where it is needed.
        let memory = CameraCache.load(network.memoryFile, for: network)
        #expect(memory.streams["main"]?.contains("password=tlJwpbo6") == true)
    }

    @Test func `with a pin an address without TLS that was announced or is remembered is not used`() async throws {
        let device = try await TestCamera.device(rtsp: "rtsp://127.0.0.1:1/", ["--bind", "127.0.0.2"])
        defer { device.end() }
        let service = "http://127.0.0.2:\(device.port)/onvif/device_service"
        let network = try network(port: 1) { memory in
            memory.serviceURL = service
            memory.servicePin = Self.otherPin
            memory.serial = "SN1"
        }
        let running = RunningSource(network)
        try await running.waitForStatistics("the end of an attempt") { $0.code != nil }
        running.source.announced(address: "127.0.0.2", url: service, evidence: .endpoint)
        try await running.log.wait("the look there") { $0.contains { $0.contains("where the camera may be") } }
        _ = try await running.stop()
        #expect(!device.lines.value.contains { $0.contains("GetSystemDateAndTime") })
    }

    /// The service's key does not count for a stream without one, whoever has taken the address since.
    @Test(arguments: [true, false])
    func `a remembered service or stream at another host is not used without a key`(isSecure: Bool) async throws {
        let device = try await TestCamera.device(rtsp: "rtsp://127.0.0.2:1/", ["--bind", "127.0.0.2"])
        defer { device.end() }
        let stream = try await TestCamera.quirky(["--bind", "127.0.0.2"])
        defer { stream.end() }
        // As an earlier version left it.
        let network = try network(port: 1) { memory in
            memory.serviceURL =
                isSecure
                ? "https://127.0.0.2:1/onvif/device_service" : "http://127.0.0.2:\(device.port)/onvif/device_service"
            if isSecure { memory.servicePin = Self.otherPin }
            memory.streams["main"] = "rtsp://127.0.0.2:\(stream.port)/cam?auth=md5"
        }
        let running = RunningSource(network)
        try await running.waitForStatistics("two attempts") { ($0.network?.attempts ?? 0) >= 2 && $0.code != nil }
        let seen = try await running.stop()
        #expect(seen.frames.isEmpty)
        for camera in [device, stream] { #expect(camera.lines.value.allSatisfy { $0.hasPrefix("READY") }) }
    }

    @Test func `a stream that was encrypted does not go on without encryption`() async throws {
        let stream = try await TestCamera.quirky()
        defer { stream.end() }
        let device = try await TestCamera.device(rtsp: stream.url("a=1"))
        defer { device.end() }
        let network = try network(port: device.port) { memory in
            memory.streams["main"] = "rtsps://127.0.0.1:\(stream.port)/cam?a=1"
            memory.pin = Self.otherPin
        }
        let running = RunningSource(network)
        let capture = try await running.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(capture.code == .certificateChanged)
        #expect(capture.reason?.contains("without encryption") == true)
        let seen = try await running.stop()
        #expect(seen.frames.isEmpty)
    }

    @Test func `another device's error says how it can be accepted`() async throws {
        let device = try await TestCamera.device(rtsp: "rtsp://127.0.0.1:1/")
        defer { device.end() }
        let stream = try await TestCamera.quirky()
        defer { stream.end() }
        var network = try network(port: device.port) { $0.streams["main"] = stream.url("a=1") }
        network.identity = .init(serial: "OTHER")
        let running = RunningSource(network)
        let capture = try await running.waitForStatistics("the mismatch") { $0.code == .identityNotProven }
        #expect(capture.reason?.contains("watchboxctl camera edit porch --accept-device") == true)
        let seen = try await running.stop()
        #expect(seen.frames.isEmpty)
    }

    @Test func `only the device that the settings name gets a readable password`() throws {
        let network = CameraConfiguration.Network(url: "onvif://192.168.1.7", user: "admin", allowsBasic: true)
        let finder = CameraFinder(
            network, host: "192.168.1.7", port: nil, path: nil, state: SharedState(network), logger: logger)
        let memory = CameraCache(url: network.url)
        let configured = "http://192.168.1.7/onvif/device_service"
        #expect(finder.access(configured, password: "s3cret", memory: memory).allowsPlainPassword)
        let other = "http://192.168.1.7:99/onvif/device_service"
        #expect(!finder.access(other, password: "s3cret", memory: memory).allowsPlainPassword)
    }
}
