import BoxConfiguration
import BoxMemory
import CameraModel
import ControlAPI
import ErrorCatalog
import Foundation
import Synchronization
import Testing

@testable import ControlPlane

/// One change of every kind, and what there must be before and after it.
struct CrashCase: Sendable, CustomTestStringConvertible {
    var name: String
    var method: APIRequest.Method
    var path: String
    var body: String
    /// Files of the operator's that are there when it begins.
    var files: String?
    /// Besides those that the change is for, nothing may be touched.
    var touches: Set<String>
    /// Camera b's process takes changes over.
    var isLive = false

    var testDescription: String { name }

    static let all = [
        CrashCase(
            name: "camera add", method: .post, path: "cameras", body: #"{"id":"new","source":"test:"}"#,
            touches: ["new"]),
        CrashCase(
            name: "camera edit", method: .patch, path: "cameras/b", body: #"{"settings":{"bitrate":500000}}"#,
            touches: ["b"]),
        CrashCase(
            name: "camera edit, taken over", method: .patch, path: "cameras/b",
            body: #"{"settings":{"bitrate":500000}}"#, touches: ["b"], isLive: true),
        CrashCase(name: "camera disable", method: .post, path: "cameras/b/disable", body: "", touches: ["b"]),
        CrashCase(name: "camera rm", method: .delete, path: "cameras/b", body: "", touches: ["b"]),
        CrashCase(name: "camera name", method: .patch, path: "cameras/b", body: #"{"name":"Bee"}"#, touches: []),
        CrashCase(
            name: "camera rename", method: .post, path: "cameras/b/rename", body: #"{"id":"bee"}"#,
            touches: ["b", "bee"]),
        CrashCase(name: "camera order", method: .put, path: "cameras/order", body: #"{"ids":["b","a"]}"#, touches: []),
        CrashCase(
            name: "relay set", method: .put, path: "relays/main", body: #"{"url":"rtmp://127.0.0.1/other"}"#,
            touches: ["a", "b"]),
        CrashCase(
            name: "config apply", method: .post, path: "config/apply", body: "",
            files: "camera.f = { source = \"test:\" }\n", touches: ["f"]),
        CrashCase(
            name: "config apply --confirm", method: .post, path: "config/apply", body: #"{"confirmSeconds":90}"#,
            files: "camera.f = { source = \"test:\" }\n", touches: ["f"]),
        CrashCase(name: "rollback", method: .post, path: "config/rollback", body: "", touches: ["b"]),
        CrashCase(
            name: "import", method: .post, path: "config/import",
            body: #"{"toml":"camera.x = { source = \"test:\" }\ncamera.y = { source = \"test:\" }\n"}"#,
            touches: ["x", "y"]),
    ]
}

struct CrashTests {
    /// A box with two cameras of the store, one after the other.
    private func box(_ change: CrashCase) async throws -> (ControlStage, ControlService) {
        let stage = try ControlStage()
        try stage.write("kas = { url = \"http://127.0.0.1:9443/kas\" }\n")
        let control = try await stage.start()
        await control.send(.put, "relays/main", #"{"url":"rtmp://127.0.0.1/live"}"#)
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        await control.send(.post, "cameras", #"{"id":"b","source":"test:"}"#)
        await control.send(.put, "hooks/home", #"{"url":"https://h/x","cameras":["a","b"],"isEnabled":false}"#)
        if let files = change.files {
            try stage.write(files, to: "conf.d/20-new.toml")
        }
        if change.isLive { try stage.addStub("b") }
        stage.units.forgetCalls()
        stage.steps.reset()
        return (stage, control)
    }

    private func settings(_ control: ControlService) async -> BoxSettings { await control.core.current.settings }

    @Test(arguments: CrashCase.all)
    func `killed between any two steps, the next start has the old or the new, and all of it`(
        _ change: CrashCase
    ) async throws {
        // Without a kill, for its steps and for what comes of it.
        let (whole, done) = try await box(change)
        let old = await settings(done)
        let answer = await done.send(change.method, change.path, change.body)
        #expect((200...204).contains(answer.status), "\(answer.text)")
        let new = await settings(done)
        let steps = whole.steps.names
        try #require(steps.count >= 2, "\(answer.text)")
        if change.isLive { #expect(whole.units.calls == [] && steps.contains("change watchbox-camera@b.service")) }
        #expect(old != new)

        for step in 1...steps.count {
            let (stage, control) = try await box(change)
            let before = await control.core.current.store
            stage.steps.kill(at: step)
            await control.send(change.method, change.path, change.body)
            #expect(stage.steps.isDead)
            stage.steps.reset()

            let next = try await stage.start()
            let settings = await settings(next)
            #expect(settings == old || settings == new, "step \(step): \(steps[step - 1])")
            try await check(stage, next, settings, step, steps[step - 1])
            let touched = Set(stage.units.calls.map(\.unit))
            #expect(
                touched.isSubset(of: change.touches.map { "watchbox-camera@\($0).service" }),
                "step \(step): \(steps[step - 1])")
            if settings == old, change.files == nil {
                #expect(await next.core.current.store == before)
            }

            // And it stays so: nothing is left to do.
            stage.units.forgetCalls()
            let again = try await stage.start()
            #expect(await self.settings(again) == settings)
            #expect(stage.units.calls == [], "step \(step): \(steps[step - 1])")
        }
    }

    /// Files, units and the store say the same as the settings.
    private func check(
        _ stage: ControlStage, _ control: ControlService, _ settings: BoxSettings, _ step: Int, _ name: String
    ) async throws {
        let expected = Set(settings.runningCameras.map { "watchbox-camera@\($0).service" })
        #expect(Set(stage.units.running.keys) == expected, "step \(step): \(name)")
        for id in settings.runningCameras {
            let file = stage.file("run/service/camera-\(id).json")
            #expect(stage.units.running["watchbox-camera@\(id).service"] == file, "step \(step): \(name)")
            var configuration = try settings.cameraConfiguration(id, stateDirectory: stage.paths.cameraState(id))
            configuration.instance =
                await control.core.current.store.camera(id)?.uuid
                ?? settings.cameras[id].map { "file-" + Fingerprint.text($0.source) }
            #expect(file == JSONDocument.text(configuration), "step \(step): \(name)")
        }
        let rests = try FileManager.default.subpathsOfDirectory(atPath: stage.root).filter {
            $0.hasSuffix(".new") || $0.hasSuffix(".restart") || $0.hasPrefix("state/removals/")
        }
        #expect(rests == [], "step \(step): \(name)")
    }

    @Test(arguments: CrashCase.all)
    func `when a step fails because the disk is full, the change is refused and nothing is different`(
        _ change: CrashCase
    ) async throws {
        let (whole, done) = try await box(change)
        await done.send(change.method, change.path, change.body)
        let steps = whole.steps.names
        try #require(!steps.isEmpty)

        for step in 1...steps.count {
            let (stage, control) = try await box(change)
            let old = await settings(control)
            let generation = await control.core.current.number
            stage.steps.fail(at: step)
            let answer = await control.send(change.method, change.path, change.body)
            stage.steps.reset()
            let settings = await settings(control)
            let isRefused = answer.status >= 400
            #expect((settings == old) == isRefused, "step \(step): \(steps[step - 1]): \(answer.text)")
            if isRefused {
                #expect(answer.problem?.code == .diskFull)
                #expect(stage.units.calls == [], "step \(step): \(steps[step - 1])")
                let history = try await control.get(GenerationListDocument.self, "config/history")
                #expect(history.generations.first?.number == generation)
                let newest = await control.core.generationStore.generations().first
                #expect(newest == (await control.core.current), "step \(step): \(steps[step - 1])")
                let rests = try FileManager.default.subpathsOfDirectory(atPath: stage.root)
                #expect(!rests.contains { $0.hasSuffix(".new") }, "step \(step): \(steps[step - 1])")
            }
            // Whatever could not be done after the change was made is done by looking at it again.
            for _ in 0..<3 {
                await control.core.tick()
                await control.core.unitJobs.settled()
                stage.now.withLock { $0 += .seconds(10) }
            }
            let running = Set(stage.units.running.keys)
            #expect(
                running == Set(settings.runningCameras.map { "watchbox-camera@\($0).service" }),
                "step \(step): \(steps[step - 1])")
        }
    }
}
