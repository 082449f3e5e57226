import CameraModel
import ErrorCatalog
import Foundation
import Glibc
import Logging
import Media
import TestSupport
import Testing

@testable import RTSPIngest

/// Cameras that send JPEG images over HTTP: ESP32-CAM and old ones.
// These need python3 and ffmpeg, which make a camera and what it sends; the product itself needs neither.
@Suite(.enabled(if: TestCamera.hasFrames, "python3 or ffmpeg is missing"))
struct HTTPCameraTests {
    private let directory = TemporaryDirectory()

    private func stop(_ running: RunningSource) async throws -> RunningSource.Seen {
        let seen = try await running.stop()
        #expect(seen.isOrderly)
        #expect(seen.stepsBack == 0)
        return seen
    }

    // MARK: - Frames

    @Test(arguments: [
        "form=esp32", "form=plain", "form=ffmpeg", "form=plain&boundary=dash", "form=plain&boundary=none",
        "form=plain&length=none", "form=plain&length=none&boundary=none", "form=esp32&length=short",
        "form=plain&length=long", "form=plain&lf=1", "form=plain&type=none", "form=esp32&cut=4", "redirect=1",
        "auth=basic", "auth=md5", "auth=sha256", "auth=both",
    ])
    func `a stream comes as H264`(query: String) async throws {
        let camera = try await TestCamera.overHTTP()
        defer { camera.end() }
        var network = try CameraConfiguration.Network.test(camera.web("/stream?\(query)"), user: "admin", in: directory)
        network.allowsBasic = query == "auth=basic"
        let begin = ContinuousClock.now
        let running = RunningSource(network)
        try await running.wait("frames") { $0.frames.count >= 12 && $0.keyFrames >= 1 }
        // Threads that decode and encode report what they know a little later than frames come.
        let capture = try await running.waitForStatistics("what is known of the stream") {
            $0.network?.videoCodec != nil && $0.encoder != nil
        }
        #expect(capture.state == .streaming)
        #expect(capture.network?.state == .live)
        #expect(capture.network?.videoCodec == "mjpeg")
        #expect(capture.network?.audioCodec == nil)
        #expect(capture.network?.connections == 1)
        #expect(capture.network?.server == "Rig/1.0")
        #expect(capture.network?.videoTiming == .init(basis: .arrival))
        #expect(capture.encoder?.contains("264") == true)
        if query.contains("cut=4") {
            #expect((capture.network?.damaged ?? 0) >= 2)
        } else {
            #expect(capture.network?.damaged == 0)
        }
        let seen = try await stop(running)
        #expect(seen.formats.map(\.width) == [320])
        #expect(seen.formats.map(\.height) == [240])
        if query.hasPrefix("auth=") {
            let names = ["auth=basic": "Basic", "auth=md5": "Digest MD5"]
            #expect(capture.network?.authentication == names[query] ?? "Digest SHA-256")
        }
        // By when they came, which the machine decides: they fit into the time that went by. How they are placed is
        // ArrivalTimesTests', how often they come FrameRateTests'.
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        #expect(seen.duration > 0 && seen.duration < seconds + 1, "\(seen.duration) s of \(seconds) s")
        print("· \(query): \(Double(seen.frames.count - 1) / max(seen.duration, 0.1)) frames a second of 10")
    }

    @Test func `what goes out shows what the camera saw`() async throws {
        let camera = try await TestCamera.overHTTP()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.web("/stream"), in: directory))
        try await running.wait("frames") { $0.frames.count >= 5 && $0.keyFrames >= 1 }
        let seen = try await stop(running)
        // ffmpeg checks: the mean colour of the left and of the right half.
        let file = directory.path("out.h264")
        let record = try AVCConfigurationRecord.parse(try #require(seen.formats.first).configurationRecord[...])
        var bytes: [UInt8] = []
        for unit in record.sequenceParameterSets + record.pictureParameterSets { bytes += [0, 0, 0, 1] + unit }
        for frame in seen.frames {
            var rest = frame.data[...]
            while rest.count >= 4 {
                let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
                bytes += [0, 0, 0, 1] + rest.dropFirst(4).prefix(length)
                rest = rest.dropFirst(4 + length)
            }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        let raw = directory.path("out.rgb")
        let status = TestCamera.run(
            "/usr/bin/ffmpeg",
            [
                "-v", "error", "-nostdin", "-i", file, "-vf", "format=rgb24,scale=2:1:flags=area", "-pix_fmt", "rgb24",
                "-f",
                "rawvideo", raw,
            ])
        #expect(status == 0)
        let pixels = try [UInt8](Data(contentsOf: URL(fileURLWithPath: raw)))
        #expect(pixels.count == 6 * seen.frames.count)
        for place in stride(from: 0, to: pixels.count, by: 6) {
            let (left, right) = (
                pixels[place..<(place + 3)].map(Int.init), pixels[(place + 3)..<(place + 6)].map(Int.init)
            )
            #expect(left[0] > 200 && left[1] < 60 && left[2] < 60, "\(left)")
            #expect(right[0] < 60 && right[1] < 60 && right[2] > 200, "\(right)")
        }
    }

    @Test(arguments: ["", "close=1", "type=octet", "type=none", "auth=md5qop", "auth=sha256&nonce=1"])
    func `single frames are asked for again and again`(query: String) async throws {
        let camera = try await TestCamera.overHTTP()
        defer { camera.end() }
        var network = try CameraConfiguration.Network.test(
            camera.web("/capture?\(query)"), user: "admin", in: directory)
        network.snapshotRate = 5
        let begin = ContinuousClock.now
        let running = RunningSource(network)
        try await running.wait("frames") { $0.frames.count >= 8 && $0.keyFrames >= 1 }
        #expect(running.source.capture.network?.connections == 1)
        let seen = try await stop(running)
        // Never more often than asked for, since it began: one that was late may be followed by the next at once.
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        #expect(Double(seen.frames.count) <= seconds * 5 + 2, "\(seen.frames.count) in \(seconds) s")
        // It logs a connection when that has ended, and is killed: what it had to say comes first.
        try await camera.lines.wait("its connection") { !TestCamera.connections($0).isEmpty }
        camera.end()
        let lines = try await camera.lines.wait("its end") { $0.last == "END" }
        let connections = TestCamera.connections(lines)
        // One connection where the camera keeps it.
        if query.isEmpty { #expect(connections.count == 1) }
        #expect(connections.allSatisfy { $0.agent == "WatchBox" || $0.paths == [] })
    }

    @Test func `a frame that stands still goes on, and is not a freeze`() async throws {
        let camera = try await TestCamera.overHTTP()
        defer { camera.end() }
        var network = try CameraConfiguration.Network.test(camera.web("/capture?same=1"), in: directory)
        network.snapshotRate = 10
        let running = RunningSource(network)
        let seen = try await running.wait("twelve seconds of it") { $0.duration >= 12 }
        // Once a second, though it is asked ten times.
        #expect(seen.frames.count <= 20)
        #expect(running.source.capture.network?.stalls == 0)
        #expect(running.source.capture.network?.connections == 1)
        _ = try await stop(running)
    }

    // MARK: - Ends

    @Test(arguments: ["form=esp32&end=3", "form=plain&end=3", "form=plain&end=3&length=none"])
    func `a camera that ends its stream every few seconds is asked again at once`(query: String) async throws {
        let camera = try await TestCamera.overHTTP()
        defer { camera.end() }
        let begin = ContinuousClock.now
        let running = RunningSource(try .test(camera.web("/stream?\(query)"), in: directory))
        let seen = try await running.wait("ten seconds") { $0.duration >= 10 }
        #expect(running.source.capture.network?.attempts == 1)
        #expect(running.source.capture.network?.state == .live)
        // Each stream stands three seconds, and is asked for once: HTTPVideoSessionTests has when.
        let lines = try await camera.lines.wait("two ends") { TestCamera.connections($0).count >= 2 }
        let seconds = (ContinuousClock.now - begin) / .seconds(1)
        #expect(Double(TestCamera.connections(lines).count) <= seconds / 3)
        #expect(TestCamera.connections(lines).allSatisfy { $0.paths == ["/stream"] })
        print("· \(query): \(Double(seen.longestGap.milliseconds) / 1000) s between frames at the most")
        _ = try await stop(running)
    }

    @Test(arguments: ["freeze=2&times=1", "trickle=20&times=1"])
    func `frames that stop are noticed, and the stream is pulled again`(query: String) async throws {
        let camera = try await TestCamera.overHTTP()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.web("/stream?\(query)"), in: directory))
        try await running.wait("frames") { $0.frames.count >= 3 }
        try await running.waitForStatistics("the stall") { $0.network?.stalls == 1 }
        let count = running.seen.value.frames.count
        try await running.wait("new frames") { $0.frames.count >= count + 5 }
        #expect(running.source.capture.network?.connections == 2)
        _ = try await stop(running)
    }

    @Test func `a camera that is away is waited for`() async throws {
        let camera = try await TestCamera.overHTTP(TestCamera.stayingPort())
        let running = RunningSource(try .test(camera.web("/stream"), in: directory))
        try await running.wait("frames") { $0.frames.count >= 3 }
        camera.end(keepsTurn: true)
        try await running.waitForStatistics("the wait") { $0.code == .cameraUnreachable }
        let count = running.seen.value.frames.count
        let again = try await TestCamera.overHTTP(["--port", "\(camera.port)"], after: camera)
        defer { again.end() }
        try await running.wait("new frames") { $0.frames.count >= count + 5 }
        _ = try await stop(running)
    }

    // MARK: - Refusals

    @Test(arguments: [
        ("/stream?status=404", nil, StreamTestReport.Step.describe, ErrorCode.noSuchStream, ""),
        ("/stream?status=403", nil, .login, .accessForbidden, ""),
        ("/stream?status=503", nil, .describe, .cameraBusy, "7 s"),
        ("/stream?status=500", nil, .describe, .cameraProtocol, "500"),
        ("/page", nil, .describe, .notRTSP, "web page"), ("/video", nil, .describe, .unsupportedCodec, "video/mp4"),
        ("/stream?greeting=ssh", nil, .describe, .notRTSP, "not HTTP"),
        ("/stream?silent=1", nil, .describe, .cameraTimeout, "in time"),
        ("/stream?redirect=away", nil, .describe, .streamRedirected, "192.0.2.1"),
        ("/stream?redirect=loop", nil, .describe, .streamRedirected, "3 times"),
        ("/capture?trickle=1", nil, .keyFrame, .cameraTimeout, "in time"),
        ("/stream?trickle=0", nil, .keyFrame, .streamFrozen, "no whole frame"),
        ("/stream?auth=md5", nil, .login, .loginNeeded, "Digest MD5"),
        ("/stream?auth=md5", "wrong", .login, .loginRefused, ""),
        ("/stream?auth=basic", "s3cret", .login, .loginUnsupported, "Basic"),
    ])
    func `refusals are told apart, at their step`(
        path: String, password: String?, step: StreamTestReport.Step, code: ErrorCode, words: String
    ) async throws {
        let camera = try await TestCamera.overHTTP()
        defer { camera.end() }
        let subject = StreamTest.Subject(
            network: .init(url: camera.web(path), user: password == nil ? nil : "admin"), password: password)
        let report = await StreamTest.run(subject, deadline: .seconds(60), logger: Logger(label: "test")) { _ in }
        #expect(!report.isUsable)
        let line = try #require(report.lines.last)
        #expect(line.outcome == .failed)
        #expect(line.step == step)
        #expect(line.code == code, "\(line.text)")
        #expect(words.isEmpty || line.text.contains(words), "\(line.text)")
        #expect(line.hint != nil)
        if path == "/page" { #expect(line.hint?.contains("onvif://") == true) }
        camera.end()
        let lines = try await camera.lines.wait("its end") { $0.last == "END" }
        #expect(TestCamera.connections(lines).allSatisfy { $0.basic == false })
    }

    @Test(arguments: ["/stream?auth=sha256", "/stream?auth=sha256&burst=3", "/capture?auth=md5qop"])
    func `a good camera passes every step of the test`(path: String) async throws {
        let camera = try await TestCamera.overHTTP()
        defer { camera.end() }
        let subject = StreamTest.Subject(network: .init(url: camera.web(path), user: "admin"), password: "s3cret")
        let report = await StreamTest.run(subject, deadline: .seconds(60), logger: Logger(label: "test")) { _ in }
        #expect(report.isUsable)
        #expect(report.lines.map(\.step) == StreamTestReport.Step.allCases)
        #expect(report.lines.map(\.outcome) == [.ok, .skipped, .ok, .ok, .ok])
        #expect(report.videoCodec == "mjpeg")
        #expect(report.width == 320)
        #expect(report.height == 240)
        #expect(report.authentication == (path.contains("sha256") ? "Digest SHA-256" : "Digest MD5"))
        #expect(report.server == "Rig/1.0")
        #expect(report.port == Int(camera.port))
    }

    @Test func `a wrong password is tried twice and then left alone`() async throws {
        let camera = try await TestCamera.overHTTP()
        defer { camera.end() }
        let running = RunningSource(
            try .test(camera.web("/stream?auth=md5qop"), user: "admin", password: "wr0ng-secret", in: directory))
        let capture = try await running.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(capture.code == .loginRefused)
        #expect(capture.network?.attempts == 2)
        _ = try await stop(running)
    }

    // MARK: - TLS

    @Test(.enabled(if: CertificateFiles.isInstalled, "openssl is missing"))
    func `the first certificate is trusted and kept, and no other after it`() async throws {
        let files = try CertificateFiles("first", in: directory)
        let first = try await TestCamera.overHTTP(
            ["--tls", files.certificate, files.key] + TestCamera.stayingPort())
        var network = try CameraConfiguration.Network.test(
            first.web("/stream?auth=basic", scheme: "https"), user: "admin", in: directory)
        network.memoryFile = directory.path("network.json")
        let running = RunningSource(network)
        // Basic, which nobody can read there.
        try await running.wait("frames") { $0.frames.count >= 3 }
        #expect(running.source.capture.network?.pin?.hasPrefix("sha256//") == true)
        #expect(running.source.capture.network?.authentication == "Basic")
        _ = try await stop(running)
        first.end(keepsTurn: true)
        let other = try CertificateFiles("second", in: directory)
        let second = try await TestCamera.overHTTP(
            ["--tls", other.certificate, other.key, "--port", "\(first.port)"], after: first)
        let again = RunningSource(network)
        let refused = try await again.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(refused.code == .certificateChanged)
        #expect(try await stop(again).frames.isEmpty)
        second.end()
        let lines = try await second.lines.wait("its end") { $0.last == "END" }
        #expect(TestCamera.connections(lines).allSatisfy { $0.paths == [] })
    }

    @Test(.enabled(if: CertificateFiles.isInstalled, "openssl is missing"), arguments: [true, false])
    func `a login follows no redirect to a certificate that nobody knows`(hasLogin: Bool) async throws {
        let files = try CertificateFiles("stranger", in: directory)
        let stranger = try await TestCamera.overHTTP(["--tls", files.certificate, files.key])
        let camera = try await TestCamera.overHTTP()
        defer { camera.end() }
        let url = camera.web("/stream?redirect=\(stranger.port)")
        var network = try CameraConfiguration.Network.test(url, user: hasLogin ? "admin" : nil, in: directory)
        network.memoryFile = directory.path("network.json")
        let running = RunningSource(network)
        let capture = try await running.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(capture.code == (hasLogin ? .streamRedirected : .loginNeeded))
        _ = try await stop(running)
        // It is not a certificate of this camera: an address without TLS has none.
        #expect(CameraCache.load(network.memoryFile, url: url).pin == nil)
        let subject = StreamTest.Subject(
            network: .init(url: url, user: hasLogin ? "admin" : nil), password: hasLogin ? "s3cret" : nil)
        let report = await StreamTest.run(subject, deadline: .seconds(60), logger: Logger(label: "test")) { _ in }
        #expect(report.pin == nil)
        #expect(report.lines.last?.code == (hasLogin ? .streamRedirected : .loginNeeded))
        stranger.end()
        let lines = try await stranger.lines.wait("its end") { $0.last == "END" }
        let asked = TestCamera.connections(lines)
        #expect(asked.allSatisfy { $0.basic == false && $0.logins == [] })
        #expect(asked.contains { $0.paths?.isEmpty == false } != hasLogin)
    }

    @Test(arguments: [0, 1, 999_999_999, 204_963_823_041_217_240, UInt64.max / 2, UInt64.max] as [UInt64])
    func `time stamps go on for as long as a box runs`(now: UInt64) {
        let exact = now.multipliedFullWidth(by: 90_000)
        let ticks = (1_000_000_000 as UInt64).dividingFullWidth((exact.high, exact.low)).quotient
        #expect(HTTPPull.timestamp(at: now) == UInt32(truncatingIfNeeded: ticks))
    }

    // MARK: - Others' programs

    @Test func `ffmpeg's own MJPEG server is a camera`() async throws {
        let (process, port) = try await Self.mjpegServer()
        defer { Self.end(process) }
        let running = RunningSource(try .test("http://127.0.0.1:\(port)/", in: directory))
        try await running.wait("frames") { $0.frames.count >= 10 }
        #expect(process.isRunning)
        let seen = try await stop(running)
        #expect(seen.formats.map(\.width) == [320])
    }

    /// ffmpeg takes no "any" port, and one client: whether it listens is asked of the system.
    private static func mjpegServer() async throws -> (Process, UInt16) {
        for _ in 0..<20 {
            let port = UInt16(try FreePort.take())
            let process = Process()
            process.executableURL = URL(fileURLWithPath: "/usr/bin/ffmpeg")
            process.arguments = [
                "-v", "error", "-nostdin", "-re", "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=10", "-c:v", "mjpeg",
                "-f", "mpjpeg", "-listen", "1", "http://127.0.0.1:\(port)/",
            ]
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            // It ends at once where the port is another's.
            while process.isRunning {
                if try listens(process.processIdentifier, on: port) { return (process, port) }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        throw POSIXError(.EADDRINUSE)
    }

    /// Whether the listening socket at this port of 127.0.0.1 is one of the process's.
    private static func listens(_ process: pid_t, on port: UInt16) throws -> Bool {
        let digits = String(port, radix: 16, uppercase: true)
        let local = "0100007F:" + String(repeating: "0", count: 4 - digits.count) + digits
        let sockets = try String(contentsOfFile: "/proc/net/tcp", encoding: .utf8).split(separator: "\n").compactMap {
            let fields = $0.split(separator: " ")
            return fields.count > 9 && fields[1] == local && fields[3] == "0A" ? "socket:[\(fields[9])]" : nil
        }
        let descriptors = "/proc/\(process)/fd/"
        return (try? FileManager.default.contentsOfDirectory(atPath: descriptors))?.contains {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: descriptors + $0)).map(sockets.contains) == true
        } == true
    }

    private static func end(_ process: Process) {
        // Whatever signals this thread blocks, its children do too.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    @Test func `a frame in Python's own web server is a camera`() async throws {
        let frames = try #require(await TestCamera.frames.place)
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: TestCamera.python)
        process.arguments = ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", frames.url.path]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { Self.end(process) }
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        let port = try #require(line.firstMatch(of: /port (\d+)/)?.1)
        let running = RunningSource(try .test("http://127.0.0.1:\(port)/01.jpg", in: directory))
        try await running.wait("frames") { $0.frames.count >= 4 }
        _ = try await stop(running)
    }
}
