import CameraModel
import ErrorCatalog
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import RTSPIngest

/// The test of a camera, step by step.
// These need python3 and ffmpeg, which make a camera and what it sends; the product itself needs neither.
@Suite(.enabled(if: TestCamera.hasMedia, "python3 or ffmpeg with libx264 and libx265 is missing"))
struct StreamTestTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func run(
        _ url: String, user: String? = nil, password: String? = nil,
        transport: CameraConfiguration.Network.Transport = .tcp, deadline: Duration = .seconds(60)
    ) async -> StreamTestReport {
        let subject = StreamTest.Subject(
            network: .init(url: url, user: user, transport: transport), password: password)
        return await StreamTest.run(subject, deadline: deadline, logger: logger) { _ in }
    }

    @Test func `a good camera passes every step`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let reports = Watched<[StreamTestReport]>([])
        let subject = StreamTest.Subject(
            network: .init(url: camera.url("auth=sha256&audio=pcmu"), user: "admin"), password: "s3cret")
        let report = await StreamTest.run(subject, logger: logger) { report in reports.change { $0.append(report) } }
        #expect(report.isUsable)
        #expect(report.isDone)
        #expect(report.lines.map(\.step) == StreamTestReport.Step.allCases)
        #expect(report.lines.map(\.outcome) == [.ok, .skipped, .ok, .ok, .ok])
        #expect(report.videoCodec == "h264")
        #expect(report.audioCodec == "pcmu")
        #expect(report.width == 640)
        #expect(report.height == 360)
        #expect(report.authentication == "Digest SHA-256")
        #expect(report.server == "Quirks/1.0")
        #expect(report.address == "127.0.0.1")
        #expect(report.port == Int(camera.port))
        #expect(report.streamURL == camera.url("auth=sha256&audio=pcmu"))
        // It came step by step, and the last one is the whole.
        let seen = reports.value
        #expect(seen.last == report)
        #expect(seen.count >= 3)
        for (earlier, later) in zip(seen, seen.dropFirst()) { #expect(earlier.lines.count <= later.lines.count) }
        // The camera was let go.
        let connection = try await camera.connection("its end") { $0.methods?.contains("PLAY") == true }
        #expect(connection.methods?.last == "TEARDOWN")
        let text = try String(decoding: JSONEncoder().encode(report), as: UTF8.self)
        #expect(!text.contains("s3cret"))
    }

    @Test(
        arguments: [
            ("auth=md5", nil, StreamTestReport.Step.login, ErrorCode.loginNeeded),
            ("auth=md5", "wrong", .login, .loginRefused), ("auth=basic", "s3cret", .login, .loginUnsupported),
            ("status=403", nil, .login, .accessForbidden), ("status=404", nil, .describe, .noSuchStream),
            ("mpeg4=1", nil, .describe, .unsupportedCodec), ("busy=453", nil, .keyFrame, .cameraBusy),
            ("silent=1", nil, .keyFrame, .cameraTimeout), ("nokey=1", nil, .keyFrame, .noKeyFrame),
            ("greeting=http", nil, .describe, .notRTSP),
        ] as [(String, String?, StreamTestReport.Step, ErrorCode)])
    func `the step that fails says why and what next`(
        query: String, password: String?, step: StreamTestReport.Step, code: ErrorCode
    ) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let report = await run(camera.url(query), user: password == nil ? nil : "admin", password: password)
        #expect(!report.isUsable)
        #expect(report.isDone)
        let last = try #require(report.lines.last)
        #expect(last.step == step)
        #expect(last.outcome == .failed)
        #expect(last.code == code)
        #expect(last.hint?.isEmpty == false)
        #expect(!last.text.isEmpty)
        #expect(report.lines.count { $0.outcome == .failed } == 1)
    }

    @Test func `an address where nothing answers fails at the first step`() async throws {
        let (descriptor, port) = deafPort()
        defer { close(descriptor) }
        let report = await run("rtsp://127.0.0.1:\(port)/cam")
        #expect(report.lines.map(\.step) == [.reach])
        #expect(report.lines.first?.code == .cameraUnreachable)
    }

    @Test(arguments: [
        "http://camera/", "rtsp://admin:pa55@camera/", "rtsp://cam era/", "onvif://admin:pa55@camera", "",
    ])
    func `an invalid address is reported without being repeated`(url: String) async throws {
        let report = await run(url)
        #expect(!report.isUsable)
        #expect(report.lines.last?.outcome == .failed)
        for line in report.lines { #expect(!line.text.contains("pa55")) }
    }

    @Test func `a test has an end of its own`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        // Enough to get to the frames; a little later the missing key frame would be what the test finds.
        let deadline = Duration.seconds(7)
        #expect(deadline < .nanoseconds(FreezeWatch.usualGroup))
        let report = await run(camera.url("nokey=1"), deadline: deadline)
        #expect(report.lines.last?.step == .keyFrame)
        #expect(report.lines.last?.code == .cameraTimeout)
    }

    @Test func `a test can be cancelled`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let subject = StreamTest.Subject(network: .init(url: camera.url("nokey=1")), password: nil)
        let begun = Watched(false)
        let task = Task {
            await StreamTest.run(subject, deadline: .seconds(600), logger: logger) { report in
                if report.lines.contains(where: { $0.step == .describe }) { begun.change { $0 = true } }
            }
        }
        try await begun.wait("the description") { $0 }
        task.cancel()
        let report = await task.value
        #expect(report.isDone)
        #expect(!report.isUsable)
    }

    @Test func `a running source is tested beside its stream`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let directory = TemporaryDirectory()
        let running = RunningSource(try .test(camera.url("auth=md5"), user: "admin", in: directory))
        try await running.wait("frames") { $0.keyFrames >= 1 }
        let report = await running.source.test { _ in }
        #expect(report.isUsable)
        _ = try await running.stop()
    }
}

struct StreamTestWithoutThreadTests {
    @Test func `a test that no thread can be made for says so, and is done`() {
        let reports = Watched<[StreamTestReport]>([])
        let subject = StreamTest.Subject(network: .init(url: "rtsp://192.0.2.1/"), password: nil)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let run = StreamTestRun(subject, deadline: .seconds(1), logger: logger) { report in
            reports.change { $0.append(report) }
        }
        let report = run.withoutThread()
        #expect(report.isDone && !report.isUsable)
        #expect(report.lines.map(\.outcome) == [.failed])
        #expect(reports.value == [report])
    }
}
