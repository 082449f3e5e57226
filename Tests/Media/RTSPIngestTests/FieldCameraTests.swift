import CameraModel
import ErrorCatalog
import Foundation
import Media
import TestSupport
import Testing

@testable import RTSPIngest

/// What cameras in the field do to sessions: they end them, forget them, start up while they are asked, and send key frames
/// seldom or never.
// These need python3 and ffmpeg, which make a camera and what it sends; the product itself needs neither.
@Suite(.enabled(if: TestCamera.hasMedia, "python3 or ffmpeg with libx264 and libx265 is missing"))
struct FieldCameraTests {
    private let directory = TemporaryDirectory()

    // MARK: - Sessions

    @Test(arguments: ["ka=454&timeout=4", "ka=454all&timeout=4"])
    func `454 on a keep-alive ends nothing while frames come`(query: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(query), in: directory))
        try await running.wait("two timeouts") { $0.keyFrames >= 9 }
        _ = try await running.stop()
        #expect(running.source.capture.network?.connections == 1)
        #expect(running.source.capture.interruptions == 0)
        let connection = try await camera.connection("its end") { $0.methods?.last == "TEARDOWN" }
        #expect(connection.methods?.filter { $0 == "GET_PARAMETER" }.count == 1)
        // Its first one, the one in place of GET_PARAMETER, and those after it.
        #expect((connection.methods?.filter { $0 == "OPTIONS" }.count ?? 0) >= 4)
    }

    @Test func `that a camera answers 454 is remembered for its next session`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("ka=454&timeout=2&close=3"), in: directory))
        let lines = try await camera.lines.wait("two sessions") { TestCamera.connections($0).count >= 2 }
        _ = try await running.stop()
        let sessions = TestCamera.connections(lines).map { $0.methods ?? [] }
        #expect(sessions[0].contains("GET_PARAMETER"))
        #expect(!sessions[1].contains("GET_PARAMETER"))
        #expect(sessions[1].filter { $0 == "OPTIONS" }.count >= 2)
    }

    /// Groups of a second, begun in their middle; the rule with its 1.5 s is proven in `PullSupervisionTests`.
    @Test func `a camera that ends every session costs a second or two each time`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("close=12&mid=1"), in: directory))
        for session in 1...2 {
            try await camera.lines.wait("the end of session \(session)") {
                TestCamera.connections($0).count >= session
            }
            let lost = try await elapsed {
                try await running.waitForStatistics("the next session") { ($0.network?.connections ?? 0) > session }
                let count = running.seen.value.frames.count
                try await running.wait("its frames") { $0.frames.count > count }
            }
            #expect(lost < .milliseconds(4500))
        }
        let seen = try await running.stop()
        #expect(running.source.capture.network?.attempts == 3)
        #expect(seen.stepsBack == 0)
        #expect(seen.formats.count == 1)
        let gap = Double(seen.longestGap.milliseconds) / 1000
        print("· sessions of 12 s: \(gap) s from the last frame of one to the first of the next")
    }

    // MARK: - Starting up

    @Test(arguments: [("403:6", ErrorCode.accessForbidden), ("novideo:6", .unsupportedCodec), ("401:8", .loginRefused)])
    func `a camera that refuses while it starts up is back within ninety seconds`(
        boot: String, code: ErrorCode
    ) async throws {
        let first = try await TestCamera.quirky(TestCamera.stayingPort())
        let port = first.port
        let url = first.url("boot=\(boot)")
        first.end(keepsTurn: true)
        // A minute is what PullSupervisionTests hold; here it is only longer than the camera starts up.
        let running = RunningSource(
            try .test(url, user: "admin", in: directory), bootLoginPause: 8_000_000_000)
        try await running.waitForStatistics("the camera to be away") { $0.code == .cameraUnreachable }
        let camera = try await TestCamera.quirky(["--port", "\(port)"], after: first)
        defer { camera.end() }
        try await running.waitForStatistics("its refusal") { $0.code == code && $0.network?.state == .waiting }
        try await running.wait("frames", seconds: 90) { $0.keyFrames >= 1 }
        #expect(running.source.capture.code == nil)
        _ = try await running.stop()
        let refusals = TestCamera.connections(camera.lines.value).reduce(0) { $0 + ($1.refusals ?? 0) }
        // Each login is asked for once and refused once; after two of them a pause follows.
        if code == .loginRefused { #expect(refusals <= 4) }
    }

    // MARK: - Key frames

    @Test func `a key frame that is long in coming is waited for, and that is reported`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("gop=15&mid=1"), in: directory))
        let waiting = try await running.waitForStatistics("what it waits for") { $0.code != nil }
        #expect(waiting.code == .noKeyFrame)
        #expect(waiting.state == .waiting)
        #expect(waiting.reason?.contains("far apart") == true)
        let steps = waiting.attempts
        try await running.waitForStatistics("a step of the wait") { $0.attempts > steps }
        try await running.wait("frames") { $0.frames.count >= 25 }
        let capture = running.source.capture
        #expect(capture.state == .streaming)
        #expect(capture.code == nil)
        #expect(capture.reason == nil)
        _ = try await running.stop()
        #expect(capture.network?.attempts == 1)
        #expect(capture.network?.stalls == 0)
    }

    @Test func `a stream with intra refresh begins at a recovery point, and that is reported`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("refresh=1"), in: directory))
        let seen = try await running.wait("three recovery points") { $0.keyFrames >= 3 }
        #expect(seen.isOrderly)
        #expect(seen.frames.first?.isKeyFrame == true)
        let capture = try await running.waitForStatistics("the reason") {
            $0.encoderReason?.contains("intra refresh") == true
        }
        #expect(capture.encoder == "passthrough")
        #expect(capture.lost == 0)
        _ = try await running.stop()
        #expect(running.source.capture.network?.attempts == 1)
    }

    // MARK: - SRTP

    @Test func `SRTP is named, with the way out, and asked for again soon`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("savp=1&enableSrtp"), in: directory))
        let capture = try await running.waitForStatistics("the refusal") { $0.code != nil }
        #expect(capture.code == .unsupportedCodec)
        #expect(capture.reason?.contains("SRTP (RTP/SAVP)") == true)
        #expect(capture.reason?.contains("Take ?enableSrtp out of the address") == true)
        // Switched off in the camera, it comes by itself, and not in a quarter of an hour.
        try await running.waitForStatistics("another attempt") { ($0.network?.attempts ?? 0) >= 3 }
        #expect(running.source.capture.network?.state != .refused)
        _ = try await running.stop()
    }
}
