import BoxMemory
import CameraModel
import ControlAPI
import ErrorCatalog
import Foundation
import Settings
import Synchronization
import Systemd
import Testing

@testable import ControlPlane

/// Changes that a camera takes over while it publishes.
@Suite(.timeLimit(.minutes(15)))
struct LiveChangeTests {
    private static let unit = "watchbox-camera@b.service"
    private static let device =
        ControlStage.connections + """
            camera.a = { source = "test:" }
            camera.b = { source = "v4l2:/dev/v4l/by-id/usb-Example-video-index0", rate = 30, bitrate = 2000000 }

            """

    private func box(_ files: String = Self.device) async throws -> (ControlStage, ControlService) {
        let stage = try ControlStage()
        try stage.write(files)
        let control = try await stage.start()
        try #require(stage.units.running.count == 2)
        stage.units.forgetCalls()
        return (stage, control)
    }

    private func apply(_ stage: ControlStage, _ control: ControlService, _ from: String, _ to: String) async throws {
        let text = try #require(stage.file("etc/watchbox.toml"))
        try #require(text.contains(from))
        try stage.write(text.replacing(from, with: to))
        let answer = await control.send(.post, "config/apply")
        #expect(answer.status == 200, "\(answer.text)")
    }

    /// The process has what its file says, and no mark is left.
    private func isSettled(
        _ stage: ControlStage, _ comment: Comment? = nil, at location: SourceLocation = #_sourceLocation
    ) {
        #expect(
            stage.units.running[Self.unit] == stage.file("run/service/camera-b.json"), comment,
            sourceLocation: location)
        #expect(stage.file("run/service/camera-b.restart") == nil, comment, sourceLocation: location)
    }

    @Test func `a bit rate is passed to the process that runs, and nothing restarts`() async throws {
        let (stage, control) = try await box()
        let camera = try CameraStub("b", of: stage)
        let text = try #require(stage.file("etc/watchbox.toml"))
        try stage.write(text.replacing("2000000", with: "500000"))
        let difference = try await control.get(ConfigurationDiff.self, "config/diff")
        #expect(difference.changes.map(\.action) == [.changeCamera])
        #expect(difference.changes.first?.affects == ["b"])

        #expect(await control.send(.post, "config/apply").status == 200)
        #expect(camera.changes == [VideoChange(bitrate: 500_000)])
        #expect(stage.units.calls == [])
        #expect(stage.file("run/service/camera-b.json")?.contains("\"bitrate\":500000") == true)
        isSettled(stage)

        // Nothing is left for the next control to do either.
        _ = try await stage.start()
        #expect(stage.units.calls == [])
        #expect(camera.changes.count == 1)
    }

    @Test func `what cannot change while it publishes is a restart, also together with what can`() async throws {
        let (stage, control) = try await box()
        let camera = try CameraStub("b", of: stage)
        try await apply(stage, control, "bitrate = 2000000", "bitrate = 500000, rotate = 90")
        #expect(stage.units.words == ["restart \(Self.unit)"])
        #expect(camera.changes == [])
        isSettled(stage)
    }

    @Test(arguments: [422, 500])
    func `a process that does not take the change over is restarted, and it is reported`(status: Int) async throws {
        let (stage, control) = try await box()
        let problem = Problem(
            status: status, title: "No", detail: "not this rate", code: .invalidValue, hint: "Another")
        let camera = try CameraStub("b", of: stage) { line, _ in
            line.hasPrefix("PATCH") ? .init(status: status, body: JSONDocument.bytes(problem)) : nil
        }
        try await apply(stage, control, "rate = 30", "rate = 15")
        #expect(stage.units.words == ["restart \(Self.unit)"])
        #expect(camera.changes == [])
        isSettled(stage)
        let events = try #require(control.core.memory).events(after: 0, limit: 100)
        #expect(events.contains { $0.object == "b" && $0.text.contains("not this rate") })
    }

    @Test func `changes that come while one is under way are passed on after it`() async throws {
        let (stage, control) = try await box()
        let camera = try CameraStub("b", of: stage)
        camera.hold()
        let text = try #require(stage.file("etc/watchbox.toml"))
        func apply(_ text: String) async throws {
            try stage.write(text)
            // Without waiting for the crew, as `send` would.
            _ = try await control.core.apply(confirmSeconds: nil, dryRun: false)
        }
        try await apply(text.replacing("2000000", with: "500000"))
        await camera.isAsked(1)
        try await apply(text.replacing("2000000", with: "600000"))
        try await apply(text.replacing("2000000", with: "600000").replacing("rate = 30", with: "rate = 15"))
        #expect(stage.file("run/service/camera-b.restart")?.hasPrefix("change ") == true)
        camera.release()
        await control.core.unitJobs.settled()
        #expect(camera.changes.first == VideoChange(bitrate: 500_000))
        #expect(camera.changes.last == VideoChange(bitrate: 600_000, frameRate: 15))
        #expect(camera.changes.count == 2)
        #expect(stage.units.calls == [])
        isSettled(stage)
    }

    @Test func `a change for a process that waits for its restart is part of the restart`() async throws {
        let (stage, control) = try await box()
        let camera = try CameraStub("b", of: stage)
        stage.units.hold()
        let text = try #require(stage.file("etc/watchbox.toml"))
        try stage.write(text.replacing("rate = 30", with: "rate = 30, rotate = 90"))
        _ = try await control.core.apply(confirmSeconds: nil, dryRun: false)
        try stage.write(text.replacing("rate = 30", with: "rate = 15, rotate = 90"))
        _ = try await control.core.apply(confirmSeconds: nil, dryRun: false)
        #expect(stage.file("run/service/camera-b.restart")?.hasPrefix("change ") == false)
        stage.units.release()
        await control.core.unitJobs.settled()
        #expect(camera.changes == [])
        #expect(Set(stage.units.words) == ["restart \(Self.unit)"])
        isSettled(stage)
    }

    @Test func `a restart that comes while a change is under way is not lost`() async throws {
        let (stage, control) = try await box()
        let camera = try CameraStub("b", of: stage)
        camera.hold()
        let text = try #require(stage.file("etc/watchbox.toml"))
        try stage.write(text.replacing("rate = 30", with: "rate = 15"))
        _ = try await control.core.apply(confirmSeconds: nil, dryRun: false)
        await camera.isAsked(1)
        try stage.write(text.replacing("rate = 30", with: "rate = 15, rotate = 90"))
        _ = try await control.core.apply(confirmSeconds: nil, dryRun: false)
        camera.release()
        await control.core.unitJobs.settled()
        #expect(stage.units.words == ["restart \(Self.unit)"])
        isSettled(stage)
    }

    @Test func `when neither the change nor the restart works, the mark stays until one does`() async throws {
        let (stage, control) = try await box()
        stage.units.fail(Self.unit, .denied("polkit is away"))
        // Nothing listens on its socket.
        try await apply(stage, control, "rate = 30", "rate = 15")
        #expect(stage.file("run/service/camera-b.restart") != nil)
        #expect(stage.units.running[Self.unit] != stage.file("run/service/camera-b.json"))
        // A second change must not be passed to a process that lacks the first.
        let camera = try CameraStub("b", of: stage)
        try await apply(stage, control, "bitrate = 2000000", "bitrate = 700000")
        #expect(camera.changes == [])
        stage.units.fail(Self.unit, nil)
        for _ in 0..<3 {
            await control.core.tick()
            await control.core.unitJobs.settled()
            stage.now.withLock { $0 += .seconds(10) }
        }
        isSettled(stage)
    }

    @Test func `a camera that does not run is not asked`() async throws {
        let (stage, control) = try await box()
        let camera = try CameraStub("b", of: stage)
        #expect(await control.send(.post, "streams/b/stop").status == 200)
        stage.units.forgetCalls()
        try await apply(stage, control, "rate = 30", "rate = 15")
        #expect(camera.changes == [])
        // A change of the camera ends the stop.
        #expect(stage.units.calls(of: "b").isEmpty == false)
        isSettled(stage)
    }

    // MARK: Snapshot

    private static let frame: [UInt8] = [0xFF, 0xD8, 0xFF, 0xE0, 1, 2, 3, 0xFF, 0xD9]

    @Test func `a frame of a camera is for administrators only`() async throws {
        let (stage, control) = try await box()
        let camera = try CameraStub("b", of: stage) { line, _ in
            line.hasPrefix("GET /api/v1/snapshot ") ? .init(status: 200, type: "image/jpeg", body: Self.frame) : nil
        }
        let answer = await control.send(.get, "cameras/b/snapshot")
        guard case .bytes(Self.frame, type: "image/jpeg") = answer.body else {
            Issue.record("\(answer)")
            return
        }
        #expect(await control.send(.get, "cameras/b/snapshot", isAdministrator: false).problem?.code == .notPermitted)
        #expect(await control.send(.get, "cameras/none/snapshot").problem?.code == .notFound)
        #expect(await control.send(.get, "cameras/..%2Fa/snapshot").status >= 400)
        #expect(await control.send(.post, "streams/b/stop").status == 200)
        #expect(await control.send(.get, "cameras/b/snapshot").problem?.code == .unreachable)
        withExtendedLifetime(camera) {}
    }

    @Test func `what a camera says instead of a frame is reported, and nothing else passes for one`() async throws {
        let (stage, control) = try await box()
        let problem = Problem(CodedError(.noFrames, "there is no frame yet"))
        let silent = try CameraStub("b", of: stage) { _, _ in .init(status: 503, body: JSONDocument.bytes(problem)) }
        #expect(await control.send(.get, "cameras/b/snapshot").problem?.code == .noFrames)
        withExtendedLifetime(silent) {}
        let page = try CameraStub("a", of: stage) { _, _ in
            .init(status: 200, type: "image/jpeg", body: Array("<html>".utf8))
        }
        #expect(await control.send(.get, "cameras/a/snapshot").problem?.code == .unreachable)
        withExtendedLifetime(page) {}
    }
}
