import BoxConfiguration
import BoxMemory
import CameraModel
import ControlAPI
import CredentialStore
import ErrorCatalog
import Foundation
import Settings
import Synchronization
import Testing

@testable import ControlPlane

/// A camera that gets another ID.
@Suite(.timeLimit(.minutes(15)))
struct RenameTests {
    private static let front = #"{"id":"front","source":"test:","settings":{"secret":"password","bitrate":500000}}"#

    /// A box with two cameras of the store; `front` has a password.
    private func box() async throws -> (stage: ControlStage, control: ControlService) {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        await control.send(.post, "cameras", Self.front)
        #expect(await control.send(.put, "cameras/front/password", #"{"secret":"one"}"#).status == 204)
        try #require(Set(stage.units.running.keys) == Self.units("a", "front"))
        stage.units.forgetCalls()
        stage.steps.reset()
        return (stage, control)
    }

    private static func units(_ cameras: String...) -> Set<String> {
        Set(cameras.map { "watchbox-camera@\($0).service" })
    }

    /// What is stored for this ID, as far as the device key opens it.
    private func password(_ stage: ControlStage, _ id: String) throws -> String? {
        try stage.makeCredentials().reveal(name: "password", scope: "camera-\(id)").map {
            String(decoding: $0, as: UTF8.self)
        }
    }

    private func configuration(_ stage: ControlStage, _ id: String) throws -> CameraConfiguration {
        let text = try #require(stage.file("run/service/camera-\(id).json"))
        return try JSONDocument.decode(CameraConfiguration.self, from: Array(text.utf8))
    }

    private func notes(_ stage: ControlStage) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: stage.paths.removals)) ?? []
    }

    @Test func `it stays the camera that it was, and its stream keeps its name`() async throws {
        let (stage, control) = try await box()
        await control.core.keep(LearnedCamera(manufacturer: "Example", address: "192.0.2.7"), of: "front")
        try await control.keepThumbnail([0xff, 0xd8, 0xff, 0], of: "front")
        let before = try #require(await control.stored("front"))
        let former = try configuration(stage, "front")
        let fileA = stage.file("run/service/camera-a.json")

        let answer = await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#)
        try #require(answer.status == 200, "\(answer.text)")
        #expect(answer.location == "/api/v1/cameras/porch" && answer.eTag == "\"\(before.changed + 1)\"")
        let camera = try answer.document(CameraDocument.self)
        #expect(camera.id == "porch" && camera.name == "porch" && camera.gridPosition == 1 && camera.hasPassword)
        #expect(camera.manufacturer == "Example" && camera.address == "192.0.2.7" && camera.stream.stream == "front")
        #expect(await control.send(.get, "cameras/front").status == 404)

        var expected = before
        expected.id = "porch"
        expected.name = "porch"
        expected.settings["stream"] = .string("front")
        expected.changed += 1
        #expect(await control.stored("porch") == expected)
        #expect(try await control.keptThumbnail("porch") == [0xff, 0xd8, 0xff, 0])

        // One camera restarts, when its former unit has ended.
        #expect(stage.units.words == ["stop watchbox-camera@front.service", "start watchbox-camera@porch.service"])
        #expect(Set(stage.units.running.keys) == Self.units("a", "porch"))
        #expect(stage.file("run/service/camera-a.json") == fileA)
        #expect(stage.file("run/service/camera-front.json") == nil)
        let now = try configuration(stage, "porch")
        #expect(now.streamName == "front" && now.relay == former.relay && now.instance == former.instance)
        #expect(now.source == former.source)

        // Its secrets are there, and nowhere else; and so after the next start.
        #expect(try password(stage, "porch") == "one")
        #expect(try stage.makeCredentials().names(scope: "camera-front") == [])
        #expect(notes(stage) == [])
        stage.units.forgetCalls()
        let hint = try await stage.start()
        #expect(stage.units.calls == [])
        #expect(try password(stage, "porch") == "one")
        #expect(
            try await hint.get(GenerationListDocument.self, "config/history").generations.first?.cause
                == "camera rename front porch")
    }

    @Test func `one event reports it, and those of before keep the former ID`() async throws {
        let (stage, control) = try await box()
        defer { withExtendedLifetime(stage) {} }
        let memory = try #require(control.core.memory)
        let last = try memory.latestEventID()
        let answer = await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#)
        #expect(answer.status == 200, "\(answer.text)")
        let events = try memory.events(after: last, limit: 100, topics: ["camera"])
        #expect(events.map(\.object) == ["porch"] && events.map(\.text) == ["renamed from front"])
        #expect(try memory.events(after: 0, limit: 100, topics: ["camera"]).contains { $0.object == "front" })
        let stream = await control.send(.post, "cameras/porch/rename", #"{"id":"yard","stream":"yard"}"#)
        #expect(stream.status == 200, "\(stream.text)")
        #expect(
            try memory.events(after: last, limit: 100, topics: ["camera"]).last?.text
                == "renamed from porch, and so is its stream")
    }

    @Test func `a name that its owner gave stays, and a stream that is the ID again follows it again`() async throws {
        let (stage, control) = try await box()
        defer { withExtendedLifetime(stage) {} }
        await control.send(.patch, "cameras/front", #"{"name":"Front door"}"#)
        let before = try #require(await control.core.current.store.camera("front"))
        let there = try await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#)
            .document(CameraDocument.self)
        #expect(there.name == "Front door" && there.stream.stream == "front")
        // A new camera of the former ID needs a stream of its own.
        let taken = await control.send(.post, "cameras", #"{"id":"front","source":"test:"}"#)
        #expect(taken.status == 422 && taken.problem?.detail.contains("camera.") == true, "\(taken.text)")
        #expect(await control.send(.post, "cameras/porch/rename", #"{"id":"front"}"#).status == 200)
        let back = try #require(await control.core.current.store.camera("front"))
        #expect(back.settings == before.settings && back.name == before.name && back.uuid == before.uuid)
    }

    @Test func `a stream is renamed when that is asked for`() async throws {
        let (stage, control) = try await box()
        let answer = await control.send(.post, "cameras/front/rename", #"{"id":"porch","stream":"porch"}"#)
        #expect(try answer.document(CameraDocument.self).stream.stream == "porch")
        #expect(try configuration(stage, "porch").streamName == "porch")
        #expect(await control.core.current.store.camera("porch")?.settings["stream"] == nil)
        #expect(await control.send(.post, "cameras/porch/rename", #"{"id":"yard","stream":"a"}"#).status == 422)
        #expect(await control.send(.post, "cameras/porch/rename", #"{"id":"yard","stream":"a b"}"#).status == 422)
        #expect(try await control.get(CameraDocument.self, "cameras/porch").stream.stream == "porch")
        #expect(stage.units.calls(of: "a") == [])
    }

    @Test(arguments: ["streams/front/stop", "cameras/front/disable"])
    func `one that does not run does not run under its new ID`(path: String) async throws {
        let (stage, control) = try await box()
        #expect(await control.send(.post, path).status < 300)
        #expect(await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#).status == 200)
        #expect(Set(stage.units.running.keys) == Self.units("a"))
        #expect(stage.units.calls(of: "porch") == [])
        let hint = try await stage.start()
        for _ in 0..<5 { await hint.core.tick() }
        await hint.core.unitJobs.settled()
        #expect(Set(stage.units.running.keys) == Self.units("a"))
        #expect(stage.file("run/service/camera-front.stopped") == nil)
        let way = path.hasPrefix("streams") ? "streams/porch/start" : "cameras/porch/enable"
        #expect(await hint.send(.post, way).status == 200)
        #expect(Set(stage.units.running.keys) == Self.units("a", "porch"))
    }

    @Test func `the new unit waits until the former one has ended`() async throws {
        let (stage, control) = try await box()
        stage.units.hold()
        let rename = Task { await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#) }
        while stage.units.calls.isEmpty { await Task.yield() }
        // Time enough for one that does not wait.
        try await Task.sleep(for: .milliseconds(50))
        #expect(stage.units.words == ["stop watchbox-camera@front.service"])
        await control.core.tick()
        #expect(stage.units.words == ["stop watchbox-camera@front.service"])
        stage.units.release()
        #expect(await rename.value.status == 200)
        #expect(stage.units.words == ["stop watchbox-camera@front.service", "start watchbox-camera@porch.service"])
    }

    @Test func `what cannot be is refused, with why and what to do, and changes nothing`() async throws {
        let (stage, control) = try await box()
        try stage.write("\ncamera.gate = { source = \"test:\" }\n", to: "conf.d/10-cams.toml")
        #expect(await control.send(.post, "config/apply").status == 200)
        stage.units.forgetCalls()
        let generation = await control.core.current.number
        let tag = await control.send(.get, "cameras/front").eTag
        let cases: [(path: String, id: String, code: ErrorCode, words: String)] = [
            ("gate", "porch", .definedInFile, "conf.d/10-cams.toml:2"),
            ("front", "gate", .definedInFile, "conf.d/10-cams.toml:2"), ("front", "a", .exists, "a already"),
            ("front", "front", .badRequest, "its ID already"), ("front", "../x", .invalidValue, "not a camera's ID"),
            ("nobody", "porch", .notFound, "no camera nobody"),
        ]
        for (path, id, code, words) in cases {
            let answer = await control.send(.post, "cameras/\(path)/rename", #"{"id":"\#(id)"}"#)
            #expect(answer.problem?.code == code, "\(answer.text)")
            #expect(answer.problem?.detail.contains(words) == true, "\(answer.text)")
            #expect(answer.problem?.hint.isEmpty == false)
        }
        #expect(await control.send(.patch, "cameras/front", #"{"name":"Other"}"#).status == 200)
        let late = await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#, ifMatch: tag)
        #expect(late.status == 412)
        for secret in ["", String(repeating: "x", count: 4097)] {
            let body = JSONDocument.text(CameraRenameRequest(id: "porch", password: secret))
            #expect(await control.send(.post, "cameras/front/rename", body).status == 400)
        }
        let patch = await control.send(.patch, "cameras/front", #"{"id":"porch"}"#)
        #expect(patch.status == 400 && patch.problem?.hint.contains("camera rename front") == true)

        try stage.write("\ncamera.shed = { source = \"test:\" }\n", to: "conf.d/10-cams.toml")
        #expect(await control.send(.post, "config/apply", #"{"confirmSeconds":90}"#).status == 200)
        let pending = await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#)
        #expect(pending.problem?.code == .busy, "\(pending.text)")
        #expect(await control.core.current.number == generation + 2)
        #expect(stage.units.calls(of: "front") == [])
        #expect(try password(stage, "front") == "one")
        #expect(try stage.makeCredentials().names(scope: "camera-porch") == [])
        #expect(notes(stage) == [])
    }

    @Test func `a dry run says what happens, and does nothing`() async throws {
        let (stage, control) = try await box()
        let answer = await control.send(
            .post, "cameras/front/rename", #"{"id":"porch"}"#, query: ["dryRun": "1"])
        let difference = try answer.document(ConfigurationDiff.self)
        #expect(difference.changes.map(\.object) == ["camera.front", "camera.porch"])
        #expect(difference.changes.map(\.action) == [.stopCamera, .startCamera])
        #expect(stage.units.calls == [] && stage.steps.names == [])
        #expect(await control.send(.get, "cameras/porch").status == 404)
    }

    // MARK: Secrets

    /// As it is, and with a password that is given again.
    private static let bodies = [#"{"id":"porch"}"#, #"{"id":"porch","password":"one"}"#]

    @Test(arguments: bodies)
    func `killed between any two steps, the camera has its secret, and no other ID has it`(body: String) async throws {
        let (whole, done) = try await box()
        #expect(await done.send(.post, "cameras/front/rename", body).status == 200)
        let steps = whole.steps.names
        try #require(steps.contains("credentials: copy camera-front"))
        try #require(steps.contains("credentials: remove camera-front"))
        for step in 1...steps.count {
            let (stage, control) = try await box()
            stage.steps.kill(at: step)
            await control.send(.post, "cameras/front/rename", body)
            stage.steps.reset()
            let hint = try await stage.start()
            try await check(stage, hint, ["front", "porch"], "step \(step): \(steps[step - 1])")
        }
    }

    @Test(arguments: bodies)
    func `when a step fails, the camera has its secret, and no other ID has it`(body: String) async throws {
        let (whole, done) = try await box()
        #expect(await done.send(.post, "cameras/front/rename", body).status == 200)
        let steps = whole.steps.names
        for step in 1...steps.count {
            let (stage, control) = try await box()
            stage.steps.fail(at: step)
            let answer = await control.send(.post, "cameras/front/rename", body)
            stage.steps.reset()
            let id = answer.status == 200 ? "porch" : "front"
            #expect(try password(stage, id) == "one", "step \(step): \(steps[step - 1])")
            let hint = try await stage.start()
            try await check(stage, hint, ["front", "porch"], "step \(step): \(steps[step - 1])")
        }
    }

    /// One of both IDs has the camera and its password, the other one nothing.
    private func check(
        _ stage: ControlStage, _ control: ControlService, _ ids: [String], _ label: String
    ) async throws {
        let there = await control.core.current.settings.cameras.keys.filter { ids.contains($0) }
        #expect(there.count == 1, "\(label)")
        for id in ids {
            let isThere = there.contains(id)
            #expect(try password(stage, id) == (isThere ? "one" : nil), "\(label)")
            if !isThere { #expect(try stage.makeCredentials().names(scope: "camera-\(id)") == [], "\(label)") }
        }
        #expect(notes(stage) == [], "\(label)")
        let names = Set(there + ["a"])
        #expect(Set(stage.units.running.keys) == Set(names.map { "watchbox-camera@\($0).service" }), "\(label)")
    }

    @Test func `going back brings the former ID back, with everything`() async throws {
        let (stage, control) = try await box()
        let memory = try #require(control.core.memory)
        await control.core.keep(LearnedCamera(manufacturer: "Example"), of: "front")
        let before = try #require(await control.stored("front"))
        #expect(await control.send(.post, "cameras/front/rename", #"{"id":"porch","stream":"porch"}"#).status == 200)
        stage.units.forgetCalls()
        #expect(await control.send(.post, "config/rollback").status == 200)
        var back = try #require(await control.stored("front"))
        back.changed = before.changed
        #expect(back == before)
        #expect(await control.core.remembered("front")?.manufacturer == "Example")
        #expect(try password(stage, "front") == "one")
        #expect(try stage.makeCredentials().names(scope: "camera-porch") == [])
        #expect(stage.units.calls(of: "porch") == ["stop"] && stage.units.calls(of: "front").count == 1)
        #expect(stage.units.calls(of: "a") == [] && notes(stage) == [])
        #expect(
            try memory.events(after: 0, limit: 1000).last { $0.topic == "camera" }?.text
                == "renamed from porch, and so is its stream")

        // And when no one confirms that, it is porch again.
        #expect(await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#).status == 200)
        #expect(await control.send(.post, "config/rollback", #"{"confirmSeconds":30}"#).status == 200)
        #expect(try password(stage, "front") == "one")
        stage.now.withLock { $0 += .seconds(60) }
        await control.core.tick()
        #expect(try await control.get(CameraDocument.self, "cameras/porch").hasPassword)
        #expect(try password(stage, "porch") == "one" && notes(stage) == [])
        // Or a boot does it.
        #expect(await control.send(.post, "config/rollback", #"{"confirmSeconds":30}"#).status == 200)
        try stage.reboot()
        _ = try await stage.start()
        #expect(Set(stage.units.running.keys) == Self.units("a", "porch"))
        #expect(try password(stage, "porch") == "one" && password(stage, "front") == nil && notes(stage) == [])
    }

    @Test func `killed while going back, the camera has its secret, and no other ID has it`() async throws {
        func renamed() async throws -> (ControlStage, ControlService) {
            let (stage, control) = try await box()
            #expect(await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#).status == 200)
            stage.steps.reset()
            return (stage, control)
        }
        let (whole, done) = try await renamed()
        #expect(await done.send(.post, "config/rollback").status == 200)
        let steps = whole.steps.names
        for step in 1...steps.count {
            let (stage, control) = try await renamed()
            stage.steps.kill(at: step)
            await control.send(.post, "config/rollback")
            stage.steps.reset()
            let hint = try await stage.start()
            try await check(stage, hint, ["front", "porch"], "step \(step): \(steps[step - 1])")
        }
    }

    @Test func `going back to another camera of the same ID, its secrets are not those of this one`() async throws {
        let (stage, control) = try await box()
        let first = try #require(await control.core.current.store.camera("front")?.uuid)
        #expect(await control.send(.delete, "cameras/front").status == 204)
        await control.send(.post, "cameras", Self.front)
        #expect(await control.send(.put, "cameras/front/password", #"{"secret":"two"}"#).status == 204)
        let generations = try await control.get(GenerationListDocument.self, "config/history").generations
        let requested = try #require(generations.first { $0.cause == "camera add front" && !$0.isCurrent })
        #expect(await control.send(.post, "config/rollback", #"{"generation":\#(requested.number)}"#).status == 200)
        #expect(await control.core.current.store.camera("front")?.uuid == first)
        #expect(try stage.makeCredentials().names(scope: "camera-front") == [])
        #expect(Set(stage.units.running.keys) == Self.units("a") && notes(stage) == [])
    }

    @Test func `going back over IDs that were exchanged gives each camera its own`() async throws {
        let (stage, control) = try await box()
        let uuids = await [control.stored("a")?.uuid, control.stored("front")?.uuid]
        let start = await control.core.current.number
        for (from, to) in [("a", "x"), ("front", "a"), ("x", "front")] {
            let answer = await control.send(.post, "cameras/\(from)/rename", #"{"id":"\#(to)"}"#)
            #expect(answer.status == 200, "\(answer.text)")
        }
        #expect(try password(stage, "a") == "one")
        let answer = await control.send(.post, "config/rollback", #"{"generation":\#(start)}"#)
        #expect(answer.status == 200, "\(answer.text)")
        let now = await [control.stored("a")?.uuid, control.stored("front")?.uuid]
        #expect(now == uuids)
        // No camera gets another one's password; it has to be given again.
        #expect(try password(stage, "a") == nil && password(stage, "front") == nil && notes(stage) == [])
    }

    // MARK: Going back until somebody confirms it

    /// How a change ends that waits to be confirmed.
    enum Ending: String, CaseIterable, CustomTestStringConvertible {
        case time, reboot, restart, confirmation

        var testDescription: String { rawValue }
    }

    private func end(
        _ stage: ControlStage, _ control: ControlService, _ ending: Ending
    ) async throws -> ControlService {
        var control = control
        switch ending {
        case .confirmation: #expect(await control.send(.post, "config/confirm").status == 204)
        case .reboot:
            try stage.reboot()
            control = try await stage.start()
        case .time, .restart:
            if ending == .restart { control = try await stage.start() }
            stage.now.withLock { $0 += .seconds(60) }
            await control.core.tick()
        }
        await control.core.unitJobs.settled()
        return control
    }

    /// Files of secrets, by the folder and the ID that they are of.
    private func secrets(_ stage: ControlStage) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: "\(stage.root)/state")
            .filter { $0.contains("camera-") && $0.split(separator: "/").count == 3 }.sorted()
    }

    @Test(arguments: Ending.allCases)
    func `going back over a renaming, what only systemd opens is kept until it is confirmed`(
        ending: Ending
    ) async throws {
        let (stage, encryption, first) = try await sealedBox()
        defer { withExtendedLifetime(encryption) {} }
        encryption.release()
        let renamed = await first.send(.post, "cameras/front/rename", #"{"id":"porch","password":"one"}"#)
        try #require(renamed.status == 200, "\(renamed.text)")
        let uuid = try #require(await first.core.current.store.camera("porch")?.uuid)
        #expect(await first.send(.post, "config/rollback", #"{"confirmSeconds":30}"#).status == 200)
        #expect(try await first.get(StreamDocument.self, "streams/front").code == .missingSecret)
        #expect(notes(stage) == [])

        let control = try await end(stage, first, ending)
        #expect(notes(stage) == [])
        if ending == .confirmation {
            #expect(try secrets(stage) == [])
            return
        }
        #expect(try secrets(stage) == ["credstore/camera-porch/password"])
        let camera = try await control.get(CameraDocument.self, "cameras/porch")
        #expect(camera.hasPassword && camera.stream.code != .missingSecret)
        #expect(await control.core.current.store.camera("porch")?.uuid == uuid)
        #expect(Set(stage.units.running.keys) == Self.units("porch"))
    }

    @Test(arguments: Ending.allCases)
    func `going back over IDs that were exchanged, each keeps its own until it is confirmed`(
        ending: Ending
    ) async throws {
        let (stage, first) = try await box()
        #expect(await first.send(.put, "cameras/a/password", #"{"secret":"alpha"}"#).status == 204)
        let start = await first.core.current.number
        for (from, to) in [("a", "x"), ("front", "a"), ("x", "front")] {
            #expect(await first.send(.post, "cameras/\(from)/rename", #"{"id":"\#(to)"}"#).status == 200)
        }
        let body = #"{"generation":\#(start),"confirmSeconds":30}"#
        #expect(await first.send(.post, "config/rollback", body).status == 200)
        // Until then no camera has another one's.
        #expect(try password(stage, "a") == nil && password(stage, "front") == nil && notes(stage) == [])
        let control = try await end(stage, first, ending)
        #expect(notes(stage) == [])
        if ending == .confirmation {
            #expect(try secrets(stage) == [])
            return
        }
        #expect(try password(stage, "a") == "one" && password(stage, "front") == "alpha")
        #expect(try secrets(stage) == ["sealed/camera-a/password", "sealed/camera-front/password"])
        #expect(try await control.get(CameraDocument.self, "cameras/a").hasPassword)
        #expect(Set(stage.units.running.keys) == Self.units("a", "front"))
    }

    @Test(arguments: Ending.allCases)
    func `going back to another camera of the same ID, this one keeps its own until it is confirmed`(
        ending: Ending
    ) async throws {
        let (stage, first) = try await box()
        let former = await first.core.current.number
        #expect(await first.send(.delete, "cameras/front").status == 204)
        await first.send(.post, "cameras", Self.front)
        #expect(await first.send(.put, "cameras/front/password", #"{"secret":"two"}"#).status == 204)
        let body = #"{"generation":\#(former),"confirmSeconds":30}"#
        #expect(await first.send(.post, "config/rollback", body).status == 200)
        #expect(try password(stage, "front") == nil)
        // The other one is given one meanwhile.
        #expect(await first.send(.put, "cameras/front/password", #"{"secret":"three"}"#).status == 204)
        _ = try await end(stage, first, ending)
        #expect(try password(stage, "front") == (ending == .confirmation ? "three" : "two"))
        #expect(try secrets(stage) == ["sealed/camera-front/password"] && notes(stage) == [])
        #expect(Set(stage.units.running.keys) == Self.units("a", "front"))
    }

    /// Killed at any step of going back, or of taking that back: unconfirmed, the camera has its secret.
    @Test(arguments: [false, true])
    func `killed while it waits to be confirmed, the camera has its secret in the end`(isTakenBack: Bool) async throws {
        let confirmed = #"{"confirmSeconds":30}"#
        func renamed() async throws -> (ControlStage, ControlService) {
            let (stage, encryption, control) = try await sealedBox()
            defer { withExtendedLifetime(encryption) {} }
            encryption.release()
            let answer = await control.send(.post, "cameras/front/rename", #"{"id":"porch","password":"one"}"#)
            try #require(answer.status == 200, "\(answer.text)")
            if isTakenBack { #expect(await control.send(.post, "config/rollback", confirmed).status == 200) }
            stage.steps.reset()
            return (stage, control)
        }
        func go(_ stage: ControlStage, _ control: ControlService) async {
            guard isTakenBack else {
                await control.send(.post, "config/rollback", confirmed)
                return
            }
            stage.now.withLock { $0 += .seconds(60) }
            await control.core.tick()
            await control.core.unitJobs.settled()
        }
        let (whole, done) = try await renamed()
        await go(whole, done)
        let steps = whole.steps.names
        for step in 1...steps.count {
            let (stage, control) = try await renamed()
            stage.steps.kill(at: step)
            await go(stage, control)
            stage.steps.reset()
            let hint = try await stage.start()
            stage.now.withLock { $0 += .seconds(60) }
            for _ in 0..<2 { await hint.core.tick() }
            await hint.core.unitJobs.settled()
            let label = "step \(step): \(steps[step - 1])"
            #expect(await hint.core.current.settings.cameras.keys.sorted() == ["porch"], "\(label)")
            #expect(try secrets(stage) == ["credstore/camera-porch/password"], "\(label)")
            #expect(Set(stage.units.running.keys) == Self.units("porch"), "\(label)")
            #expect(notes(stage) == [], "\(label)")
        }
    }

    // MARK: Secrets that only systemd opens

    private func sealedBox() async throws -> (ControlStage, HeldEncryption, ControlService) {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let encryption = try HeldEncryption(stage)
        let control = try await stage.start()
        await control.send(.post, "cameras", Self.front)
        encryption.release()
        #expect(await control.send(.put, "cameras/front/password", #"{"secret":"one"}"#).status == 204)
        await encryption.isAsked()
        stage.units.forgetCalls()
        return (stage, encryption, control)
    }

    @Test func `a password that only systemd opens is given again, and nothing else changes meanwhile`() async throws {
        let (stage, encryption, control) = try await sealedBox()
        let refused = await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#)
        #expect(refused.status == 422 && refused.problem?.code == .missingSecret, "\(refused.text)")
        #expect(refused.problem?.hint.contains("camera rename front porch --password-file") == true)
        let dry = await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#, query: ["dryRun": "1"])
        #expect(dry.problem?.code == .missingSecret)

        let body = #"{"id":"porch","password":"one"}"#
        let rename = Task { await control.send(.post, "cameras/front/rename", body) }
        await encryption.isAsked()
        let others: [(APIRequest.Method, String, String)] = [
            (.post, "cameras", #"{"id":"porch","source":"test:"}"#), (.delete, "cameras/front", ""),
            (.post, "cameras/front/rename", #"{"id":"yard","password":"x"}"#), (.post, "config/apply", ""),
            (.post, "config/rollback", ""),
        ]
        for (method, path, body) in others {
            let answer = await control.send(method, path, body)
            #expect(answer.problem?.code == .busy, "\(path): \(answer.text)")
        }
        encryption.release()
        let answer = await rename.value
        try #require(answer.status == 200, "\(answer.text)")
        #expect(!answer.text.contains(#""one""#))
        #expect(stage.file("state/credstore/camera-porch/password") == "c2VhbGVk")
        #expect(try stage.makeCredentials().names(scope: "camera-front") == [] && notes(stage) == [])
        #expect(stage.units.words == ["stop watchbox-camera@front.service", "start watchbox-camera@porch.service"])

        // Back to a generation of before: what was sealed for the new ID stays behind, and that is reported.
        #expect(await control.send(.post, "config/rollback").status == 200)
        #expect(try await control.get(CameraDocument.self, "cameras/front").hasPassword == false)
        #expect(try await control.get(StreamDocument.self, "streams/front").code == .missingSecret)
        #expect(try stage.makeCredentials().names(scope: "camera-porch") == [] && notes(stage) == [])
        let events = try #require(control.core.memory).events(after: 0, limit: 1000)
        #expect(events.contains { $0.object == "front" && $0.code == "\(ErrorCode.missingSecret)" })
    }

    @Test func `a password that cannot be sealed again leaves the camera as it was`() async throws {
        let (stage, encryption, control) = try await sealedBox()
        defer { withExtendedLifetime(encryption) {} }
        stage.steps.refuse { $0 == "credentials: set for camera-porch" }
        let body = #"{"id":"porch","password":"one"}"#
        #expect(await control.send(.post, "cameras/front/rename", body).status >= 500)
        stage.steps.reset()
        #expect(try await control.get(CameraDocument.self, "cameras/front").hasPassword)
        #expect(try stage.makeCredentials().names(scope: "camera-porch") == [] && notes(stage) == [])
        #expect(stage.units.calls == [])
        // And something else can change again.
        #expect(await control.send(.patch, "cameras/front", #"{"name":"Front"}"#).status == 200)
    }

    @Test func `a camera without a password needs none`() async throws {
        let (stage, encryption, control) = try await sealedBox()
        defer { withExtendedLifetime((stage, encryption)) {} }
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        let answer = await control.send(.post, "cameras/a/rename", #"{"id":"b"}"#)
        #expect(answer.status == 200, "\(answer.text)")
    }
}
