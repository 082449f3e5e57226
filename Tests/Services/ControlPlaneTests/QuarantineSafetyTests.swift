import BoxConfiguration
import BoxMemory
import ControlAPI
import CredentialStore
import ErrorCatalog
import Foundation
import Settings
import Synchronization
import Testing

@testable import ControlPlane

/// What must not be lost with an object that is quarantined, and what must not get to another one.
struct QuarantineSafetyTests {
    typealias Damage = QuarantineTests.Damage

    /// A box whose stored objects are changed while it is off.
    private static func restarted(
        _ stage: ControlStage, _ edit: (inout [String: Any]) throws -> Void
    ) async throws -> ControlService {
        try stage.editGenerations(edit)
        try stage.reboot()
        return try await stage.start()
    }

    /// Another camera gets the ID `b`, and another password.
    ///
    /// - Returns: the generation before.
    private static func replaceB(_ control: ControlService, settings: String = "{}") async throws -> Int {
        let former = await control.core.current.number
        #expect(await control.send(.delete, "cameras/b").status == 204)
        let body = #"{"id":"b","source":"test:","settings":\#(settings)}"#
        #expect(await control.send(.post, "cameras", body).status == 201)
        #expect(await control.send(.put, "cameras/b/password", #"{"secret":"two"}"#).status == 204)
        return former
    }

    private static func damage(_ damage: Damage, _ id: String, of generation: inout [String: Any]) throws {
        try generation.edit(camera: id) { damage.apply(to: &$0, settings: &$1) }
    }

    private static func secrets(_ stage: ControlStage, _ scope: String) throws -> Set<String> {
        Set(try stage.makeCredentials().names(scope: scope))
    }

    private static func quarantined(_ control: ControlService) async throws -> [String] {
        try await control.get(BoxStatus.self, "status").quarantined?.map(\.object) ?? []
    }

    // MARK: What it needs

    @Test(arguments: Damage.allCases)
    func `a relay that it publishes to is not removed, and one that it does not need is`(damage: Damage) async throws {
        let stage = try await QuarantineTests.box()
        let first = try await stage.start()
        for name in ["spare", "other"] {
            let body = #"{"secret":"rtmp://127.0.0.1/x?key=1"}"#
            #expect(await first.send(.put, "relays/\(name)/secret", body).status < 300)
        }
        #expect(await first.send(.patch, "cameras/b", #"{"settings":{"relay":"spare"}}"#).status == 200)
        let control = try await Self.restarted(stage) { try Self.damage(damage, "b", of: &$0) }
        let answer = await control.send(.delete, "relays/spare")
        #expect(answer.problem?.code == .inUse && answer.text.contains("b"), "\(answer.text)")
        #expect(await control.core.current.settings.relays["spare"] != nil)
        #expect(try Self.secrets(stage, "box").contains("relay-spare"))
        let other = await control.send(.delete, "relays/other")
        #expect(other.status == 204, "\(other.text)")
    }

    @Test func `a relay that a camera needs whose relay cannot be read is not removed`() async throws {
        let stage = try await QuarantineTests.box()
        let first = try await stage.start()
        #expect(await first.send(.put, "relays/spare", #"{"url":"rtmp://127.0.0.1/x"}"#).status < 300)
        let control = try await Self.restarted(stage) { generation in
            try generation.editStored("b") { ($0["settings"], $0["relays"]) = (nil, ["main", "spare"]) }
        }
        let answer = await control.send(.delete, "relays/spare")
        #expect(answer.problem?.code == .inUse && answer.text.contains("camera.b"), "\(answer.text)")
        #expect(await control.send(.delete, "config/quarantine/camera.b").status < 300)
        #expect(await control.send(.delete, "relays/spare").status == 204)
    }

    // MARK: What was learned of it

    @Test(arguments: Damage.allCases)
    func `what was learned of it is there when a version takes it again`(damage: Damage) async throws {
        let stage = try await QuarantineTests.box()
        try stage.write(ControlStage.connections + "box = { previews = true }\n")
        let first = try await stage.start()
        await first.core.keep(LearnedCamera(manufacturer: "Example"), of: "b")
        try await first.keepThumbnail([0xff, 0xd8, 0xff, 0], of: "b")
        var sound: [String: Any] = [:]
        let other = try await Self.restarted(stage) { generation in
            try generation.editStored("b") { sound = $0 }
            try Self.damage(damage, "b", of: &generation)
        }
        #expect(await other.send(.patch, "cameras/a", #"{"name":"A"}"#).status == 200)
        let later = try await Self.restarted(stage) { try $0.editStored("b") { $0 = sound } }
        #expect(try await later.get(CameraDocument.self, "cameras/b").manufacturer == "Example")
        #expect(try await later.keptThumbnail("b") == [0xff, 0xd8, 0xff, 0])
    }

    // MARK: Whose secrets they are

    @Test(arguments: Damage.allCases)
    func `going back to another camera of its ID, that one does not get its password`(damage: Damage) async throws {
        let stage = try await QuarantineTests.box()
        let first = try await stage.start()
        let former = try await Self.replaceB(first, settings: #"{"secret":"password"}"#)
        let control = try await Self.restarted(stage) { generation in
            guard try #require(generation["number"] as? Int) > former else { return }
            try Self.damage(damage, "b", of: &generation)
        }
        #expect(try await Self.quarantined(control) == ["camera.b"])
        #expect(await control.send(.post, "config/rollback", #"{"generation":\#(former)}"#).status == 200)
        #expect(try await Self.quarantined(control) == [])
        #expect(try Self.secrets(stage, "camera-b") == [])
        #expect(try await control.get(CameraDocument.self, "cameras/b").hasPassword == false)
    }

    @Test(arguments: Damage.allCases)
    func `unconfirmed, it has its password again when that is taken back`(damage: Damage) async throws {
        let stage = try await QuarantineTests.box()
        let first = try await stage.start()
        let former = try await Self.replaceB(first)
        let control = try await Self.restarted(stage) { generation in
            guard try #require(generation["number"] as? Int) > former else { return }
            try Self.damage(damage, "b", of: &generation)
        }
        let body = #"{"generation":\#(former),"confirmSeconds":30}"#
        #expect(await control.send(.post, "config/rollback", body).status == 200)
        #expect(try Self.secrets(stage, "camera-b") == [])
        stage.now.withLock { $0 += .seconds(60) }
        await control.core.tick()
        await control.core.unitJobs.settled()
        #expect(try await Self.quarantined(control) == ["camera.b"])
        #expect(try Self.secrets(stage, "camera-b") == ["password"])
    }

    @Test(arguments: Damage.allCases)
    func `going back to the ID that it had, it has its password there`(damage: Damage) async throws {
        let stage = try await QuarantineTests.box()
        let first = try await stage.start()
        let former = await first.core.current.number
        #expect(await first.send(.post, "cameras/b/rename", #"{"id":"porch"}"#).status == 200)
        let control = try await Self.restarted(stage) { try Self.damage(damage, "porch", of: &$0) }
        #expect(try await Self.quarantined(control) == ["camera.porch"])
        #expect(await control.send(.post, "config/rollback", #"{"generation":\#(former)}"#).status == 200)
        #expect(try await Self.quarantined(control) == [])
        #expect(try Self.secrets(stage, "camera-b") == ["password"] && Self.secrets(stage, "camera-porch") == [])
        #expect(try await control.get(CameraDocument.self, "cameras/b").hasPassword)
    }

    @Test func `while nobody can say whose the secrets are, the note of their owner stays`() async throws {
        let stage = try await QuarantineTests.box()
        var sound: [String: Any] = [:]
        let note = "\(stage.paths.removals)/b"
        try "another".write(toFile: note, atomically: true, encoding: .utf8)
        _ = try await Self.restarted(stage) { generation in
            try generation.editStored("b") { stored in
                sound = stored
                stored["uuid"] = 7
            }
        }
        #expect(FileManager.default.fileExists(atPath: note))
        #expect(try Self.secrets(stage, "camera-b") == ["password"])
        let later = try await Self.restarted(stage) { try $0.editStored("b") { $0 = sound } }
        #expect(!FileManager.default.fileExists(atPath: note))
        #expect(try Self.secrets(stage, "camera-b") == [])
        #expect(try await later.get(CameraDocument.self, "cameras/b").hasPassword == false)
    }

    @Test func `going back to a camera that cannot be read, its secrets wait until it can`() async throws {
        let stage = try await QuarantineTests.box()
        let first = try await stage.start()
        let former = try await Self.replaceB(first)
        var uuids: [Int: Any] = [:]
        let control = try await Self.restarted(stage) { generation in
            let number = try #require(generation["number"] as? Int)
            guard number <= former else { return }
            try generation.editStored("b") { stored in
                uuids[number] = stored["uuid"]
                stored["uuid"] = 7
            }
        }
        #expect(await control.send(.post, "config/rollback", #"{"generation":\#(former)}"#).status == 200)
        #expect(try await Self.quarantined(control) == ["camera.b"])
        // It may be the same one.
        #expect(try Self.secrets(stage, "camera-b") == ["password"])
        let uuid = try #require(uuids[former])
        let later = try await Self.restarted(stage) { generation in
            try generation.editStored("b") { if $0["uuid"] as? Int == 7 { $0["uuid"] = uuid } }
        }
        #expect(try await Self.quarantined(later) == [])
        #expect(try Self.secrets(stage, "camera-b") == [])
    }

    // MARK: Edits of files

    @Test func `an edit that makes a stored object invalid leaves the last good generation running`() async throws {
        let stage = try await QuarantineTests.box()
        try stage.write("camera.aaa = { source = \"test:\", stream = \"b\" }\n", to: "conf.d/10-more.toml")
        try stage.reboot()
        let control = try await stage.start()
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.configurationProblem?.contains("WB-1005") == true && status.quarantined == nil)
        let running = Set(stage.units.running.keys)
        #expect(running == ["watchbox-camera@a.service", "watchbox-camera@b.service"])
    }

    @Test(arguments: Damage.allCases)
    func `what was quarantined before an edit does not hold it up`(damage: Damage) async throws {
        let stage = try await QuarantineTests.box()
        try stage.write("camera.c = { source = \"test:\" }\n", to: "conf.d/10-more.toml")
        let control = try await Self.restarted(stage) { try Self.damage(damage, "b", of: &$0) }
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.configurationProblem == nil && status.quarantined?.map(\.object) == ["camera.b"])
        #expect(stage.units.running.keys.contains("watchbox-camera@c.service"))
    }

    // MARK: Discarded

    @Test func `of a kind that is not known each object has its name`() async throws {
        let stage = try await QuarantineTests.box()
        let control = try await Self.restarted(stage) { generation in
            try generation.editStoredObjects { objects in
                for name in ["a", "b"] { objects.append(["kind": "sink", "name": name, "settings": ["url": "x"]]) }
            }
        }
        #expect(try await Self.quarantined(control) == ["sink.a", "sink.b"])
        #expect(await control.send(.delete, "config/quarantine/sink.a").status < 300)
        #expect(try await Self.quarantined(control) == ["sink.b"])
        #expect(await control.core.current.store.objects.map(\.name) == ["b"])
    }

    @Test func `a name that stands for several discards none of them`() async throws {
        let stage = try await QuarantineTests.box()
        let control = try await Self.restarted(stage) { generation in
            for id in ["a", "b"] { try generation.editStored(id) { $0["id"] = "x@\(id)" } }
        }
        #expect(try await Self.quarantined(control) == ["camera.…"])
        let answer = await control.send(.delete, "config/quarantine/camera.…")
        #expect(answer.problem?.code == .badRequest && answer.text.contains("2"), "\(answer.text)")
        #expect(await control.core.current.store.cameras.map(\.id) == ["x@a", "x@b"])
    }

    /// - Parameter isReadable: the relay itself; else only its fields.
    @Test(arguments: [true, false])
    func `with a relay its secret goes, unless another object may name that`(isReadable: Bool) async throws {
        let stage = try await QuarantineTests.box()
        let first = try await stage.start()
        for name in ["one", "two", "three"] {
            let body = #"{"secret":"rtmp://127.0.0.1/x?key=1"}"#
            #expect(await first.send(.put, "relays/\(name)/secret", body).status < 300)
        }
        let control = try await Self.restarted(stage) { generation in
            try generation.editStoredObjects { objects in
                for index in objects.indices where objects[index]["name"] as? String != "three" {
                    if isReadable {
                        var settings = objects[index]["settings"] as? [String: Any] ?? [:]
                        settings["sharpen"] = 1
                        objects[index]["settings"] = settings
                    } else {
                        objects[index]["weight"] = 1.5
                    }
                }
            }
        }
        #expect(try await Self.quarantined(control) == ["relay.one", "relay.two"])
        let kept = await control.send(.delete, "config/quarantine/relay.one")
        #expect(kept.status == 200 && kept.text.contains("relay-one") == !isReadable, "\(kept.text)")
        let expected: Set = ["relay-two", "relay-three"]
        #expect(try Self.secrets(stage, "box").isSuperset(of: expected))
        #expect(try Self.secrets(stage, "box").contains("relay-one") == !isReadable)
        // Nothing is left that nobody can read.
        let gone = await control.send(.delete, "config/quarantine/relay.two")
        #expect(gone.status == 200 && !gone.text.contains("relay-two"), "\(gone.text)")
        #expect(try !Self.secrets(stage, "box").contains("relay-two"))
        #expect(try Self.secrets(stage, "box").contains("relay-three"))
    }

    // MARK: Other changes

    @Test func `a camera is renamed though a hook that names it is quarantined`() async throws {
        let stage = try await QuarantineTests.box()
        let first = try await stage.start()
        let body = #"{"url":"https://hook.example/x","cameras":["b"]}"#
        let made = await first.send(.put, "hooks/phone", body)
        #expect(made.status < 300, "\(made.text)")
        let control = try await Self.restarted(stage) { generation in
            try generation.editStoredObjects { objects in
                for index in objects.indices where objects[index]["kind"] as? String == "hook" {
                    var settings = objects[index]["settings"] as? [String: Any] ?? [:]
                    settings["sharpen"] = 1
                    objects[index]["settings"] = settings
                }
            }
        }
        #expect(try await Self.quarantined(control) == ["hook.phone"])
        let answer = await control.send(.post, "cameras/b/rename", #"{"id":"porch"}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(await control.core.current.store.object("hook", "phone")?.settings["cameras"] == .strings(["porch"]))
        #expect(try await Self.quarantined(control) == ["hook.phone"])
        // Another change of it is one.
        let edit = await control.send(.put, "hooks/phone", #"{"url":"https://hook.example/y"}"#)
        #expect(edit.problem?.code == .unknownKey, "\(edit.text)")
    }

    @Test func `while box is quarantined, nobody can say that no thumbnails are wanted`() async throws {
        let stage = try await QuarantineTests.box()
        let box = ControlStage.connections + "box = { previews = true }\n"
        try stage.write(box)
        let first = try await stage.start()
        let former = await first.core.current.number
        #expect(await first.send(.patch, "cameras/a", #"{"name":"A"}"#).status == 200)
        let control = try await Self.restarted(stage) { generation in
            guard try #require(generation["number"] as? Int) == former else { return }
            let text = box.replacing("{ previews", with: "{ sharpen = 1, previews")
            generation["files"] = [["name": "watchbox.toml", "text": text]]
        }
        try await control.keepThumbnail([0xff, 0xd8, 0xff, 0], of: "b")
        #expect(await control.send(.post, "config/rollback", #"{"generation":\#(former)}"#).status == 200)
        #expect(try await Self.quarantined(control) == ["box"])
        #expect(try await control.keptThumbnail("b") == [0xff, 0xd8, 0xff, 0])
    }
}
