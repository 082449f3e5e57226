import BoxConfiguration
import CameraStore
import ControlAPI
import ErrorCatalog
import Foundation
import Synchronization
import Testing

@testable import ControlPlane

/// A store that is half of one thing and half of another.
struct MendingTests {
    private static func isOfState(_ step: String) -> Bool {
        step.hasPrefix("store:") || step.contains("/state/")
    }

    /// A box with three cameras of the store.
    private func box() async throws -> (ControlStage, ControlService) {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        for id in ["a", "b", "c"] {
            #expect(await control.send(.post, "cameras", #"{"id":"\#(id)","source":"test:"}"#).status == 201)
        }
        stage.units.forgetCalls()
        stage.steps.reset()
        return (stage, control)
    }

    private func ids(_ control: ControlService) throws -> [String] {
        try #require(control.core.store).cameras().map(\.id).sorted()
    }

    private func ids(running stage: ControlStage) -> [String] {
        stage.units.running.keys.map { String($0.dropFirst(16).dropLast(8)) }.sorted()
    }

    private static let rollback = #"{"generation":2}"#

    @Test func `a rollback that the full disk ended does not come back over later changes`() async throws {
        let (whole, done) = try await box()
        #expect(await done.send(.post, "config/rollback", Self.rollback).status == 200)
        #expect(ids(running: whole) == ["a"])
        let steps = whole.steps.names

        for step in 1...steps.count {
            let (stage, control) = try await box()
            let count = Counter()
            // From this step on, until there is room.
            stage.steps.refuse { _ in count.next() >= step }
            guard await control.send(.post, "config/rollback", Self.rollback).status >= 400 else { continue }
            // While there is none, nothing changes.
            #expect(await control.send(.post, "cameras", #"{"id":"y","source":"test:"}"#).status >= 400)
            #expect(ids(running: stage) == ["a", "b", "c"], "step \(step): \(steps[step - 1])")
            stage.steps.reset()
            let answer = await control.send(.post, "cameras", #"{"id":"x","source":"test:"}"#)
            #expect(answer.status == 201, "step \(step): \(steps[step - 1]): \(answer.text)")
            #expect(try ids(control) == ["a", "b", "c", "x"], "step \(step): \(steps[step - 1])")
            let next = try await stage.start()
            #expect(try ids(next) == ["a", "b", "c", "x"], "step \(step): \(steps[step - 1])")
            #expect(ids(running: stage) == ["a", "b", "c", "x"], "step \(step): \(steps[step - 1])")
            #expect(stage.file("state/generations/restore.json") == nil)
        }
    }

    @Test func `without a change, the next look mends it`() async throws {
        let (stage, control) = try await box()
        // The disk is full when half of it is written.
        let count = Counter()
        stage.steps.refuse { $0.hasPrefix("store:") && count.next() > 1 }
        #expect(await control.send(.post, "config/rollback", Self.rollback).problem?.code == .diskFull)
        let torn = try await control.get(BoxStatus.self, "status").configurationProblem
        #expect(torn?.contains("WB-3002") == true, "\(torn ?? "no problem is told")")
        stage.steps.reset()
        for _ in 0..<5 { await control.core.tick() }
        #expect(await control.core.isStoreTorn == false)
        #expect(try await control.get(BoxStatus.self, "status").configurationProblem == nil)
        #expect(stage.file("state/generations/restore.json") == nil)
    }

    @Test func `a rollback that cannot be finished at boot stops no camera`() async throws {
        let (whole, done) = try await box()
        #expect(await done.send(.post, "config/rollback", Self.rollback).status == 200)
        let steps = whole.steps.names
        for step in 1...steps.count {
            let (stage, control) = try await box()
            stage.steps.kill(at: step)
            await control.send(.post, "config/rollback", Self.rollback)
            guard ids(running: stage) == ["a", "b", "c"], stage.file("state/generations/restore.json") != nil else {
                continue
            }
            stage.steps.refuse(Self.isOfState)
            let next = try await stage.start()
            #expect(ids(running: stage) == ["a", "b", "c"], "step \(step): \(steps[step - 1])")
            stage.steps.reset()
            for _ in 0..<5 { await next.core.tick() }
            await next.core.crew.settled()
            #expect(try ids(next) == ids(running: stage), "step \(step): \(steps[step - 1])")
            let last = try await stage.start()
            #expect(try ids(last) == ids(running: stage), "step \(step): \(steps[step - 1])")
        }
    }

    private func damage(_ stage: ControlStage) throws {
        for suffix in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: "\(stage.root)/state/state.db\(suffix)")
        }
        try Data("this is no database, and never was one; it only has the name of one".utf8)
            .write(to: URL(fileURLWithPath: "\(stage.root)/state/state.db"))
    }

    @Test func `killed while a damaged database is replaced, the next start has every camera`() async throws {
        let (whole, _) = try await box()
        try damage(whole)
        _ = try await whole.start()
        let steps = whole.steps.names
        try #require(steps.filter { $0.hasPrefix("store: add camera") }.count == 3)
        for step in 1...steps.count {
            let (stage, _) = try await box()
            try damage(stage)
            stage.steps.kill(at: step)
            _ = try await stage.start()
            stage.steps.reset()
            let next = try await stage.start()
            #expect(try ids(next) == ["a", "b", "c"], "step \(step): \(steps[step - 1])")
            #expect(ids(running: stage) == ["a", "b", "c"], "step \(step): \(steps[step - 1])")
            #expect(!stage.units.words.contains { $0.hasPrefix("stop") }, "step \(step): \(steps[step - 1])")
        }
    }

    @Test func `killed before a damaged database is replaced, the next start has every camera`() async throws {
        let (stage, _) = try await box()
        try damage(stage)
        // It opens the store, and moves the damaged one aside.
        _ = try stage.makeService()
        let next = try await stage.start()
        #expect(try ids(next) == ["a", "b", "c"])
        #expect(stage.units.calls == [])
    }

    @Test func `a camera whose removal was killed is not taken for a lost one`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        // As a kill between the store's transaction and the generation's name leaves it.
        try #require(control.core.store).remove("a")
        let next = try await stage.start()
        #expect(try ids(next) == [])
        #expect(ids(running: stage) == [])
    }

    @Test func `a damaged database that cannot be filled stops no camera, and is filled later`() async throws {
        let (stage, _) = try await box()
        try damage(stage)
        stage.steps.refuse(Self.isOfState)
        let control = try await stage.start()
        #expect(ids(running: stage) == ["a", "b", "c"])
        #expect(stage.units.calls == [])
        #expect(try await control.get(BoxStatus.self, "status").configurationProblem?.contains("WB-3002") == true)
        #expect(await control.send(.post, "cameras", #"{"id":"d","source":"test:"}"#).problem?.code == .diskFull)
        stage.steps.reset()
        for _ in 0..<5 { await control.core.tick() }
        #expect(try ids(control) == ["a", "b", "c"])
        #expect(try await control.get(BoxStatus.self, "status").configurationProblem == nil)
        #expect(await control.send(.post, "cameras", #"{"id":"d","source":"test:"}"#).status == 201)
    }
}

private final class Counter: Sendable {
    private let value = Mutex(0)

    func next() -> Int {
        value.withLock {
            $0 += 1
            return $0
        }
    }
}
