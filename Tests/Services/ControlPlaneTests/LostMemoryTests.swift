import BoxConfiguration
import BoxMemory
import ControlAPI
import ErrorCatalog
import Foundation
import Synchronization
import Testing

@testable import ControlPlane

/// Neither a full disk nor a damaged database costs a camera.
struct LostMemoryTests {
    private static func isOfState(_ step: String) -> Bool { step.contains("/state/") }

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

    private func ids(_ control: ControlService) async -> [String] {
        await control.core.current.store.cameras.map(\.id)
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
            #expect(await ids(control) == ["a", "b", "c", "x"], "step \(step): \(steps[step - 1])")
            let next = try await stage.start()
            #expect(await ids(next) == ["a", "b", "c", "x"], "step \(step): \(steps[step - 1])")
            #expect(ids(running: stage) == ["a", "b", "c", "x"], "step \(step): \(steps[step - 1])")
        }
    }

    @Test func `a rollback that was killed, and a disk that is full at boot, stop no camera`() async throws {
        let (whole, done) = try await box()
        #expect(await done.send(.post, "config/rollback", Self.rollback).status == 200)
        let steps = whole.steps.names
        for step in 1...steps.count {
            let (stage, control) = try await box()
            stage.steps.kill(at: step)
            await control.send(.post, "config/rollback", Self.rollback)
            guard ids(running: stage) == ["a", "b", "c"] else { continue }
            stage.steps.refuse(Self.isOfState)
            let next = try await stage.start()
            #expect(await ids(next) == ids(running: stage), "step \(step): \(steps[step - 1])")
            stage.steps.reset()
            for _ in 0..<5 { await next.core.tick() }
            await next.core.unitJobs.settled()
            #expect(await ids(next) == ids(running: stage), "step \(step): \(steps[step - 1])")
            let last = try await stage.start()
            #expect(await ids(last) == ids(running: stage), "step \(step): \(steps[step - 1])")
        }
    }

    private func damage(_ stage: ControlStage) throws {
        for suffix in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: "\(stage.root)/state/state.db\(suffix)")
        }
        try Data("this is no database, and never was one; it only has the name of one".utf8)
            .write(to: URL(fileURLWithPath: "\(stage.root)/state/state.db"))
    }

    @Test func `killed when a damaged database was moved aside, the next start has every camera`() async throws {
        let (stage, _) = try await box()
        try damage(stage)
        // It opens the store, and moves the damaged one aside.
        _ = try stage.makeService()
        let next = try await stage.start()
        #expect(await ids(next) == ["a", "b", "c"])
        #expect(stage.units.calls == [])
    }

    @Test func `a damaged database is reported, and stops and refuses nothing`() async throws {
        let (stage, _) = try await box()
        try damage(stage)
        let control = try await stage.start()
        #expect(ids(running: stage) == ["a", "b", "c"])
        #expect(stage.units.calls == [])
        let events = try #require(control.core.memory).events(after: 0, limit: 100)
        #expect(events.contains { $0.code == "WB-3004" && $0.text.contains("the configuration is not") }, "\(events)")
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
