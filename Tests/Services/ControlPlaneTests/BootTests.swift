import BoxConfiguration
import BoxMemory
import CameraModel
import ControlAPI
import CredentialStore
import ErrorCatalog
import Foundation
import Glibc
import Settings
import Synchronization
import Testing

@testable import ControlPlane

struct BootTests {
    private static let broken = "camera.front = { source = \"test:\", bitrat = 1 }\n"

    @Test func `the files are applied when control starts, and cameras with the same file are left alone`() async throws
    {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        _ = try await stage.start()
        #expect(stage.units.words.sorted() == ["start watchbox-camera@a.service", "start watchbox-camera@b.service"])
        stage.units.forgetCalls()
        let control = try await stage.start()
        #expect(stage.units.calls == [])
        #expect(try await control.get(GenerationListDocument.self, "config/history").generations.map(\.number) == [1])

        try stage.write(ControlStage.two.replacing("\"B\", source", with: "\"B\", bitrate = 500000, source"))
        _ = try await stage.start()
        #expect(stage.units.words == ["restart watchbox-camera@b.service"])
    }

    @Test func `files invalid at boot leave the last good generation running, and it is reported`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        _ = try await stage.start()
        try stage.write(Self.broken, to: "conf.d/99-oops.toml")
        try stage.reboot()
        let control = try await stage.start()
        #expect(stage.units.running.count == 2)
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.state == .degraded)
        #expect(status.configurationProblem?.contains("WB-1005") == true)
        #expect(status.configurationProblem?.contains("99-oops.toml:1") == true)
        #expect(status.generation == 1)
        #expect(await control.core.summary.contains("WB-1005"))
        #expect(stage.file("run/service/health.json")?.contains("WB-1005") == true)
        // What commands added can be changed all the same, and survives.
        #expect(await control.send(.post, "cameras", #"{"id":"c","source":"test:"}"#).status == 201)
        try stage.reboot()
        let again = try await stage.start()
        #expect(stage.units.running.count == 3)
        // Corrected files are taken by the next apply.
        try FileManager.default.removeItem(atPath: "\(stage.root)/etc/conf.d/99-oops.toml")
        #expect(await again.send(.post, "config/apply").status == 200)
        #expect(try await again.get(BoxStatus.self, "status").configurationProblem == nil)
        #expect(stage.file("run/service/health.json")?.contains("WB-1005") == false)
        // An edit that goes wrong while the box runs changes nothing, and is reported as well.
        try stage.write(Self.broken, to: "conf.d/99-oops.toml")
        #expect(await again.send(.post, "config/apply").problem?.code == .unknownKey)
        #expect(try await again.get(BoxStatus.self, "status").configurationProblem == nil)
        await again.reload()
        #expect(try await again.get(BoxStatus.self, "status").configurationProblem?.contains("WB-1005") == true)
        #expect(stage.file("run/service/health.json")?.contains("WB-1005") == true)
        #expect(stage.units.running.count == 3)
    }

    @Test func `without a generation and with a file that is not TOML, an empty box runs and says so`() async throws {
        let stage = try ControlStage()
        try stage.write("camera.front = {\n" + ControlStage.two)
        let control = try await stage.start()
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.cameras == [])
        #expect(status.configurationProblem?.contains("an empty configuration runs") == true)
        #expect(status.state == .degraded)
        let validation = try await control.send(.post, "config/validate").document(ValidationDocument.self)
        #expect(!validation.isValid)
        #expect(validation.issues.first?.line == 1)
    }

    @Test func `an unreadable directory of files is a problem to report, not an end`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        _ = try await stage.start()
        try Data(repeating: 0x20, count: 300 << 10).write(to: URL(fileURLWithPath: "\(stage.root)/etc/conf.d/big.toml"))
        let control = try await stage.start()
        #expect(stage.units.running.count == 2)
        #expect(try await control.get(BoxStatus.self, "status").configurationProblem?.contains("WB-1001") == true)
    }

    @Test func `after a reboot everything is there again`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"c","source":"test:"}"#)
        let files = ["a", "b", "c"].map { stage.file("run/service/camera-\($0).json") }
        try stage.reboot()
        stage.units.forgetCalls()
        _ = try await stage.start()
        #expect(["a", "b", "c"].map { stage.file("run/service/camera-\($0).json") } == files)
        #expect(stage.units.calls.map(\.verb) == ["start", "start", "start"])
    }

    @Test func `a camera of the network runs as the others do`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two + "camera.yard = { source = \"rtsp://192.0.2.9/1\" }\n")
        let control = try await stage.start()
        #expect(stage.units.running.count == 3)
        #expect(stage.file("run/service/camera-yard.json")?.contains("rtsp://192.0.2.9/1") == true)
        let yard = try await control.get(CameraDocument.self, "cameras/yard")
        #expect(yard.stream.unit == "active" && yard.stream.code == nil)
    }

    /// Cameras may make files in the directory of their sockets; one there does not come from control.
    @Test(.enabled(if: geteuid() == 0, "needs a second user"))
    func `a file that another user has put there is replaced`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        _ = try await stage.start()
        let path = "\(stage.root)/run/service/camera-a.json"
        let before = stage.file("run/service/camera-a.json")
        #expect(chown(path, 65534, 65534) == 0)
        stage.units.forgetCalls()
        _ = try await stage.start()
        #expect(stage.file("run/service/camera-a.json") == before)
        let owner = try FileManager.default.attributesOfItem(atPath: path)[.ownerAccountID] as? NSNumber
        #expect(owner?.uint32Value == 0)
        #expect(stage.units.words == ["restart watchbox-camera@a.service"])
    }

    @Test func `a unit of a camera that there is not any more is stopped`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        stage.units.set("watchbox-camera@ghost.service", active: "active")
        _ = try await stage.start()
        #expect(stage.units.words == ["stop watchbox-camera@ghost.service"])
    }

    @Test(arguments: ["Ghost", "..", "a--b", "a\\x2fb", "", "a-name-of-more-than-24-characters"])
    func `a unit whose instance cannot be a camera of ours is left alone`(instance: String) async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        stage.units.set("watchbox-camera@\(instance).service", active: "active")
        _ = try await stage.start()
        #expect(stage.units.words.isEmpty)
    }

    @Test func `a damaged database is set aside, and no camera is lost`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"c","name":"Sea","source":"test:"}"#)
        for suffix in ["-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: "\(stage.root)/state/state.db\(suffix)")
        }
        try Data("this is no database, and never was one; it only has the name of one".utf8)
            .write(to: URL(fileURLWithPath: "\(stage.root)/state/state.db"))
        let next = try await stage.start()
        #expect(try await next.get(CameraDocument.self, "cameras/c").name == "Sea")
        #expect(await next.core.current.store.cameras.map(\.id) == ["c"])
        #expect(stage.units.calls(of: "c") == ["start"])
    }

    @Test func `while the newest generation does not read, the one before runs, and nothing is changed on that ground`()
        async throws
    {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let first = try await stage.start()
        await first.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        await first.send(.post, "cameras", #"{"id":"b","source":"test:","settings":{"secret":"password"}}"#)
        #expect(await first.send(.put, "cameras/b/password", #"{"secret":"one"}"#).status == 204)
        let path = "\(stage.root)/state/generations/000003.json"
        let newest = try Data(contentsOf: URL(fileURLWithPath: path))
        try Data("{".utf8).write(to: URL(fileURLWithPath: path))
        let control = try await stage.start()
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.generation == 2 && status.state == .degraded)
        #expect(status.configurationProblem?.contains("generation 3 cannot be read") == true)
        let events = try #require(control.core.memory).events(after: 0, limit: 100)
        #expect(events.contains { $0.code == "WB-1001" })
        for _ in 0..<10 { await control.core.tick() }
        #expect(await control.send(.post, "cameras", #"{"id":"b","source":"test:"}"#).status >= 400)
        #expect(await control.send(.post, "config/apply").status >= 400)
        #expect(try stage.makeCredentials().names(scope: "camera-b") == ["password"])
        #expect(stage.file("state/generations/000004.json") == nil)
        #expect(await !control.core.canStartAgain)
        // It reads again: control begins again, with all that there was.
        try newest.write(to: URL(fileURLWithPath: path))
        #expect(await control.core.canStartAgain)
        let again = try await stage.start()
        #expect(try await again.get(BoxStatus.self, "status").generation == 3)
        #expect(try await again.get(CameraDocument.self, "cameras/b").hasPassword)
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@a.service", "watchbox-camera@b.service"])
        // It never does: somebody goes on from what runs.
        try Data("{".utf8).write(to: URL(fileURLWithPath: path))
        let older = try await stage.start()
        let answer = await older.send(.post, "config/rollback", #"{"generation":2}"#)
        #expect(answer.status == 200, "\(answer.text)")
        let settled = try await older.get(BoxStatus.self, "status")
        #expect(settled.generation == 4 && settled.configurationProblem == nil)
        #expect(await older.send(.post, "cameras", #"{"id":"c","source":"test:"}"#).status == 201)
        #expect(try await stage.start().get(BoxStatus.self, "status").configurationProblem == nil)
    }

    /// How the generations of a box cannot be read.
    enum Unreadable: String, CaseIterable {
        /// Files that are damaged, of another generation, of a version to come; and no directory.
        case damaged, misplaced, fromFuture, noDirectory

        func make(_ directory: String) throws {
            for name in ["000001", "000002"] {
                let file = URL(fileURLWithPath: "\(directory)/\(name).json")
                let text = try String(contentsOf: file, encoding: .utf8)
                let bad =
                    switch self {
                    case .damaged, .noDirectory: "{"
                    case .misplaced: text.replacing("\"number\":\(name.suffix(1))", with: "\"number\":7")
                    case .fromFuture: text.replacing(Generation.currentSchema, with: "watchbox.generation/3")
                    }
                #expect(bad != text)
                try Data(bad.utf8).write(to: file)
            }
            guard self == .noDirectory else { return }
            try FileManager.default.removeItem(atPath: directory)
            try Data().write(to: URL(fileURLWithPath: directory))
        }
    }

    @Test(arguments: Unreadable.allCases)
    func `while no generation reads, whatever runs goes on`(how: Unreadable) async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let first = try await stage.start()
        await first.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        try how.make("\(stage.root)/state/generations")
        stage.units.forgetCalls()
        let control = try await stage.start()
        for _ in 0..<10 { await control.core.tick() }
        await control.reload()
        #expect(stage.units.words == [])
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@a.service"])
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.state == .degraded && status.configurationProblem?.contains("what runs goes on") == true)
        #expect(await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#).status >= 400)
        #expect(stage.file("state/generations/000003.json") == nil)
    }

    @Test func `the last ten generations are kept`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"c","source":"test:"}"#)
        for number in 1...12 { await control.send(.patch, "cameras/c", #"{"name":"Name \#(number)"}"#) }
        let history = try await control.get(GenerationListDocument.self, "config/history")
        #expect(history.generations.map(\.number) == Array((5...14).reversed()))
        #expect(await control.send(.post, "config/rollback", #"{"generation":2}"#).problem?.code == .noSuchGeneration)
    }
}

struct ConfirmationTests {
    private func applied(_ stage: ControlStage) async throws -> ControlService {
        try stage.write(ControlStage.connections + "camera.a = { source = \"test:\" }\n")
        let control = try await stage.start()
        try stage.write(ControlStage.connections + "camera.b = { source = \"test:\" }\n")
        let answer = await control.send(.post, "config/apply", #"{"confirmSeconds":90}"#)
        let difference = try answer.document(ConfigurationDiff.self)
        #expect(difference.confirmWithinSeconds == 90)
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@b.service"])
        return control
    }

    private func isBack(_ stage: ControlStage) -> Bool {
        Set(stage.units.running.keys) == ["watchbox-camera@a.service"]
    }

    @Test func `an unconfirmed change is taken back`() async throws {
        let stage = try ControlStage()
        let control = try await applied(stage)
        #expect(await control.send(.post, "cameras", #"{"id":"c","source":"test:"}"#).problem?.code == .busy)
        stage.now.withLock { $0 += .seconds(89) }
        await control.core.tick()
        #expect(!isBack(stage))
        stage.now.withLock { $0 += .seconds(2) }
        await control.core.tick()
        await control.core.unitJobs.settled()
        #expect(isBack(stage))
        let events = try #require(control.core.memory).events(after: 0, limit: 100)
        #expect(events.contains { $0.code == "WB-1007" })
        // What is still on disk is not taken by the next start, but by the next apply.
        let next = try await stage.start()
        #expect(isBack(stage))
        #expect(await next.send(.post, "config/apply").status == 200)
        #expect(!isBack(stage))
    }

    @Test func `a note that stayed behind takes back nothing that came later`() async throws {
        let stage = try ControlStage()
        let control = try await applied(stage)
        let note = try #require(stage.file("state/generations/pending.json"))
        #expect(await control.send(.post, "config/confirm").status == 204)
        #expect(await control.send(.post, "cameras", #"{"id":"c","source":"test:"}"#).status == 201)
        try note.write(toFile: "\(stage.root)/state/generations/pending.json", atomically: true, encoding: .utf8)
        try stage.reboot()
        _ = try await stage.start()
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@b.service", "watchbox-camera@c.service"])
        #expect(stage.file("state/generations/pending.json") == nil)
    }

    @Test func `a change that is confirmed stays`() async throws {
        let stage = try ControlStage()
        let control = try await applied(stage)
        #expect(await control.send(.post, "config/confirm").status == 204)
        #expect(await control.send(.post, "config/confirm").status == 404)
        stage.now.withLock { $0 += .seconds(500) }
        await control.core.tick()
        _ = try await stage.start()
        #expect(!isBack(stage))
    }

    @Test func `a restart of control does not lengthen the time`() async throws {
        let stage = try ControlStage()
        _ = try await applied(stage)
        stage.now.withLock { $0 += .seconds(60) }
        let next = try await stage.start()
        #expect(!isBack(stage))
        #expect(await next.core.pending != nil)
        stage.now.withLock { $0 += .seconds(31) }
        await next.core.tick()
        await next.core.unitJobs.settled()
        #expect(isBack(stage))
    }

    @Test func `when the time ends while control is away, the next start takes it back`() async throws {
        let stage = try ControlStage()
        _ = try await applied(stage)
        stage.now.withLock { $0 += .seconds(91) }
        _ = try await stage.start()
        #expect(isBack(stage))
    }

    @Test func `a reboot takes it back`() async throws {
        let stage = try ControlStage()
        _ = try await applied(stage)
        try stage.reboot()
        let control = try await stage.start()
        #expect(isBack(stage))
        #expect(await control.core.pending == nil)
    }

    @Test(arguments: [9, 3601, -1])
    func `the time has limits`(seconds: Int) async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        try stage.write(ControlStage.two)
        let answer = await control.send(.post, "config/apply", #"{"confirmSeconds":\#(seconds)}"#)
        #expect(answer.status == 400)
        #expect(stage.units.calls == [])
    }
}

struct RollbackTests {
    @Test func `going back brings back a camera that was removed, and holds over a restart`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"a","name":"Ay","source":"test:"}"#)
        await control.send(.delete, "cameras/a")
        await control.send(.post, "cameras", #"{"id":"b","source":"test:"}"#)
        let dry = try await control.send(.post, "config/rollback", #"{"generation":2}"#, query: ["dryRun": "1"])
            .document(ConfigurationDiff.self)
        #expect(dry.changes.map(\.object).sorted() == ["camera.a", "camera.b"])
        #expect(await control.send(.post, "config/rollback", #"{"generation":2}"#).status == 200)
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@a.service"])
        let history = try await control.get(GenerationListDocument.self, "config/history")
        #expect(history.generations.first?.cause == "rollback to 2")
        stage.units.forgetCalls()
        let next = try await stage.start()
        #expect(stage.units.calls == [])
        #expect(try await next.get(CameraListDocument.self, "cameras").cameras.map(\.name) == ["Ay"])
        #expect(await next.send(.patch, "cameras/a", #"{"name":"Ah"}"#).status == 200)
    }

    @Test func `going back from files holds until they change or are applied`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections + "camera.a = { source = \"test:\" }\n")
        var control = try await stage.start()
        try stage.write(ControlStage.connections + "camera.b = { source = \"test:\" }\n")
        #expect(await control.send(.post, "config/apply").status == 200)
        #expect(await control.send(.post, "config/rollback").status == 200)
        control = try await stage.start()
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@a.service"])
        let difference = try await control.get(ConfigurationDiff.self, "config/diff")
        #expect(difference.changes.map(\.object) == ["camera.a", "camera.b"])
        try stage.write(ControlStage.connections + "camera.c = { source = \"test:\" }\n")
        control = try await stage.start()
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@c.service"])
    }

    @Test func `an export reads back to the same configuration`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        await control.send(.put, "relays/main", #"{"url":"rtmp://127.0.0.1/live"}"#)
        await control.send(.put, "kas", #"{"url":"http://127.0.0.1:9443/kas"}"#)
        await control.send(.post, "cameras", #"{"id":"a","source":"test:","settings":{"rate":15,"viewers":["x"]}}"#)
        let toml = await control.send(.get, "config/export").text
        let other = try ControlStage()
        let copy = try await other.start()
        let body = JSONDocument.text(ImportRequest(toml: toml))
        #expect(await copy.send(.post, "config/import", body).status == 200)
        #expect(await copy.core.current.settings == control.core.current.settings)
        #expect(other.units.calls(of: "a") == ["start"])
        #expect(await copy.send(.post, "config/import", body).status == 409)
        #expect(
            await copy.send(.post, "config/import", JSONDocument.text(ImportRequest(toml: toml, replace: true))).status
                == 200)
        #expect(other.units.calls(of: "a") == ["start"])
    }
}

struct ImportTests {
    @Test func `a replaced camera has the default of what the file does not say`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"x","source":"test:"}"#)
        await control.send(
            .post, "cameras", #"{"id":"a","source":"test:","name":"A","settings":{"rate":15,"viewers":["x"]}}"#)
        await control.send(.patch, "cameras/a", #"{"active":false}"#)
        let before = try #require(await control.core.current.settings.cameras["a"])
        #expect(before.grid == 1 && before.name == "A" && before.video.frameRate == 15)
        let toml = "camera.a = { source = \"test:\" }\n"
        let generation = await control.core.current.number
        let late = JSONDocument.text(ImportRequest(toml: toml, replace: true, ifGeneration: generation - 1))
        #expect(await control.send(.post, "config/import", late).problem?.code == .conflict)
        #expect(await control.core.current.settings.cameras["a"] == before)
        let body = JSONDocument.text(ImportRequest(toml: toml, replace: true, ifGeneration: generation))
        #expect(await control.send(.post, "config/import", body).status == 200)
        let camera = try #require(await control.core.current.settings.cameras["a"])
        #expect(camera.grid == 0 && (camera.name ?? "a") == "a" && camera.video.frameRate != 15 && camera.active)
        #expect(await control.core.current.number == generation + 1)
    }
}

struct SavingTests {
    @Test func `a box that cannot save runs all the same, says so, and saves later`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        stage.steps.fail(at: 1)
        let control = try await stage.start()
        #expect(stage.units.running.count == 2)
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.configurationProblem?.contains("WB-3002") == true)
        #expect(status.generation == 0)
        for _ in 0..<5 { await control.core.tick() }
        let later = try await control.get(BoxStatus.self, "status")
        #expect(later.configurationProblem == nil)
        #expect(later.generation == 1)
        #expect(
            try await control.get(GenerationListDocument.self, "config/history").generations.map(\.cause) == ["boot"])
    }

    @Test func `without a database everything runs and can be changed, and it is reported`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let first = try await stage.start()
        await first.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        for suffix in ["", "-wal", "-shm"] {
            try? FileManager.default.removeItem(atPath: "\(stage.root)/state/state.db\(suffix)")
        }
        try FileManager.default.createDirectory(
            atPath: "\(stage.root)/state/state.db", withIntermediateDirectories: false)
        try stage.reboot()
        let control = try await stage.start()
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@a.service"])
        #expect(try await control.get(BoxStatus.self, "status").state == .degraded)
        #expect(await control.send(.post, "streams/a/restart").status == 200)
        #expect(await control.send(.post, "cameras", #"{"id":"b","source":"test:"}"#).status == 201)
        #expect(try await control.get(CameraListDocument.self, "cameras").cameras.map(\.id).sorted() == ["a", "b"])
        #expect(await control.send(.post, "config/rollback").status == 200)
        _ = try await stage.start()
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@a.service"])
    }

    @Test func `an answer does not wait for a unit longer than its timeout`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let control = try await stage.start()
        stage.units.hold()
        control.core.unitJobs.request(.restart, "watchbox-camera@a.service")
        let waiting = Task { try await control.core.unitJobs.settled("watchbox-camera@a.service") }
        waiting.cancel()
        try await waiting.value
        #expect(control.core.unitJobs.busy == ["watchbox-camera@a.service"])
        stage.units.release()
        await control.core.unitJobs.settled()
    }
}
