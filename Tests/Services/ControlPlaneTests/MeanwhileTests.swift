import BoxConfiguration
import BoxMemory
import ControlAPI
import CredentialStore
import ErrorCatalog
import Foundation
import Synchronization
import Testing

@testable import ControlPlane

/// What happens while control waits for somebody else.
@Suite(.timeLimit(.minutes(15)))
struct MeanwhileTests {
    private static let secret = #"{"secret":"rtmp://h/app/key"}"#

    private func box(_ files: String = ControlStage.connections) async throws -> (
        ControlStage, HeldEncryption, ControlService
    ) {
        let stage = try ControlStage()
        try stage.write(files)
        let encryption = try HeldEncryption(stage)
        return (stage, encryption, try await stage.start())
    }

    @Test func `a request that comes while control boots is answered after it`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let first = try await stage.start()
        await first.send(.put, "cameras/a/password", #"{"secret":"one"}"#)
        try stage.write(ControlStage.connections + "camera.a = { source = \"test:\" }\n")
        #expect(await first.send(.post, "config/apply", #"{"confirmSeconds":90}"#).status == 200)

        // systemd was upgraded: the next process waits for it in the middle of its boot.
        let encryption = try HeldEncryption(stage)
        let control = try stage.makeService()
        let boot = Task { await control.core.boot() }
        await encryption.isAsked()
        let confirmation = Task { await control.send(.post, "config/confirm") }
        while control.core.booted.waiting == 0 { await Task.yield() }
        encryption.release()
        #expect(await confirmation.value.status == 204)
        await boot.value
        stage.now.withLock { $0 += .seconds(500) }
        await control.core.tick()
        await control.core.unitJobs.settled()
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@a.service"])
    }

    @Test func `a request that is cancelled while control boots ends`() async throws {
        let stage = try ControlStage()
        let control = try stage.makeService()
        let request = Task { await control.send(.get, "status") }
        while control.core.booted.waiting == 0 { await Task.yield() }
        request.cancel()
        #expect(await request.value.problem?.code == .busy)
        #expect(control.core.booted.waiting == 0)
        await control.core.boot()
        #expect(await control.send(.get, "status").status == 200)
    }

    @Test func `a relay that is changed while its secret is sealed keeps the change`() async throws {
        let (stage, encryption, control) = try await box("kas = { url = \"http://127.0.0.1:9443/kas\" }\n")
        let first = await control.send(.put, "relays/main", #"{"url":"rtmp://127.0.0.1/one"}"#)
        try #require(first.status == 200, "\(first.text)")
        let setting = Task { await control.send(.put, "relays/main/secret", Self.secret) }
        await encryption.isAsked()
        #expect(await control.send(.put, "relays/main", #"{"url":"rtmp://127.0.0.1/two"}"#).status == 200)
        encryption.release()
        #expect(await setting.value.status == 204)
        let relay = try await control.get(RelayDocument.self, "relays/main")
        #expect(relay.url == "rtmp://127.0.0.1/two")
        #expect(relay.hasSecret)
        #expect(try stage.makeCredentials().names(scope: "box").count == 1)
    }

    @Test(arguments: [false, true])
    func `a relay that is removed while its secret is sealed stays away`(hadSecret: Bool) async throws {
        let (stage, encryption, control) = try await box("kas = { url = \"http://127.0.0.1:9443/kas\" }\n")
        await control.send(.put, "relays/main", #"{"url":"rtmp://127.0.0.1/one"}"#)
        if hadSecret {
            encryption.release()
            #expect(await control.send(.put, "relays/main/secret", Self.secret).status == 204)
            await encryption.isAsked()
        }
        let setting = Task { await control.send(.put, "relays/main/secret", Self.secret) }
        await encryption.isAsked()
        #expect(await control.send(.delete, "relays/main").status == 204)
        encryption.release()
        #expect(await setting.value.status == 404)
        #expect(await control.send(.get, "relays/main").status == 404)
        #expect(try stage.makeCredentials().names(scope: "box") == [])
    }

    @Test func `a secret that needs a change waits for the confirmation of another`() async throws {
        let stage = try ControlStage()
        try stage.write("")
        let control = try await stage.start()
        await control.send(.put, "kas", #"{"url":"http://127.0.0.1:9443/kas"}"#)
        try stage.write("relay.main = { url = \"rtmp://127.0.0.1/live\" }\n")
        #expect(await control.send(.post, "config/apply", #"{"confirmSeconds":90}"#).status == 200)
        for path in ["relays/new/secret", "kas/token"] {
            #expect(await control.send(.put, path, Self.secret).problem?.code == .busy, "\(path)")
        }
        #expect(try stage.makeCredentials().names(scope: "box") == [])
    }

    @Test func `a secret whose change is refused in the end is not kept`() async throws {
        let (stage, encryption, control) = try await box("")
        let setting = Task { await control.send(.put, "relays/new/secret", Self.secret) }
        await encryption.isAsked()
        try stage.write(ControlStage.connections)
        #expect(await control.send(.post, "config/apply", #"{"confirmSeconds":90}"#).status == 200)
        encryption.release()
        #expect(await setting.value.problem?.code == .busy)
        #expect(try stage.makeCredentials().names(scope: "box") == [])
    }

    @Test(arguments: [false, true])
    func `a password sealed while its camera is removed goes to no other camera`(isThereAgain: Bool) async throws {
        let (stage, encryption, control) = try await box()
        let body = #"{"id":"front","source":"test:"}"#
        #expect(await control.send(.post, "cameras", body).status == 201)
        let setting = Task { await control.send(.put, "cameras/front/password", #"{"secret":"one"}"#) }
        await encryption.isAsked()
        #expect(await control.send(.delete, "cameras/front").status == 204)
        if isThereAgain { #expect(await control.send(.post, "cameras", body).status == 201) }
        encryption.release()
        #expect(await setting.value.status == 404)
        #expect(try stage.makeCredentials().names(scope: "camera-front") == [])
        if !isThereAgain { #expect(await control.send(.post, "cameras", body).status == 201) }
        #expect(try await control.get(CameraDocument.self, "cameras/front").hasPassword == false)
    }

    @Test(arguments: ["add", "import", "rename", "rename with a password"])
    func `the password of a camera that went with its file goes to no other camera`(way: String) async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections + "camera.c = { source = \"test:\" }\n")
        let control = try await stage.start()
        #expect(await control.send(.put, "cameras/c/password", #"{"secret":"one"}"#).status == 204)
        try stage.write(ControlStage.connections)
        #expect(await control.send(.post, "config/apply").status == 200)
        var expected: String?
        switch way {
        case "add": #expect(await control.send(.post, "cameras", #"{"id":"c","source":"test:"}"#).status == 201)
        case "import":
            let body = JSONDocument.text(ImportRequest(toml: "camera.c = { source = \"test:\" }\n"))
            #expect(await control.send(.post, "config/import", body).status == 200)
        default:
            #expect(await control.send(.post, "cameras", #"{"id":"front","source":"test:"}"#).status == 201)
            if way.hasSuffix("password") {
                #expect(await control.send(.put, "cameras/front/password", #"{"secret":"two"}"#).status == 204)
                expected = "two"
            }
            #expect(await control.send(.post, "cameras/front/rename", #"{"id":"c"}"#).status == 200)
        }
        #expect(try await control.get(CameraDocument.self, "cameras/c").hasPassword == (expected != nil))
        let password = try stage.makeCredentials().reveal(name: "password", scope: "camera-c")
        #expect(password.map { String(decoding: $0, as: UTF8.self) } == expected)
    }

    @Test func `a password that is sealed while its camera is renamed is that camera's`() async throws {
        let (stage, encryption, control) = try await box()
        #expect(await control.send(.post, "cameras", #"{"id":"front","source":"test:"}"#).status == 201)
        let setting = Task { await control.send(.put, "cameras/front/password", #"{"secret":"one"}"#) }
        await encryption.isAsked()
        #expect(await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#).status == 200)
        // For the former ID, and for the new one.
        encryption.release()
        encryption.release()
        let answer = await setting.value
        #expect(answer.status == 204, "\(answer.text)")
        #expect(try stage.makeCredentials().names(scope: "camera-porch") == ["password"])
        #expect(try stage.makeCredentials().names(scope: "camera-front") == [])
        let events = try #require(control.core.memory).events(after: 0, limit: 100)
        #expect(events.contains { $0.object == "porch" && $0.text == "a password was set" })
    }

    /// Whichever of both begins first: the renaming takes along what was there when it began.
    @Test(arguments: [false, true])
    func `a password that is set during a renaming is refused, and the camera keeps its own`(
        beginsBefore: Bool
    ) async throws {
        let (stage, encryption, control) = try await box()
        #expect(await control.send(.post, "cameras", #"{"id":"front","source":"test:"}"#).status == 201)
        let set = { @Sendable in await control.send(.put, "cameras/front/password", #"{"secret":"two"}"#) }
        let rename = { @Sendable in
            await control.send(.post, "cameras/front/rename", #"{"id":"porch","password":"one"}"#)
        }
        let (refused, renamed): (APIResponse, APIResponse)
        if beginsBefore {
            let setting = Task { await set() }
            await encryption.isAsked()
            let renaming = Task { await rename() }
            while await control.core.beingRenamed == nil { await Task.yield() }
            encryption.release()
            refused = await setting.value
            encryption.release()
            renamed = await renaming.value
        } else {
            let renaming = Task { await rename() }
            await encryption.isAsked()
            // At once: it does not wait for what holds up the renaming.
            refused = await set()
            encryption.release()
            renamed = await renaming.value
        }
        #expect(refused.problem?.code == .busy, "\(refused.text)")
        #expect(renamed.status == 200, "\(renamed.text)")
        #expect(try stage.makeCredentials().names(scope: "camera-porch") == ["password"])
        #expect(try stage.makeCredentials().names(scope: "camera-front") == [])
        #expect(await control.send(.delete, "cameras/porch/password").status == 204)
    }

    @Test func `a reload during a renaming comes after it`() async throws {
        let (stage, encryption, control) = try await box()
        #expect(await control.send(.post, "cameras", #"{"id":"front","source":"test:"}"#).status == 201)
        let rename = Task {
            await control.send(.post, "cameras/front/rename", #"{"id":"porch","password":"one"}"#)
        }
        await encryption.isAsked()
        try stage.write(ControlStage.connections + "camera.gate = { source = \"test:\" }\n")
        await control.reload()
        #expect(await control.core.current.settings.cameras.keys.sorted() == ["front"])
        encryption.release()
        let answer = await rename.value
        #expect(answer.status == 200, "\(answer.text)")
        #expect(await control.core.current.settings.cameras.keys.sorted() == ["gate", "porch"])
        await control.core.unitJobs.settled()
        #expect(
            Set(stage.units.running.keys) == ["watchbox-camera@gate.service", "watchbox-camera@porch.service"])
        let events = try #require(control.core.memory).events(after: 0, limit: 100)
        #expect(!events.contains { $0.code == "\(ErrorCode.busy)" })
    }

    /// An unused one is not even opened; one that a camera needs is reported, and its process says what it lacks.
    @Test(arguments: ["spare", "main"])
    func `a secret that cannot be opened stops no camera`(relay: String) async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let first = try await stage.start()
        #expect(await first.send(.put, "relays/spare/secret", Self.secret).status == 204)
        if relay == "main" {
            try stage.write(ControlStage.two.replacing("camera.a = { ", with: "camera.a = { relay = \"spare\", "))
            #expect(await first.send(.post, "config/apply").status == 200)
        }
        let path = "\(stage.root)/state/sealed/box/relay-spare"
        var bytes = try #require(FileManager.default.contents(atPath: path))
        bytes[bytes.count - 1] ^= 1
        // In place: it keeps its owner and its mode.
        try bytes.write(to: URL(fileURLWithPath: path))
        try stage.reboot()
        stage.units.forgetCalls()
        let control = try await stage.start()
        #expect(stage.units.running.count == 2)
        #expect(stage.units.words.sorted() == ["start watchbox-camera@a.service", "start watchbox-camera@b.service"])
        let events = try #require(control.core.memory).events(after: 0, limit: 100)
        #expect(events.contains { $0.code == "\(ErrorCode.missingSecret)" } == (relay == "main"))
        #expect(!events.contains { $0.code == "\(ErrorCode.systemManager)" })
    }
}
