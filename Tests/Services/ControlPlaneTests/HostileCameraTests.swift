import CameraModel
import ControlAPI
import ErrorCatalog
import Foundation
import Synchronization
import Testing

@testable import ControlPlane

/// What somebody who has broken into one camera's process can do in the directory of the cameras' sockets, and must not
/// gain by it.
@Suite(.timeLimit(.minutes(15)))
struct HostileCameraTests {
    private func makeDirectory(_ path: String) throws {
        try FileManager.default.createDirectory(atPath: "\(path)/in-it", withIntermediateDirectories: true)
    }

    private func answer(_ id: String, padding: Int = 0) -> String {
        var statistics = CameraStatistics(camera: id, stream: id)
        statistics.state = .publishing
        let document = JSONDocument.text(
            CameraStatusDocument(
                statistics: statistics, instant: 5, framesPerSecond: 25, bitsPerSecond: 1e6, ivUsedRatio: 0,
                watchdogSeconds: nil, version: "1"))
        let numbers = String(repeating: "0,", count: padding / 2) + "0"
        return #"{"unknown":[\#(numbers)],"# + document.dropFirst()
    }

    @Test func `what lies beside the sockets stops no change and no start`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        for name in ["b.json", "b.json.new", "camera-b.json", "b.sock"] {
            try makeDirectory("\(stage.root)/run/camera/\(name)")
        }
        #expect(await control.send(.post, "cameras", #"{"id":"b","source":"test:"}"#).status == 201)
        #expect(await control.send(.patch, "cameras/b", #"{"settings":{"bitrate":500000}}"#).status == 200)
        #expect(stage.units.calls(of: "b") == ["start", "restart"])
        #expect(stage.units.running["watchbox-camera@b.service"]?.contains("500000") == true)
        #expect(!FileManager.default.fileExists(atPath: "\(stage.root)/run/camera/b.sock"))
    }

    @Test func `a socket that somebody has made in a camera's name is gone before it starts, and stays while it runs`()
        async throws
    {
        // Nothing answers.
        let stage = try ControlStage(statusDeadline: .milliseconds(100))
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        let path = "\(stage.root)/run/camera/b.sock"
        let squatter = try SocketStub(path: path, answer: nil)
        #expect(await control.send(.post, "cameras", #"{"id":"b","source":"test:"}"#).status == 201)
        #expect(!FileManager.default.fileExists(atPath: path))
        let own = try SocketStub(path: path, answer: nil)
        // A process that runs removes its own when it ends.
        #expect(await control.send(.post, "streams/b/restart").status == 200)
        #expect(FileManager.default.fileExists(atPath: path))
        #expect(await control.send(.post, "streams/b/stop").status == 200)
        #expect(await control.send(.post, "streams/b/start").status == 200)
        #expect(!FileManager.default.fileExists(atPath: path))
        _ = (squatter, own)
    }

    @Test func `a socket of another user than the unit's is not asked`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let control = try await stage.start()
        let (a, b) = (answer("a"), answer("b"))
        let real = try SocketStub(path: "\(stage.root)/run/camera/a.sock") { _ in (200, a) }
        let other = try SocketStub(path: "\(stage.root)/run/camera/b.sock") { _ in (200, b) }
        stage.units.set("watchbox-camera@b.service", user: 4_000_000)
        let streams = try await control.get(StreamListDocument.self, "streams").streams
        #expect(streams.map(\.state) == [.live, .unknown])
        #expect(await control.send(.post, "streams/b/key-frame").problem?.code == .unreachable)
        #expect(await control.send(.post, "keys/b/rotate").problem?.code == .unreachable)
        // Nor when no one knows whose it should be.
        stage.units.set("watchbox-camera@a.service", user: nil)
        stage.now.withLock { $0 += .seconds(2) }
        #expect(try await control.get(StreamDocument.self, "streams/a").state == .unknown)
        #expect(real.requests.count == 1)
        #expect(other.requests == [])
    }

    @Test func `an answer that is too long is rejected`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let control = try await stage.start()
        let (fits, long) = (answer("a", padding: 32 << 10), answer("b", padding: 80 << 10))
        let a = try SocketStub(path: "\(stage.root)/run/camera/a.sock") { _ in (200, fits) }
        let b = try SocketStub(path: "\(stage.root)/run/camera/b.sock") { _ in (200, long) }
        let streams = try await control.get(StreamListDocument.self, "streams").streams
        #expect(streams.map(\.state) == [.live, .unknown])
        _ = (a, b)
    }

    @Test func `one camera's file that cannot be put in place keeps no other from its own`() async throws {
        func box() async throws -> (ControlStage, ControlService) {
            let stage = try ControlStage()
            try stage.write(ControlStage.two)
            let control = try await stage.start()
            try stage.write(ControlStage.two.replacing("9443", with: "9444"))
            stage.steps.reset()
            stage.units.forgetCalls()
            return (stage, control)
        }
        for name in ["camera-a.json", "camera-a.restart"] {
            let (whole, done) = try await box()
            #expect(await done.send(.post, "config/apply").status == 200)
            let steps = whole.steps.names
            let step = try #require(steps.firstIndex { $0.hasPrefix("rename to ") && $0.hasSuffix("/\(name)") })

            let (stage, control) = try await box()
            stage.steps.fail(at: step + 1)
            #expect(await control.send(.post, "config/apply").status == 200)
            #expect(stage.units.words == ["restart watchbox-camera@b.service"], "\(name)")
            #expect(stage.file("run/service/camera-b.json")?.contains("9444") == true)
            #expect(stage.file("run/service/camera-a.json")?.contains("9443") == true)
            #expect(stage.file("run/service/health.json")?.contains("9444") == true)
            stage.steps.reset()
            await control.core.tick()
            await control.core.unitJobs.settled()
            // To start what runs changes nothing; to restart it again would cost it frames.
            #expect(
                stage.units.words.filter { $0.hasPrefix("restart") }
                    == ["restart watchbox-camera@b.service", "restart watchbox-camera@a.service"])
            #expect(stage.units.running["watchbox-camera@a.service"]?.contains("9444") == true)
        }
    }
}
