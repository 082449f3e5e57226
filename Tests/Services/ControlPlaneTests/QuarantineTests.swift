import BoxConfiguration
import BoxMemory
import ControlAPI
import CredentialStore
import ErrorCatalog
import Foundation
import Settings
import Testing

@testable import ControlPlane

/// What an update, a downgrade or an editor may leave behind: a store with an object that this version refuses.
struct QuarantineTests {
    /// How a camera of the store is refused. Each changes all generations, as an update finds them.
    enum Damage: String, CaseIterable {
        /// In the store, and in the settings that were made of it.
        case value, valueInStore
        /// A setting that this version does not know, or of a kind that it cannot read.
        case unknownKey, nestedValue
        /// Of the stored camera itself, beside its settings.
        case unknownField, missingField, wrongField

        func apply(to stored: inout [String: Any], settings: inout [String: Any]) {
            var own = stored["settings"] as? [String: Any] ?? [:]
            switch self {
            case .value: (own["bitrate"], settings["bitrate"]) = (7, 7)
            case .valueInStore: own["bitrate"] = 7
            case .unknownKey: (own["sharpen"], settings["sharpen"]) = (true, true)
            case .nestedValue: (own["schedule"], settings["schedule"]) = (["from": 8.5], ["from": 8.5])
            case .unknownField: stored["schedule"] = ["from": 8.5, "to": NSNull(), "days": [1, 2]] as [String: Any]
            case .missingField: stored["source"] = nil
            case .wrongField: stored["isActive"] = "weekdays"
            }
            stored["settings"] = own
        }

        /// Its secrets stay its own when it is written anew.
        var isReadable: Bool { isEdited || self == .unknownKey }

        /// Commands can put it right; otherwise it can only be written anew.
        var isEdited: Bool { [.value, .valueInStore].contains(self) }
    }

    private static let units = (a: "watchbox-camera@a.service", b: "watchbox-camera@b.service")

    /// Cameras a and b; b has a password.
    static func box() async throws -> ControlStage {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        for id in ["a", "b"] {
            let body = #"{"id":"\#(id)","source":"test:","settings":{"bitrate":500000,"secret":"password"}}"#
            #expect(await control.send(.post, "cameras", body).status == 201)
            #expect(await control.send(.put, "cameras/\(id)/password", #"{"secret":"one"}"#).status == 204)
        }
        return stage
    }

    private static func damaged(_ damage: Damage) async throws -> (stage: ControlStage, control: ControlService) {
        let stage = try await box()
        try stage.editGenerations { generation in
            try generation.edit(camera: "b") { damage.apply(to: &$0, settings: &$1) }
        }
        try stage.reboot()
        return (stage, try await stage.start())
    }

    private static func running(_ stage: ControlStage) -> Set<String> { Set(stage.units.running.keys) }

    @Test(arguments: Damage.allCases)
    func `a camera that is refused stays out as it is, and the others run`(damage: Damage) async throws {
        let (stage, control) = try await Self.damaged(damage)
        #expect(Self.running(stage) == [Self.units.a])
        #expect(stage.file("run/service/camera-b.json") == nil)
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.state == .degraded && status.configurationProblem == nil && status.generation >= 3, "\(status)")
        let known = try #require(status.quarantined?.first)
        #expect(status.quarantined?.count == 1 && known.object == "camera.b" && known.isStored)
        #expect(status.reason?.contains("camera.b is quarantined") == true)
        #expect(known.hint.contains("watchboxctl config discard camera.b"))
        #expect(known.hint.hasSuffix(damage.isEdited ? "camera edit b" : "config import FILE --replace"))
        #expect(known.hint.contains("password") == !damage.isReadable)
        #expect(stage.file("run/service/health.json")?.contains("quarantined: camera.b") == true)
        let events = try #require(control.core.memory).events(after: 0, limit: 200)
        #expect(events.contains { $0.code == "WB-1012" && $0.object == "camera.b" })
        let shown = try await control.get(ConfigurationDocument.self, "config")
        #expect(shown.quarantined == status.quarantined)
        #expect(shown.toml.contains("# Quarantined, and not in here: camera.b"))
        #expect(!shown.toml.contains("[camera.b]"))
        #expect(await control.core.metrics().contains("watchbox_config_objects_quarantined 1\n"))
        for path in ["cameras/b", "streams/b"] {
            #expect(await control.send(.get, path).problem?.code == .objectQuarantined, "\(path)")
        }
        // Whoever looks for what is wrong is told.
        let validation = try await control.send(.post, "config/validate").document(ValidationDocument.self)
        #expect(!validation.isValid && validation.issues.contains { $0.key.hasPrefix("camera.b") })
    }

    @Test(arguments: Damage.allCases)
    func `what is stored of it survives other changes, with its secrets, for a version that takes it`(
        damage: Damage
    ) async throws {
        let (stage, control) = try await Self.damaged(damage)
        let before = try stage.stored("b")
        #expect(await control.send(.patch, "cameras/a", #"{"name":"A"}"#).status == 200)
        #expect(await control.send(.post, "cameras", #"{"id":"c","source":"test:"}"#).status == 201)
        #expect(await control.send(.put, "cameras/order", #"{"ids":["c","a"]}"#).status == 200)
        #expect(await control.send(.post, "config/apply").status == 200)
        #expect(await control.send(.delete, "cameras/c").status == 204)
        try stage.reboot()
        _ = try await stage.start()
        #expect(try stage.stored("b") == before)
        #expect(try stage.makeCredentials().names(scope: "camera-b") == ["password"])
        #expect(Self.running(stage) == [Self.units.a])
        // A version that takes it again: what it refused is not there any more.
        try stage.editGenerations { generation in
            try generation.editStored("b") { stored in
                stored["schedule"] = nil
                (stored["source"], stored["isActive"]) = ("test:", true)
                stored["settings"] = ["bitrate": 500_000, "secret": "password"]
            }
        }
        try stage.reboot()
        let later = try await stage.start()
        #expect(Self.running(stage) == [Self.units.a, Self.units.b])
        #expect(try await later.get(CameraDocument.self, "cameras/b").hasPassword)
        #expect(try await later.get(BoxStatus.self, "status").quarantined == nil)
        #expect(stage.file("run/service/health.json")?.contains("quarantine") == false)
    }

    @Test func `a result that is refused is made anew of what is stored`() async throws {
        let stage = try await Self.box()
        try stage.editGenerations { generation in try generation.edit(camera: "b") { $1["bitrate"] = 7 } }
        try stage.reboot()
        let control = try await stage.start()
        #expect(Self.running(stage) == [Self.units.a, Self.units.b])
        #expect(try await control.get(BoxStatus.self, "status").quarantined == nil)
    }

    @Test func `corrected it runs, and a correction that is none is refused with the reason`() async throws {
        let (stage, control) = try await Self.damaged(.value)
        let refused = await control.send(.patch, "cameras/b", #"{"name":"B"}"#)
        #expect(refused.problem?.code == .invalidValue && refused.text.contains("bitrate"), "\(refused.text)")
        #expect(Self.running(stage) == [Self.units.a])
        let answer = await control.send(.patch, "cameras/b", #"{"settings":{"bitrate":600000}}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(Self.running(stage) == [Self.units.a, Self.units.b])
        #expect(try await control.get(CameraDocument.self, "cameras/b").hasPassword)
        #expect(try await control.get(BoxStatus.self, "status").quarantined == nil)
        #expect(await control.send(.delete, "config/quarantine/camera.b").problem?.code == .notFound)
    }

    @Test(arguments: Damage.allCases)
    func `a name that is taken is not given away unasked`(damage: Damage) async throws {
        let (stage, control) = try await Self.damaged(damage)
        let before = try stage.stored("b")
        let body = #"{"id":"b","source":"test:"}"#
        #expect(await control.send(.post, "cameras", body).problem?.code == .objectQuarantined)
        let toml = #"{"toml":"camera.b = { source = \"test:\", secret = \"password\" }"}"#
        #expect(await control.send(.post, "config/import", toml).problem?.code == .objectQuarantined)
        #expect(await control.send(.post, "cameras/a/rename", #"{"id":"b"}"#).problem?.code == .objectQuarantined)
        #expect(try stage.stored("b") == before && Self.running(stage) == [Self.units.a])
        // Written anew on purpose, it is the camera that it was, as far as that can be read.
        let replacing = toml.replacing("\"}", with: "\",\"replace\":true}")
        let answer = await control.send(.post, "config/import", replacing)
        #expect(answer.status == 200, "\(answer.text)")
        let names = try stage.makeCredentials().names(scope: "camera-b")
        #expect(names == (damage.isReadable ? ["password"] : []))
        #expect(try await control.get(BoxStatus.self, "status").quarantined == nil)
        #expect(Self.running(stage) == (damage.isReadable ? [Self.units.a, Self.units.b] : [Self.units.a]))
    }

    @Test(arguments: Damage.allCases)
    func `discarded it goes for good, with its secrets`(damage: Damage) async throws {
        let (stage, control) = try await Self.damaged(damage)
        #expect(await control.send(.delete, "config/quarantine/camera.b", query: ["dryRun": "1"]).status == 200)
        #expect(try stage.makeCredentials().names(scope: "camera-b") == ["password"])
        #expect(await control.send(.delete, "config/quarantine/camera.a").problem?.code == .notFound)
        #expect(await control.send(.delete, "config/quarantine/camera.b").status == 200)
        #expect(try stage.makeCredentials().names(scope: "camera-b").isEmpty)
        #expect(try await control.get(BoxStatus.self, "status").quarantined == nil)
        #expect(await control.send(.post, "cameras", #"{"id":"b","source":"test:"}"#).status == 201)
        try stage.reboot()
        _ = try await stage.start()
        #expect(Self.running(stage) == [Self.units.a, Self.units.b])
        #expect(try stage.makeCredentials().names(scope: "camera-a") == ["password"])
    }

    @Test func `a camera whose ID this version refuses can be discarded, too`() async throws {
        let stage = try await Self.box()
        try stage.editGenerations { generation in
            try generation.editStored("b") { $0["id"] = "Back yard@" + String(repeating: "x", count: 60) }
        }
        try stage.reboot()
        let control = try await stage.start()
        let known = try #require(try await control.get(BoxStatus.self, "status").quarantined?.first)
        #expect(Self.running(stage) == [Self.units.a] && known.object == "camera.…")
        #expect(await control.send(.delete, "config/quarantine/\(known.object)").status == 200)
        #expect(await control.core.current.store.cameras.map { $0.id } == ["a"])
    }

    // MARK: What others need

    /// Objects of the operator's files, and how cameras fare without them.
    enum Needed: String, CaseIterable {
        case relay = "relay.main"
        case kas
        case box
        case health
        case hook = "hook.phone"
        case camera = "camera.c"
        case server = "relay_server"

        var stopsCameras: Bool { self == .relay || self == .kas }
        static let files =
            ControlStage.connections + """
                box = { name = "Shop", previews = true }
                health = { reboot = false }
                hook.phone = { url = "https://hook.example/x", cameras = ["c"] }
                camera.c = { source = "test:" }
                relay_server = { enabled = true, listen = "127.0.0.1:1935", open = true }

                """

        func damaged(_ text: String) -> String {
            text.replacing("\n\(rawValue) = { ", with: "\n\(rawValue) = { sharpen = 1, ")
        }
    }

    /// Files that the version before took, and this one does not.
    private static func updated(_ needed: Needed, stored: Bool = true) async throws -> ControlStage {
        let stage = stored ? try await box() : try ControlStage()
        try stage.write("\n" + Needed.files)
        if stored { _ = try await stage.start() }
        try stage.editGenerations { generation in
            var files = try #require(generation["files"] as? [[String: Any]])
            for index in files.indices {
                files[index]["text"] = needed.damaged(try #require(files[index]["text"] as? String))
            }
            generation["files"] = files
            var settings = try #require(generation["settings"] as? [String: Any])
            var objects = try #require(settings["objects"] as? [String: [String: Any]])
            objects[needed.rawValue]?["sharpen"] = 1
            settings["objects"] = objects
            generation["settings"] = settings
        }
        try stage.write(needed.damaged("\n" + Needed.files))
        try stage.reboot()
        return stage
    }

    @Test(arguments: Needed.allCases)
    func `an object of a file that an update refuses costs nothing but what needs it`(needed: Needed) async throws {
        let stage = try await Self.updated(needed)
        let control = try await stage.start()
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.quarantined?.map { $0.object } == [needed.rawValue], "\(status.quarantined ?? [])")
        #expect(status.quarantined?.first?.origin.hasPrefix("watchbox.toml:") == true)
        #expect(status.configurationProblem == nil && status.state == .degraded)
        let cameras = Set(stage.units.running.keys.filter { $0.contains("camera") })
        let all: Set = [Self.units.a, Self.units.b, "watchbox-camera@c.service"]
        switch needed {
        case .relay, .kas:
            // Never to another relay, never without a key access server.
            #expect(cameras.isEmpty)
            for camera in status.cameras {
                #expect(camera.stream.state == .stopped && camera.stream.code == .objectQuarantined)
                #expect(stage.file("run/service/camera-\(camera.id).json") == nil)
            }
        case .camera: #expect(cameras == all.subtracting(["watchbox-camera@c.service"]))
        case .health:
            #expect(cameras == all)
            // Its owner had forbidden it.
            #expect(stage.file("run/service/health.json")?.contains("\"reboot\":false") == true)
        case .server: #expect(cameras == all && stage.file("run/service/relay.json") == nil)
        case .box, .hook: #expect(cameras == all)
        }
        // Changes of other things go on, and somebody's apply of the same files takes nothing away.
        #expect(await control.send(.patch, "cameras/a", #"{"name":"A"}"#).status == 200)
        #expect(await control.send(.post, "config/apply").status == 200)
        #expect(await control.send(.delete, "config/quarantine/\(needed.rawValue)").problem?.code == .definedInFile)
        // Corrected, all of it runs.
        try stage.write("\n" + Needed.files)
        #expect(await control.send(.post, "config/apply").status == 200)
        let healed = try await control.get(BoxStatus.self, "status")
        #expect(healed.quarantined == nil && Set(stage.units.running.keys).isSuperset(of: all))
    }

    @Test(arguments: Needed.allCases)
    func `without a generation the files count object by object as well`(needed: Needed) async throws {
        let stage = try await Self.updated(needed, stored: false)
        let control = try await stage.start()
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.quarantined?.map { $0.object } == [needed.rawValue] && status.configurationProblem == nil)
        let isC = stage.units.running.keys.contains("watchbox-camera@c.service")
        #expect(isC == (!needed.stopsCameras && needed != .camera))
    }

    @Test func `an edit that goes wrong still leaves the last good generation running`() async throws {
        let stage = try await Self.box()
        try stage.write("\n" + Needed.files)
        _ = try await stage.start()
        try stage.write(Needed.camera.damaged("\n" + Needed.files))
        try stage.reboot()
        let control = try await stage.start()
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.configurationProblem?.contains("WB-1005") == true && status.quarantined == nil)
        #expect(stage.units.running.keys.contains("watchbox-camera@c.service"))
    }

    @Test func `what a file refuses does not let a stored object of its name come back`() async throws {
        let stage = try await Self.box()
        try stage.write(ControlStage.connections + "camera.b = { source = \"test:\", viewers = [\"me\"] }\n")
        _ = try await stage.start()
        let damaged = ControlStage.connections + "camera.b = { source = \"test:\", viewers = [7] }\n"
        try stage.write(damaged)
        try stage.editGenerations { generation in
            generation["files"] = [["name": "watchbox.toml", "text": damaged]]
        }
        try stage.reboot()
        let control = try await stage.start()
        #expect(Self.running(stage) == [Self.units.a])
        #expect(try await control.get(BoxStatus.self, "status").quarantined?.map { $0.object } == ["camera.b"])
        #expect(try stage.makeCredentials().names(scope: "camera-b") == ["password"])
    }

    @Test func `a key access server is corrected without losing whom it trusts`() async throws {
        let stage = try ControlStage()
        try stage.write("relay.main = { url = \"rtmp://127.0.0.1:1935/live\" }\n")
        let first = try await stage.start()
        let kas = #"{"url":"https://kas.example/kas","certificateAuthorityFile":"/etc/ca.pem"}"#
        #expect(await first.send(.put, "kas", kas).status < 300)
        #expect(await first.send(.post, "cameras", #"{"id":"a","source":"test:"}"#).status == 201)
        try stage.editGenerations { generation in
            var store = try #require(generation["store"] as? [String: Any])
            var objects = try #require(store["objects"] as? [[String: Any]])
            for index in objects.indices {
                var settings = try #require(objects[index]["settings"] as? [String: Any])
                settings["url"] = "http://kas.example/kas"
                objects[index]["settings"] = settings
            }
            store["objects"] = objects
            generation["store"] = store
        }
        try stage.reboot()
        let control = try await stage.start()
        #expect(Self.running(stage) == [])
        #expect(await control.send(.put, "kas/token", #"{"secret":"t"}"#).problem?.code == .objectQuarantined)
        #expect(await control.send(.put, "kas", #"{"url":"https://kas.example/kas"}"#).status < 300)
        #expect(Self.running(stage) == [Self.units.a])
        #expect(await control.core.current.settings.kas?.caFile == "/etc/ca.pem")
    }

    @Test func `going back to a generation that is refused in part quarantines that part`() async throws {
        let (stage, control) = try await Self.damaged(.value)
        #expect(await control.send(.delete, "config/quarantine/camera.b").status == 200)
        let answer = await control.send(.post, "config/rollback", #"{"generation":3}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try await control.get(BoxStatus.self, "status").quarantined?.map { $0.object } == ["camera.b"])
        #expect(Self.running(stage) == [Self.units.a])
    }
}
