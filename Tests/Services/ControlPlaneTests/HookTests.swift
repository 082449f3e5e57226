import ControlAPI
import CredentialStore
import ErrorCatalog
import Foundation
import Testing

@testable import ControlPlane

struct HookTests {
    private static let unit = "watchbox-hooks.service"
    private static let home = #"{"url":"https://home.example.net/watchbox"}"#

    private func settings(_ stage: ControlStage) throws -> HookServiceSettings {
        try JSONDocument.decode(
            HookServiceSettings.self, from: Array(try #require(stage.file("run/service/hooks.json")).utf8))
    }

    @Test func `their unit runs as long as a hook is switched on`() async throws {
        let stage = try ControlStage()
        try stage.write(#"box = { name = "porch-box" }"# + "\n")
        let control = try await stage.start()
        #expect(stage.file("run/service/hooks.json") == nil)
        #expect(await control.send(.put, "hooks/home", Self.home).status == 200)
        #expect(
            stage.file("run/service/hooks.json")
                == #"{"box":"porch-box","hooks":[{"cameras":[],"events":["camera","health","relay","kas","system"],"#
                + #""kind":"webhook","name":"home","url":"https://home.example.net/watchbox"}]}"#)
        let mode = try FileManager.default.attributesOfItem(atPath: "\(stage.root)/run/service/hooks.json")
        #expect(mode[.posixPermissions] as? Int == 0o644)
        #expect(stage.units.words == ["start \(Self.unit)"])
        stage.units.forgetCalls()

        #expect(await control.send(.put, "hooks/phone", #"{"url":"https://n/t","kind":"ntfy"}"#).status == 200)
        #expect(stage.units.words == ["restart \(Self.unit)"])
        stage.units.forgetCalls()
        for name in ["home", "phone"] {
            #expect(await control.send(.put, "hooks/\(name)", #"{"isEnabled":false}"#).status == 200)
        }
        #expect(stage.units.words == ["restart \(Self.unit)", "stop \(Self.unit)"])
        #expect(stage.file("run/service/hooks.json") == nil)
        let documents = try await control.get(HookListDocument.self, "hooks").hooks
        #expect(documents.map(\.name) == ["home", "phone"] && documents.allSatisfy { !$0.isEnabled })
    }

    @Test func `a hook goes on reporting a camera that is renamed`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"front","source":"test:"}"#)
        let named = #"{"url":"https://h/x","cameras":["front","back"]}"#
        #expect(await control.send(.put, "hooks/home", named).status == 200)
        #expect(await control.send(.put, "hooks/other", #"{"url":"https://h/x","cameras":["back"]}"#).status == 200)
        #expect(await control.send(.post, "cameras/front/rename", #"{"id":"porch"}"#).status == 200)
        let hooks = try await control.get(HookListDocument.self, "hooks").hooks
        #expect(hooks.map(\.cameras) == [["porch", "back"], ["back"]])
        #expect(try settings(stage).hooks.first?.cameras == ["porch", "back"])
        #expect(await control.send(.post, "config/rollback").status == 200)
        #expect(try settings(stage).hooks.first?.cameras == ["front", "back"])
    }

    @Test func `what is left out stays, what is empty goes`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        let all = """
            {"url":"https://h/x","kind":"ntfy","events":["camera","key"],"cameras":["front"],
             "certificateAuthorityFile":"/etc/watchbox/ca.pem"}
            """
        let added = try await control.send(.put, "hooks/a", all).document(HookDocument.self)
        #expect(added.events == ["camera", "key"] && added.cameras == ["front"] && added.kind == "ntfy")
        let edited = try await control.send(.put, "hooks/a", #"{"events":[],"cameras":[]}"#).document(HookDocument.self)
        #expect(edited.events == ["camera", "health", "relay", "kas", "system"] && edited.cameras.isEmpty)
        #expect(edited.kind == "ntfy" && edited.certificateAuthorityFile == "/etc/watchbox/ca.pem")
        #expect(edited.state == nil && edited.origin == "store")
        #expect(await control.send(.put, "hooks/a", #"{"url":""}"#).problem?.code == .badRequest)
        #expect(await control.send(.put, "hooks/a", #"{"kind":"mqtt"}"#).problem?.code == .invalidValue)
        #expect(await control.send(.put, "hooks/b", #"{"url":"https://u:p@h/x"}"#).problem?.code == .invalidValue)
        #expect(await control.send(.get, "hooks/b").problem?.code == .notFound)
        #expect(await control.send(.put, "hooks/B", Self.home).problem?.code == .invalidValue)
    }

    @Test func `secrets are given to their unit alone, shown to no one, and go with the hook`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        let secret = #"{"secret":"https://ntfy.example.net/hunter2"}"#
        #expect(await control.send(.put, "hooks/phone/secret", secret).status == 204)
        #expect(try settings(stage).hooks.map(\.urlSecret) == ["hook-phone"])
        #expect(await control.send(.put, "hooks/phone/token", #"{"secret":"tk_hunter2"}"#).status == 204)
        #expect(try settings(stage).hooks.map(\.tokenSecret) == ["bearer-phone"])
        #expect(stage.file("run/secret/box-hooks/hook-phone") == "https://ntfy.example.net/hunter2")
        #expect(stage.file("run/secret/box-hooks/bearer-phone") == "tk_hunter2")

        let document = try await control.get(HookDocument.self, "hooks/phone")
        #expect(document.url == nil && document.hasSecret && document.hasToken)
        for path in ["hooks", "hooks/phone", "config", "config/export", "status"] {
            #expect(await !control.send(.get, path).text.contains("hunter2"), "\(path)")
        }
        #expect(stage.file("run/service/hooks.json")?.contains("hunter2") == false)

        // Another token: the process that holds the old one is started again.
        stage.units.set(Self.unit, active: "active")
        stage.units.forgetCalls()
        #expect(await control.send(.put, "hooks/phone/token", #"{"secret":"tk_other"}"#).status == 204)
        #expect(stage.units.words == ["restart \(Self.unit)"])
        #expect(stage.file("run/secret/box-hooks/bearer-phone") == "tk_other")
        #expect(stage.file("run/service/hooks.restart") == nil)

        #expect(await control.send(.delete, "hooks/phone").status == 204)
        #expect(try stage.makeCredentials().names(scope: "box") == [])
        #expect(await control.send(.delete, "hooks/phone").problem?.code == .notFound)
    }

    @Test func `a token alone makes no hook`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        #expect(await control.send(.put, "hooks/a/token", #"{"secret":"tk"}"#).problem?.code == .invalidValue)
        #expect(try stage.makeCredentials().names(scope: "box") == [])
    }

    @Test func `a box has eight at most`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        for number in 1...8 { #expect(await control.send(.put, "hooks/h\(number)", Self.home).status == 200) }
        #expect(await control.send(.put, "hooks/h9", Self.home).problem?.code == .tooMuch)
        #expect(await control.send(.put, "hooks/h9/secret", #"{"secret":"https://h/x"}"#).problem?.code == .tooMuch)
    }

    @Test func `one of a file is only read, and going back brings hooks back`() async throws {
        let stage = try ControlStage()
        try stage.write("hook.home.url = 'https://home.example.net/x'\n")
        let control = try await stage.start()
        #expect(await control.send(.put, "hooks/home", Self.home).problem?.code == .definedInFile)
        #expect(await control.send(.put, "hooks/phone", Self.home).status == 200)
        #expect(await control.send(.delete, "hooks/phone").status == 204)
        #expect(try settings(stage).hooks.map(\.name) == ["home"])
        #expect(await control.send(.post, "config/rollback").status == 200)
        #expect(try settings(stage).hooks.map(\.name) == ["home", "phone"])
    }

    @Test func `the events' socket serves events, and nothing else of the box`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let control = try await stage.start()
        func ask(_ method: APIRequest.Method, _ path: String) async -> APIResponse {
            await control.eventRouter.answer(
                APIRequest(
                    method, path, lastEventID: "0",
                    peer: APIRequest.Peer(
                        processIdentifier: 1, userIdentifier: 0, groupIdentifier: 0, isAdministrator: true)))
        }
        let newest = try await ask(.get, "/api/v1/events/latest").document(EventPositionDocument.self).id
        #expect(newest == control.core.hub.latestID)
        #expect(await ask(.get, "/api/v1/events").events != nil)
        #expect(!control.core.hub.isWatched, "cameras are asked no more often for it")
        for route in control.router.routes where !route.path.contains("/events") {
            #expect(await ask(route.method, route.path).status == 404, "\(route.path)")
        }
    }

    @Test func `how they stand comes from their process, and so does a test`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        #expect(await control.send(.put, "hooks/home", Self.home).status == 200)
        #expect(await control.send(.post, "hooks/nobody/test").problem?.code == .notFound)
        try FileManager.default.createDirectory(
            atPath: "\(stage.root)/run/hooks", withIntermediateDirectories: true)
        let state = HookState(isFailing: true, queued: 2, delivered: 7, missed: 1, code: .hookUnreachable, reason: "x")
        let result = HookTestDocument(name: "home", isDelivered: true, status: 200, milliseconds: 12)
        let stub = try SocketStub(path: stage.paths.hooksSocket) { line in
            line.hasPrefix("POST /api/v1/hooks/home/test ")
                ? (200, JSONDocument.text(result))
                : (200, JSONDocument.text(HookStatesDocument(hooks: ["home": state])))
        }
        #expect(try await control.get(HookDocument.self, "hooks/home").state == state)
        #expect(try await control.send(.post, "hooks/home/test").document(HookTestDocument.self) == result)
        #expect(stub.requests.count == 2)
        #expect(await control.send(.put, "hooks/home", #"{"isEnabled":false}"#).status == 200)
        #expect(await control.send(.post, "hooks/home/test").problem?.code == .badRequest)
    }
}
