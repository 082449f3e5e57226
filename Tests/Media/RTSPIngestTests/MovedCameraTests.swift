import CameraModel
import ErrorCatalog
import Foundation
import Logging
import Testing

@testable import RTSPIngest

/// A camera gets another address: it is followed where its key proves it, and else a person is asked. Whoever only says
/// that they are the camera is given nothing, and the camera itself never sees a wrong password.
// These need python3, openssl and ffmpeg, which make a camera and what it sends; the product itself needs none of them.
@Suite(
    .enabled(
        if: TestCamera.hasMedia && CertificateFiles.isInstalled,
        "python3, openssl or ffmpeg with libx264 and libx265 is missing"))
struct MovedCameraTests {
    private let directory = TemporaryDirectory()
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func network(_ url: String) throws -> CameraConfiguration.Network {
        var network = try CameraConfiguration.Network.test(url, user: "admin", in: directory)
        network.memoryFile = directory.path("network.json")
        return network
    }

    private static func service(_ camera: TestCamera, at address: String, isSecure: Bool = false) -> String {
        "\(isSecure ? "https" : "http")://\(address):\(camera.port)/onvif/device_service"
    }

    /// No one has announced anything to it.
    private func expectUntouched(_ camera: TestCamera, _ what: Comment) {
        #expect(camera.lines.value.allSatisfy { $0.hasPrefix("READY") }, what)
    }

    private func expectNoWrongLogin(_ cameras: TestCamera...) {
        for camera in cameras { #expect(!camera.lines.value.contains { $0.contains("\"wrong\"") }) }
    }

    @Test func `a camera without TLS is proposed, and who claims to be it gets nothing`() async throws {
        let stream = try await TestCamera.quirky(TestCamera.stayingPort())
        let port = stream.port
        let first = try await TestCamera.device(
            rtsp: stream.url("auth=sha256"), ["--no-endpoint"] + TestCamera.stayingPort())
        let devicePort = first.port
        let forger = try await TestCamera.device(
            rtsp: "rtsp://127.0.0.2:1/", ["--forger", "--no-endpoint", "--bind", "127.0.0.2"])
        defer { forger.end() }
        let network = try network("onvif://127.0.0.1:\(devicePort)")
        let running = RunningSource(network)
        try await running.wait("frames") { $0.keyFrames >= 1 }
        first.end()
        stream.end(keepsTurn: true)
        try await running.waitForStatistics("the end") { $0.interruptions == 1 }
        running.source.announced(
            address: "127.0.0.2", url: Self.service(forger, at: "127.0.0.2"), evidence: .serial)
        let capture = try await running.waitForStatistics("the proposal") { $0.network?.moves?.isEmpty == false }
        #expect(
            capture.network?.moves == [
                .init(address: "127.0.0.2", source: "onvif://127.0.0.2:\(forger.port)", evidence: .serial)
            ])
        let reported = try await running.waitForStatistics("the message") { $0.reason?.contains("127.0.0.2") == true }
        #expect(
            reported.reason?.hasPrefix(
                "porch seems to have moved to onvif://127.0.0.2:\(forger.port) (the same serial number). If so: "
                    + "watchboxctl camera edit porch --accept-move onvif://127.0.0.2:\(forger.port). ") == true,
            "\(reported.reason ?? "-")")
        #expect(CameraCache.load(network.memoryFile, url: network.url).serviceURL == first.serviceURL)

        // It was but unplugged.
        let frames = running.seen.value.keyFrames
        let again = try await TestCamera.quirky(["--port", "\(port)"], after: stream)
        defer { again.end() }
        let back = try await TestCamera.device(
            rtsp: again.url("auth=sha256"), ["--no-endpoint", "--port", "\(devicePort)"])
        defer { back.end() }
        try await running.wait("frames from the old address") { $0.keyFrames > frames }
        try await running.waitForStatistics("the end of the proposal") { $0.network?.moves == nil }
        _ = try await running.stop()
        expectUntouched(forger, "a forger was asked")
        expectNoWrongLogin(first, back)
    }

    /// Its stream has a key as well, or it has none: then who only passes the service's TLS on would get the stream's
    /// login.
    @Test(arguments: [true, false])
    func `a camera is followed where service and stream show their keys`(isEncrypted: Bool) async throws {
        let files = try CertificateFiles("camera", in: directory)
        let tls = ["--tls", files.certificate, files.key, "--no-endpoint"]
        let keys = isEncrypted ? ["--tls", files.certificate, files.key] : []
        let scheme = isEncrypted ? "rtsps" : "rtsp"
        let stream = try await TestCamera.quirky(keys)
        let first = try await TestCamera.device(
            rtsp: "\(scheme)://127.0.0.1:\(stream.port)/cam?auth=md5", tls)
        let network = try network("onvif://127.0.0.1:\(first.port)")
        let running = RunningSource(network)
        try await running.wait("frames") { $0.keyFrames >= 1 }
        #expect(CameraCache.load(network.memoryFile, url: network.url).servicePin != nil)
        first.end()
        stream.end()
        try await running.waitForStatistics("the end") { $0.interruptions == 1 }

        let others = try CertificateFiles("other", in: directory)
        let forger = try await TestCamera.device(
            rtsp: "rtsp://127.0.0.2:1/", ["--forger", "--bind", "127.0.0.2", "--tls", others.certificate, others.key])
        defer { forger.end() }
        running.source.announced(
            address: "127.0.0.2", url: Self.service(forger, at: "127.0.0.2", isSecure: true), evidence: .endpoint)
        try await running.log.wait("the forger's key") { $0.contains { $0.contains("does not prove it") } }
        // The camera may have been reset, which a person may know.
        let claimed = try await running.waitForStatistics("the forger's proposal") {
            $0.reason?.contains("does not show its key") == true
        }
        #expect(claimed.network?.moves?.map(\.lacksKey) == [true])

        let there = try await TestCamera.quirky(keys + ["--bind", "127.0.0.3"])
        defer { there.end() }
        let moved = try await TestCamera.device(
            rtsp: "\(scheme)://127.0.0.3:\(there.port)/cam?auth=md5", tls + ["--bind", "127.0.0.3"])
        defer { moved.end() }
        running.source.announced(
            address: "127.0.0.3", url: Self.service(moved, at: "127.0.0.3", isSecure: true), evidence: .mac)
        if isEncrypted {
            try await running.waitForStatistics("frames from the new address") {
                $0.network?.url?.contains("127.0.0.3") == true && $0.state == .streaming
            }
            let memory = CameraCache.load(network.memoryFile, url: network.url)
            #expect(memory.serviceURL == Self.service(moved, at: "127.0.0.3", isSecure: true))
            #expect(running.source.capture.network?.moves == nil)
        } else {
            let capture = try await running.waitForStatistics("the proposal") {
                $0.network?.moves?.contains { $0.lacksKey == nil } == true
            }
            #expect(capture.network?.moves?.first { $0.lacksKey == nil }?.address == "127.0.0.3")
            // It stays proposed, though it is not asked again for a while.
            try await running.waitForStatistics("two more attempts") {
                ($0.network?.attempts ?? 0) >= (capture.network?.attempts ?? 0) + 2
            }
            #expect(running.source.capture.network?.moves?.count == 2)
        }
        _ = try await running.stop()
        if !isEncrypted {
            expectUntouched(there, "its stream was asked")
            // Accepted, it has to show the key that is known.
            var accepted = network
            accepted.url = "onvif://127.0.0.3:\(moved.port)"
            let former = CameraCache.load(network.memoryFile, url: network.url)
            let memory = CameraCache.load(network.memoryFile, for: accepted)
            #expect(memory.servicePin != nil && memory.servicePin == former.servicePin)
        }
        expectUntouched(forger, "a forger was asked")
        expectNoWrongLogin(first, moved)
    }

    @Test func `an encrypted stream is followed by its key, and found there after a restart`() async throws {
        let files = try CertificateFiles("camera", in: directory)
        let others = try CertificateFiles("other", in: directory)
        let tls = ["--tls", files.certificate, files.key]
        let first = try await TestCamera.quirky(tls + TestCamera.stayingPort())
        let port = first.port
        let network = try network("rtsps://127.0.0.1:\(port)/cam?auth=sha256")
        let running = RunningSource(network)
        try await running.wait("frames") { $0.keyFrames >= 1 }
        first.end()
        try await running.waitForStatistics("the end") { $0.interruptions == 1 }
        let forger = try await TestCamera.quirky(
            ["--bind", "127.0.0.2", "--port", "\(port)", "--tls", others.certificate, others.key])
        defer { forger.end() }
        running.source.announced(address: "127.0.0.2", url: nil, evidence: .mac)
        try await running.log.wait("the forger's key") { $0.contains { $0.contains("does not prove it") } }
        let moved = try await TestCamera.quirky(tls + ["--bind", "127.0.0.3", "--port", "\(port)"])
        defer { moved.end() }
        running.source.announced(address: "127.0.0.3", url: nil, evidence: .mac)
        try await running.waitForStatistics("frames from the new address") {
            $0.network?.address == "127.0.0.3" && $0.state == .streaming
        }
        _ = try await running.stop()
        let again = RunningSource(network)
        try await again.wait("frames from there") { $0.keyFrames >= 1 }
        #expect(again.source.capture.network?.address == "127.0.0.3")
        _ = try await again.stop()
        #expect(!TestCamera.connections(forger.lines.value).contains { $0.methods?.isEmpty == false })
    }

    @Test func `a stream without TLS is proposed at the same port and path`() async throws {
        // At its port of 127.0.0.1 nothing listens.
        let forger = try await TestCamera.quirky(["--bind", "127.0.0.2"] + TestCamera.stayingPort())
        defer { forger.end() }
        let running = RunningSource(try network("rtsp://127.0.0.1:\(forger.port)/cam?auth=md5"))
        try await running.waitForStatistics("the end of an attempt") { $0.code != nil }
        running.source.announced(address: "127.0.0.2", url: nil, evidence: .mac)
        let capture = try await running.waitForStatistics("the proposal") { $0.network?.moves?.isEmpty == false }
        #expect(
            capture.network?.moves == [
                .init(address: "127.0.0.2", source: "rtsp://127.0.0.2:\(forger.port)/cam?auth=md5", evidence: .mac)
            ])
        // Its own address, a name, an address elsewhere, and invalid ones.
        for address in ["127.0.0.1", "localhost", "8.8.8.8", "127.0.0.2/x", "--yes"] {
            running.source.announced(address: address, url: "http://127.0.0.2/x", evidence: .endpoint)
        }
        try await running.waitForStatistics("two more attempts") {
            ($0.network?.attempts ?? 0) >= (capture.network?.attempts ?? 0) + 2
        }
        #expect(running.source.capture.network?.moves?.map(\.address) == ["127.0.0.2"])
        _ = try await running.stop()
        expectUntouched(forger, "a forger was asked")
    }

    @Test func `the ONVIF service is found behind a web page that answers everything`() async throws {
        let page = try await TestCamera("onvif/web-server.py", ["--page"])
        defer { page.end() }
        let stream = try await TestCamera.quirky()
        defer { stream.end() }
        let device = try await TestCamera.device(rtsp: stream.url("auth=md5"))
        defer { device.end() }
        var subject = StreamTest.Subject(
            network: .init(url: "onvif://127.0.0.1:\(device.port)", user: "admin"), password: "s3cret")
        var memory = CameraCache(url: subject.network.url)
        // As the first port of those that are tried.
        memory.serviceURL = page.serviceURL
        subject.memory = memory
        let report = await StreamTest.run(subject, deadline: .seconds(60), logger: logger) { _ in }
        #expect(report.isUsable, "\(report.lines.map(\.text))")
        #expect(report.lines.first?.text.contains(":\(device.port)/") == true)
    }

    /// As the pull itself.
    @Test(arguments: [true, false])
    func `a test shows a readable password only where the settings say`(isThere: Bool) async throws {
        let files = try CertificateFiles("camera", in: directory)
        let address = isThere ? "127.0.0.1" : "127.0.0.2"
        let stream = try await TestCamera.quirky(["--bind", address])
        defer { stream.end() }
        let device = try await TestCamera.device(
            rtsp: "rtsp://\(address):\(stream.port)/cam?auth=basic",
            ["--bind", address, "--tls", files.certificate, files.key])
        defer { device.end() }
        let source = "onvif://127.0.0.1:\(device.port)"
        var subject = StreamTest.Subject(
            network: .init(url: source, user: "admin", allowsBasic: true), password: "s3cret")
        var memory = CameraCache(url: source)
        memory.serviceURL = Self.service(device, at: address, isSecure: true)
        memory.servicePin = try files.pin
        subject.memory = memory
        let report = await StreamTest.run(subject, deadline: .seconds(60), logger: logger) { _ in }
        #expect(report.isUsable == isThere, "\(report.lines.map(\.text))")
        guard !isThere else { return }
        #expect(report.lines.last?.code == .identityNotProven)
        expectUntouched(stream, "its stream was asked")
    }
}

extension CertificateFiles {
    /// As `openssl` computes it.
    fileprivate var pin: String {
        get throws {
            let process = Process()
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = [
                "-c",
                """
                openssl x509 -in "$0" -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary |
                    openssl base64
                """, certificate,
            ]
            let output = Pipe()
            process.standardOutput = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            process.waitUntilExit()
            return "sha256//" + text.prefix { !$0.isNewline }
        }
    }
}
