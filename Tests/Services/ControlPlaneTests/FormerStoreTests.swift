import BoxConfiguration
import BoxMemory
import CameraModel
import ControlAPI
import Foundation
import Settings
import Testing

@testable import ControlPlane
@testable import Database

/// A box whose state was written by the last version that kept the configuration in the database (commit e878bc8):
/// `whole`, and `interrupted`, which was killed in the middle of a rollback, with half of the rows replaced.
struct FormerStoreTests {
    enum State: String, CaseIterable { case whole, interrupted }

    private static func box(_ state: State) throws -> ControlStage {
        let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "Fixtures/state-e878bc8/\(state.rawValue)")
        let stage = try ControlStage()
        try stage.write(
            "box = { name = \"Shop\", previews = true }\nkas = { url = \"http://127.0.0.1:9443/kas\" }\n")
        try stage.write("camera.till = { source = \"test:\" }\n", to: "conf.d/20-till.toml")
        try FileManager.default.copyItem(
            at: fixtures.appending(path: "generations"), to: URL(filePath: stage.paths.generations))
        try DatabaseConnection(path: stage.paths.database).execute(
            try String(contentsOf: fixtures.appending(path: "state.sql"), encoding: .utf8))
        return stage
    }

    private static func tables(_ stage: ControlStage) throws -> Set<String> {
        Set(
            try DatabaseConnection(path: stage.paths.database).values(
                "SELECT name FROM sqlite_master WHERE type = 'table'"))
    }

    private static let ids: Set = ["front", "gate", "till", "yard"]

    private func check(_ stage: ControlStage, _ control: ControlService, _ state: State, _ label: String = "")
        async throws
    {
        let current = await control.core.current
        #expect(Set(current.settings.cameras.keys) == Self.ids, "\(label)")
        #expect(current.schema == Generation.currentSchema, "\(label)")
        #expect(await control.core.generationStore.generations().first == current, "\(label)")
        #expect(
            current.store.cameras.allSatisfy { $0.changed > 0 } && current.store.objects.allSatisfy { $0.changed > 0 })
        let yard = try await control.get(CameraDocument.self, "cameras/yard")
        #expect(yard.name == "The yard" && yard.source == "onvif://192.0.2.9" && yard.user == "viewer", "\(label)")
        #expect(yard.settings["profile"] == .string("sub") && yard.settings["identity_serial"] == .string("X1"))
        #expect(yard.added == 1_700_000_000 && yard.manufacturer == "Example" && yard.model == "Eye 2", "\(label)")
        #expect(yard.lastConnected == 1_700_000_100 && yard.mac == "00:11:22:aa:bb:cc" && yard.port == 80, "\(label)")
        #expect(yard.profiles.map(\.token) == ["main", "sub"] && yard.profiles[0].width == 1920, "\(label)")
        #expect(yard.gridPosition == 2, "\(label)")
        #expect(try await control.keptThumbnail("yard") == [0xff, 0xd8, 0xff, 0xe0, 1, 2, 3], "\(label)")
        #expect(current.settings.cameras["gate"]?.grid == (state == .whole ? 0 : 3), "\(label)")
        let front = try #require(current.settings.cameras["front"])
        #expect(front.viewers == ["a@example.com", "b@example.com"] && front.video.frameRate == 15, "\(label)")
        #expect(front.video.bitrate == (state == .whole ? 500_000 : 2_000_000), "\(label)")
        #expect(current.settings.relays["main"]?.url == "rtmp://127.0.0.1/live", "\(label)")
        #expect((current.settings.hooks["home"] != nil) == (state == .whole), "\(label)")
        #expect(stage.file("state/generations/restore.json") == nil, "\(label)")
        #expect(try Self.tables(stage).isDisjoint(with: ["camera", "object", "profile"]), "\(label)")
        let events = try #require(control.core.memory).events(after: 0, limit: 100)
        #expect(events.contains { $0.text == "live" && $0.object == "yard" }, "\(label)")
    }

    @Test(arguments: State.allCases)
    func `everything of it is there, and stays so`(state: State) async throws {
        let stage = try Self.box(state)
        let control = try await stage.start()
        try await check(stage, control, state)
        let generation = await control.core.current
        stage.units.forgetCalls()
        let next = try await stage.start()
        #expect(await next.core.current == generation)
        #expect(stage.units.calls == [])
        // Its generations are there to go back to.
        let numbers = try await next.get(GenerationListDocument.self, "config/history").generations.map(\.number)
        #expect(numbers.count >= 8)
        let answer = await next.send(.post, "config/rollback", #"{"generation":4}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(await Set(next.core.current.settings.cameras.keys) == ["front", "till", "yard"])
        // And whoever had read a camera before learns that it has another revision.
        #expect(await next.send(.patch, "cameras/yard", #"{"name":"Y"}"#, ifMatch: "\"1\"").status == 412)
    }

    @Test(arguments: State.allCases)
    func `killed or failing between any two steps, nothing of it is lost`(state: State) async throws {
        let whole = try Self.box(state)
        _ = try await whole.start()
        let steps = whole.steps.names
        try #require(steps.count >= 3)
        for step in 1...steps.count {
            for isKilled in [true, false] {
                let stage = try Self.box(state)
                if isKilled { stage.steps.kill(at: step) } else { stage.steps.fail(at: step) }
                let first = try await stage.start()
                #expect(await Set(first.core.current.settings.cameras.keys) == Self.ids)
                stage.steps.reset()
                let next = try await stage.start()
                try await check(
                    stage, next, state, "step \(step), \(isKilled ? "killed" : "failed"): \(steps[step - 1])")
            }
        }
    }

    @Test func `without its database the last generation is the configuration`() async throws {
        let stage = try Self.box(.whole)
        try Data("no database".utf8).write(to: URL(filePath: stage.paths.database))
        let control = try await stage.start()
        #expect(await Set(control.core.current.settings.cameras.keys) == Self.ids)
        #expect(await control.core.current.schema == Generation.currentSchema)
    }

    @Test func `what the database held later than the last generation is not lost`() async throws {
        let stage = try Self.box(.whole)
        try DatabaseConnection(path: stage.paths.database).execute("UPDATE camera SET name = 'Later' WHERE id = 'gate'")
        let control = try await stage.start()
        #expect(await control.stored("gate")?.name == "Later")
    }

    @Test func `a database that comes back late takes no change back`() async throws {
        let stage = try Self.box(.whole)
        let (path, aside) = (stage.paths.database, stage.paths.database + ".aside")
        try FileManager.default.moveItem(atPath: path, toPath: aside)
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        let control = try await stage.start()
        #expect(await Set(control.core.current.settings.cameras.keys) == Self.ids)
        #expect(await control.send(.patch, "cameras/gate", #"{"name":"The gate"}"#).status == 200)
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: aside, toPath: path)
        let next = try await stage.start()
        #expect(await next.stored("gate")?.name == "The gate")
        #expect(try await next.get(CameraDocument.self, "cameras/yard").manufacturer == "Example")
        #expect(try Self.tables(stage).isDisjoint(with: ["camera", "object", "profile"]))
    }
}
