import CameraModel
import ErrorCatalog
import Foundation
import Media
import TestSupport
import Testing

@testable import RTSPIngest

/// Cameras that refuse, fall silent or go away.
// These need python3 and ffmpeg, which make a camera and what it sends; the product itself needs neither.
@Suite(.enabled(if: TestCamera.hasMedia, "python3 or ffmpeg with libx264 and libx265 is missing"))
struct NetworkSourceFailureTests {
    private let directory = TemporaryDirectory()

    // MARK: - Logins

    @Test(arguments: [
        ("auth=md5", "Digest MD5"), ("auth=md5qop", "Digest MD5"), ("auth=sha256", "Digest SHA-256"),
        ("auth=both", "Digest SHA-256"), ("auth=md5&nonce=1", "Digest MD5"), ("auth=basic", "Basic"),
    ])
    func `the strongest login that a camera offers is used`(query: String, scheme: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        var network = try CameraConfiguration.Network.test(camera.url(query), user: "admin", in: directory)
        network.allowsBasic = query == "auth=basic"
        let running = RunningSource(network)
        try await running.wait("frames") { $0.keyFrames >= 2 }
        let capture = try await running.waitForStatistics("the scheme") { $0.network?.authentication == scheme }
        #expect(capture.network?.attempts == 1)
        _ = try await running.stop()
        let connection = try await camera.connection("its end") { $0.methods?.last == "TEARDOWN" }
        #expect(connection.basic == nil)
    }

    @Test(arguments: ["auth=md5qop", "auth=sha256"])
    func `a wrong password is tried twice and then left alone`(query: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(
            try .test(camera.url(query), user: "admin", password: "wr0ng-secret", in: directory))
        let capture = try await running.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(capture.state == .waiting)
        #expect(capture.code == .loginRefused)
        #expect(capture.network?.attempts == 2)
        #expect((capture.network?.nextAttemptSeconds ?? 0) > 60)
        let text = try String(decoding: JSONEncoder().encode(capture), as: UTF8.self)
        #expect(!text.contains("wr0ng"))
        // Two connections, each with one attempt at the login.
        let lines = try await camera.lines.wait("two connections") { TestCamera.connections($0).count >= 2 }
        for connection in TestCamera.connections(lines) { #expect((connection.refusals ?? 0) <= 2) }
        let attempts = capture.attempts
        try await running.waitForStatistics("a step of the wait", seconds: 60) { $0.attempts > attempts }
        #expect(running.source.capture.network?.attempts == 2)
        // A new password is found by itself.
        try Data("s3cret\n".utf8).write(to: URL(fileURLWithPath: try #require(running.passwordFile)))
        try await running.wait("frames with the new password") { $0.keyFrames >= 1 }
        #expect(running.source.capture.code == nil)
        _ = try await running.stop()
    }

    @Test func `a camera that asks for a login says so when there is none`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("auth=md5"), user: "admin", password: nil, in: directory))
        let capture = try await running.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(capture.code == .loginNeeded)
        #expect(capture.network?.attempts == 1)
        _ = try await running.stop()
    }

    @Test func `Basic is not sent in the clear unless that is allowed`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("auth=basic"), user: "admin", in: directory))
        let capture = try await running.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(capture.code == .loginUnsupported)
        let connection = try await camera.connection("its end") { $0.refusals != nil }
        #expect(connection.refusals == 1)
        _ = try await running.stop()
    }

    @Test(arguments: ["", "two\nlines\n", "nul\0byte\n"])
    func `an invalid password file is reported without its content`(content: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        var network = try CameraConfiguration.Network.test(camera.url("auth=md5"), user: "admin", in: directory)
        let path = directory.path("odd")
        if !content.isEmpty { try Data(content.utf8).write(to: URL(fileURLWithPath: path)) }
        network.passwordFile = path
        let running = RunningSource(network)
        let capture = try await running.waitForStatistics("the refusal") { $0.network?.state == .refused }
        #expect(capture.code == .loginNeeded)
        #expect(capture.reason?.contains("two") == false)
        _ = try await running.stop()
    }

    // MARK: - Refusals

    @Test(arguments: [
        ("status=403", ErrorCode.accessForbidden, NetworkStatistics.State.refused),
        ("status=404", .noSuchStream, .waiting), ("status=500", .cameraProtocol, .waiting),
        ("busy=453", .cameraBusy, .waiting), ("busy=503&retry=7", .cameraBusy, .waiting),
        ("tcp=0", .transportRefused, .waiting), ("greeting=http", .notRTSP, .waiting),
        ("greeting=ssh", .notRTSP, .waiting), ("mpeg4=1", .unsupportedCodec, .refused),
        ("redirect=away", .streamRedirected, .waiting), ("silent=1", .cameraTimeout, .waiting),
        ("nokey=1", .noKeyFrame, .connecting), ("videoless=1&audio=pcmu", .noKeyFrame, .waiting),
    ])
    func `a refusal is told apart from the others`(
        query: String, code: ErrorCode, state: NetworkStatistics.State
    ) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(query), in: directory))
        let capture = try await running.waitForStatistics("\(code)") { $0.code != nil }
        #expect(capture.code == code)
        #expect(capture.state == .waiting)
        #expect(capture.reason?.isEmpty == false)
        try await running.waitForStatistics("\(state)") { $0.network?.state == state }
        if query.hasPrefix("busy") {
            let pause = try #require(running.source.capture.network?.nextAttemptSeconds)
            #expect(query.contains("retry") ? pause <= 7 : pause <= 30 && pause > 7)
        }
        let seen = try await running.stop()
        #expect(seen.frames.isEmpty)
    }

    @Test func `a busy camera is asked again after its time, and then pulled`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("busy=453&retry=1&times=1"), in: directory))
        try await running.wait("frames") { $0.keyFrames >= 1 }
        #expect(running.source.capture.network?.attempts == 2)
        #expect(running.source.capture.code == nil)
        _ = try await running.stop()
    }

    @Test func `a camera that is switched on later is found`() async throws {
        let first = try await TestCamera.quirky(TestCamera.stayingPort())
        let url = first.url("a=1")
        let port = first.port
        first.end(keepsTurn: true)
        let running = RunningSource(try .test(url, in: directory))
        let capture = try await running.waitForStatistics("the refusal") { $0.code != nil }
        #expect(capture.code == .cameraUnreachable)
        #expect(capture.network?.connections == 0)
        let camera = try await TestCamera.quirky(["--port", "\(port)"], after: first)
        defer { camera.end() }
        try await running.wait("frames") { $0.keyFrames >= 1 }
        #expect(running.source.capture.code == nil)
        #expect(running.source.capture.reason == nil)
        _ = try await running.stop()
    }

    // MARK: - Silence

    @Test(arguments: [
        ("freeze=3", 1), ("hole=3", 1), ("vfreeze=3&audio=pcmu", 1), ("freeze=3&h265=1", 1), ("close=3", 0),
        ("bye=3", 0),
    ])
    func `a stream that stops is pulled again`(query: String, stalls: UInt64) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(query + "&times=1"), in: directory))
        try await running.wait("frames") { $0.keyFrames >= 3 }
        let clock = ContinuousClock()
        let before = clock.now
        try await running.waitForStatistics("the end of the first attempt") { $0.interruptions >= 1 }
        let found = clock.now - before
        if stalls > 0 {
            // By the frames' own packets; audio that goes on is not a frame.
            #expect(running.log.value.contains { $0.contains("\(ErrorCode.streamFrozen)") })
        }
        let next = try await running.waitForStatistics("the next one") { ($0.network?.connections ?? 0) >= 2 }
        #expect(stalls > 0 ? (next.network?.stalls ?? 0) >= stalls : next.network?.stalls == 0)
        let seen = try await running.wait("frames again", seconds: 120) { $0.keyFrames >= 6 }
        #expect(seen.stepsBack == 0)
        #expect(seen.formats.count == 1)
        // From the last frame to the next; FreezeWatchTests has when a freeze is found.
        if stalls > 0 { #expect(seen.longestWait < .seconds(24), "promised are 8 s") }
        // On a busy machine the camera itself may be so slow that it looks frozen again.
        try await running.waitForStatistics("the stream") { $0.state == .streaming }
        let gap = Double(seen.longestGap.milliseconds) / 1000
        print("· \(query): over after \(found) of waiting, \(gap) s from the last frame to the next")
        _ = try await running.stop()
    }

    @Test func `a frozen stream over UDP is pulled again over UDP`() async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url("freeze=3&times=1"), in: directory, transport: .udp))
        let seen = try await running.wait("frames again", seconds: 120) { $0.keyFrames >= 6 }
        #expect(seen.stepsBack == 0)
        #expect(running.source.capture.network?.transport == "udp")
        #expect((running.source.capture.network?.connections ?? 0) >= 2)
        _ = try await running.stop()
    }

    @Test(arguments: ["hole=0.1", "silent=1", "slow=3000"])
    func `a source that waits for its camera stops at once`(query: String) async throws {
        let camera = try await TestCamera.quirky()
        defer { camera.end() }
        let running = RunningSource(try .test(camera.url(query), in: directory))
        try await running.waitForStatistics("an attempt") { ($0.network?.attempts ?? 0) >= 1 }
        let took = try await elapsed { _ = try await running.stop() }
        print("· stopped within \(took) (\(query))")
        #expect(took < .seconds(5), "promised is one second")
    }
}
