import BoxMemory
import CameraModel
import ControlAPI
import Foundation
import Synchronization
import Testing

@testable import ControlPlane

/// Control is replaced by a newer one while cameras run, and the machine does not start again.
struct UpgradeTests {
    /// The files as a control wrote them that did not distinguish cameras of one ID.
    private func makeOld(_ stage: ControlStage, _ ids: [String]) throws {
        for id in ids {
            let path = stage.paths.cameraFile(id)
            let bytes = try #require(FileManager.default.contents(atPath: path))
            var settings = try JSONDocument.decode(CameraConfiguration.self, from: Array(bytes))
            try #require(settings.instance != nil)
            settings.instance = nil
            try Data(JSONDocument.bytes(settings)).write(to: URL(filePath: path))
        }
    }

    private func instance(_ id: String, _ stage: ControlStage) throws -> String? {
        let text = try #require(stage.file("run/service/camera-\(id).json"))
        return try JSONDocument.decode(CameraConfiguration.self, from: Array(text.utf8)).instance
    }

    @Test func `what runs goes on, and what its owner stopped stays stopped`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let old = try await stage.start()
        #expect(await old.send(.post, "streams/b/stop").status < 300)
        try makeOld(stage, ["a", "b"])
        stage.units.forgetCalls()

        let control = try await stage.start()
        for _ in 0..<5 {
            stage.now.withLock { $0 += .seconds(2) }
            await control.core.tick()
        }
        await control.core.unitJobs.settled()
        #expect(stage.units.words == [])
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@a.service"])
        for id in ["a", "b"] {
            #expect(try instance(id, stage) != nil)
            #expect(stage.file("run/service/camera-\(id).restart") == nil)
        }
        #expect(try await control.get(StreamDocument.self, "streams/b").reason == "stopped by request")
        // And at the next start of control.
        let next = try await stage.start()
        await next.core.tick()
        await next.core.unitJobs.settled()
        #expect(stage.units.words == [])
        #expect(await next.send(.post, "streams/b/start").status < 300)
        #expect(stage.units.words == ["start watchbox-camera@b.service"])
    }

    @Test func `a file that cannot be read is written again, and its unit begins again`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        _ = try await stage.start()
        let before = stage.file("run/service/camera-a.json")
        for id in ["a", "b"] {
            try "{".write(toFile: stage.paths.cameraFile(id), atomically: true, encoding: .utf8)
        }
        stage.units.forgetCalls()
        // One is configured no more.
        try stage.write(ControlStage.connections + "camera.a = { name = \"A\", source = \"test:\" }\n")
        _ = try await stage.start()
        #expect(stage.file("run/service/camera-a.json") == before)
        #expect(stage.file("run/service/camera-b.json") == nil)
        #expect(stage.units.words.sorted() == ["restart watchbox-camera@a.service", "stop watchbox-camera@b.service"])
    }

    @Test func `a restart that was owed is done, and another change restarts what runs`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        _ = try await stage.start()
        try makeOld(stage, ["a", "b"])
        try "mark".write(
            toFile: try #require(stage.paths.restartMark(ofUnit: "watchbox-camera@a.service")), atomically: true,
            encoding: .utf8)
        stage.units.forgetCalls()
        _ = try await stage.start()
        #expect(stage.units.words == ["restart watchbox-camera@a.service"])
        stage.units.forgetCalls()
        try makeOld(stage, ["a"])
        try stage.write(ControlStage.two.replacingOccurrences(of: "name = \"A\"", with: "bitrate = 900000"))
        try stage.addStub("a")
        _ = try await stage.start()
        // It takes that over while it publishes.
        #expect(stage.units.words == [])
    }

    @Test func `files that were edited while control was away switch nothing on that was stopped`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let old = try await stage.start()
        #expect(await old.send(.post, "streams/b/stop").status < 300)
        stage.units.forgetCalls()
        try stage.write(ControlStage.two.replacingOccurrences(of: "name = \"B\"", with: "size = \"640x360\""))
        let control = try await stage.start()
        await control.core.tick()
        await control.core.unitJobs.settled()
        #expect(stage.units.words == [])
        // One that is gone leaves nothing for the next of its name.
        try stage.write(ControlStage.connections)
        _ = try await stage.start()
        #expect(stage.file("run/service/camera-b.stopped") == nil)
    }

    @Test func `secrets that stay unreadable are looked at ever less often`() {
        var pacing = DoubtPacing()
        #expect(!pacing.isDue(at: .zero))
        var looks: [Int] = []
        pacing.found(true, at: .zero)
        for second in 1...200 where pacing.isDue(at: .seconds(second)) {
            looks.append(second)
            pacing.found(true, at: .seconds(second))
        }
        #expect(looks == [2, 6, 14, 30, 62, 122, 182])
        // Somebody else's look does not put it off.
        pacing.found(true, at: .seconds(200))
        #expect(pacing.isDue(at: .seconds(242)))
        pacing.found(false, at: .seconds(242))
        #expect(!pacing.isDue(at: .seconds(10_000)))
    }

    @Test func `after a boot no ID of an event comes twice`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let control = try await stage.start()
        control.core.hub.publish(.system, "before")
        let last = try #require(control.core.memory).latestEventID()
        try stage.reboot()
        let booted = try await stage.start()
        booted.core.hub.publish(.system, "the first")
        let next = try #require(booted.core.memory)
        let first = try #require(try next.events(after: last, limit: 1).first?.id)
        #expect(first > last + 1000)
        // Not when control alone starts again.
        let before = try next.latestEventID()
        let again = try #require(try await stage.start().core.memory)
        #expect(try again.latestEventID() < before + 100)
    }
}
