import CameraModel
import ErrorCatalog
import Foundation
import Logging
import Testing

@testable import RTSPIngest

/// rtsps:// and the certificates that cameras sign for themselves.
// These need python3, openssl and ffmpeg, which make a camera and what it sends; the product itself needs none of them.
@Suite(
    .enabled(
        if: TestCamera.hasMedia && CertificateFiles.isInstalled,
        "python3, openssl or ffmpeg with libx264 and libx265 is missing"))
struct EncryptedCameraTests {
    private let directory = TemporaryDirectory()

    private func camera(
        _ name: String, port: [String] = [], after earlier: TestCamera? = nil
    ) async throws -> TestCamera {
        let files = try CertificateFiles(name, in: directory)
        return try await TestCamera.quirky(["--tls", files.certificate, files.key] + port, after: earlier)
    }

    private func url(_ camera: TestCamera, _ query: String) -> String {
        "rtsps://127.0.0.1:\(camera.port)/cam?\(query)"
    }

    @Test func `the first certificate is trusted and kept, and no other after it`() async throws {
        let port = try TestCamera.stayingPort()
        let first = try await camera("first", port: port)
        var network = try CameraConfiguration.Network.test(url(first, "auth=basic"), user: "admin", in: directory)
        network.memoryFile = directory.path("network.json")
        let running = RunningSource(network)
        try await running.wait("frames over TLS") { $0.keyFrames >= 2 }
        let capture = try await running.waitForStatistics("the scheme") { $0.network?.authentication == "Basic" }
        let pin = try #require(capture.network?.pin)
        #expect(pin.hasPrefix("sha256//"))
        #expect(CameraCache.load(network.memoryFile, url: network.url).pin == pin)
        _ = try await running.stop()
        first.end(keepsTurn: true)
        // Somebody else at its address gets no login, and gives no frame.
        let second = try await camera("second", port: port, after: first)
        let again = RunningSource(network)
        let refused = try await again.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(refused.code == .certificateChanged)
        let seen = try await again.stop()
        #expect(seen.frames.isEmpty)
        #expect(!second.lines.value.contains { $0.contains("methods") && $0.contains("DESCRIBE") })
        second.end()
    }

    /// Settings refuse it; a redirect, or an ONVIF camera, may lead there.
    @Test func `frames of an encrypted session never come as datagrams beside it`() async throws {
        let camera = try await camera("datagrams")
        defer { camera.end() }
        let running = RunningSource(try .test(url(camera, "a=1"), in: directory, transport: .udp))
        try await running.wait("frames") { $0.keyFrames >= 1 }
        let capture = running.source.capture
        #expect(capture.network?.transport == "tcp")
        #expect(capture.limit?.contains("unencrypted") == true)
        _ = try await running.stop()
        let connection = try await camera.connection("its end") { $0.methods?.last == "TEARDOWN" }
        #expect(connection.transport == "tcp")
    }

    /// Whoever stands between can answer in plain text.
    @Test func `a login follows no redirect to a certificate that nobody knows`() async throws {
        let stranger = try await camera("stranger")
        let plain = try await TestCamera.quirky()
        defer { plain.end() }
        var network = try CameraConfiguration.Network.test(
            plain.url("redirect=\(stranger.port)"), user: "admin", in: directory)
        network.memoryFile = directory.path("network.json")
        let running = RunningSource(network)
        let capture = try await running.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(capture.code == .streamRedirected)
        _ = try await running.stop()
        #expect(CameraCache.load(network.memoryFile, url: network.url).pin == nil)
        stranger.end()
        let lines = try await stranger.lines.wait("its end") { $0.last == "END" }
        #expect(TestCamera.connections(lines).isEmpty)
    }

    /// An answer that cannot be sent is followed by a shorter TEARDOWN.
    @Test func `a camera that asks and resets the connection costs a reconnect and no more`() async throws {
        let camera = try await camera("rude")
        defer { camera.end() }
        let running = RunningSource(try .test(url(camera, "reset=0.5"), in: directory))
        try await running.waitForStatistics("the fourth connection") { ($0.network?.connections ?? 0) >= 4 }
        _ = try await running.stop()
    }

    @Test func `a configured pin counts from the first connection on`() async throws {
        let camera = try await camera("only")
        defer { camera.end() }
        var network = try CameraConfiguration.Network.test(url(camera, "auth=md5"), user: "admin", in: directory)
        network.pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        let running = RunningSource(network)
        let capture = try await running.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(capture.code == .certificateChanged)
        _ = try await running.stop()
    }

    @Test func `a test reports the pin, and refuses without one where it must`() async throws {
        let camera = try await camera("tested")
        defer { camera.end() }
        var subject = StreamTest.Subject(
            network: .init(url: url(camera, "auth=md5"), user: "admin"), password: "s3cret")
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let report = await StreamTest.run(subject, logger: logger) { _ in }
        #expect(report.isUsable)
        #expect(report.pin?.hasPrefix("sha256//") == true)
        subject.trustsFirstCertificate = false
        let strict = await StreamTest.run(subject, logger: logger) { _ in }
        #expect(!strict.isUsable)
        #expect(strict.lines.last?.code == .cameraCertificate)
        subject.network.pin = report.pin
        let pinned = await StreamTest.run(subject, logger: logger) { _ in }
        #expect(pinned.isUsable)
    }

    @Test func `a camera without TLS behind rtsps gives no frame and gets no login`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(url(camera, "auth=basic"), user: "admin", in: directory))
        // It waits for the end of a request line that never comes.
        let capture = try await running.waitForStatistics("the refusal") { $0.code != nil }
        #expect(capture.code == .cameraUnreachable || capture.code == .cameraCertificate)
        let seen = try await running.stop()
        #expect(seen.frames.isEmpty)
        #expect(!camera.lines.value.contains { $0.contains("DESCRIBE") })
    }
}
