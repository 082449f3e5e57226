import ControlAPI
import ErrorCatalog
import Foundation
import Settings
import Testing

@testable import ControlPlane

struct ChangeTests {
    @Test func `a camera that is added is started with its file, and nothing else is touched`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let control = try await stage.start()
        #expect(stage.units.running.count == 2)
        let before = stage.file("run/service/camera-a.json")
        stage.units.forgetCalls()

        let answer = await control.send(
            .post, "cameras", #"{"id":"front","name":"Front door","source":"test:","settings":{"bitrate":1000000}}"#)
        #expect(answer.status == 201)
        #expect(answer.location == "/api/v1/cameras/front")
        // The generation in which it changed last.
        #expect(answer.eTag == "\"2\"")
        #expect(stage.units.words == ["start watchbox-camera@front.service"])
        #expect(stage.file("run/service/camera-a.json") == before)
        #expect(stage.file("run/service/camera-front.json")?.contains("\"bitrate\":1000000") == true)
        let mode = try FileManager.default.attributesOfItem(atPath: "\(stage.root)/run/service/camera-front.json")
        #expect(mode[.posixPermissions] as? Int == 0o600)
        let history = try await control.get(GenerationListDocument.self, "config/history")
        #expect(history.generations.map(\.cause) == ["camera add front", "boot"])
        #expect(history.generations.first?.isCurrent == true)
    }

    @Test func `changing camera B never touches camera A`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        await control.send(.post, "cameras", #"{"id":"b","source":"test:"}"#)
        let fileA = try FileManager.default.attributesOfItem(atPath: "\(stage.root)/run/service/camera-a.json")
        stage.units.forgetCalls()

        #expect(await control.send(.patch, "cameras/b", #"{"settings":{"bitrate":500000}}"#).status == 200)
        #expect(await control.send(.post, "cameras/b/disable").status == 200)
        #expect(await control.send(.post, "cameras/b/enable").status == 200)
        #expect(await control.send(.put, "cameras/b/password", #"{"secret":"x"}"#).status == 204)
        #expect(await control.send(.post, "streams/b/stop").status == 200)
        #expect(await control.send(.delete, "cameras/b").status == 204)
        #expect(stage.units.calls(of: "a") == [])
        #expect(stage.units.calls(of: "b").first == "restart")
        #expect(stage.units.calls(of: "b").last == "stop")
        let now = try FileManager.default.attributesOfItem(atPath: "\(stage.root)/run/service/camera-a.json")
        #expect(now[.systemFileNumber] as? Int == fileA[.systemFileNumber] as? Int)
        #expect(stage.file("run/service/camera-b.json") == nil)
    }

    @Test func `a new display name and a new order restart nothing`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        await control.send(.post, "cameras", #"{"id":"b","source":"test:"}"#)
        stage.units.forgetCalls()
        let dry = try await control.send(.patch, "cameras/b", #"{"name":"Back"}"#, query: ["dryRun": "1"])
            .document(ConfigurationDiff.self)
        #expect(dry.changes.map(\.action) == [.none])
        #expect(dry.toGeneration == nil)
        let renamed = try await control.send(.patch, "cameras/b", #"{"name":"Back"}"#).document(CameraDocument.self)
        #expect(renamed.name == "Back")
        let ordered = try await control.send(.put, "cameras/order", #"{"ids":["b","a"]}"#)
            .document(CameraListDocument.self)
        #expect(ordered.cameras.map(\.id) == ["b", "a"])
        #expect(stage.units.calls == [])
    }

    @Test func `a dry run answers the difference and changes nothing`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        let answer = await control.send(
            .post, "cameras", #"{"id":"front","source":"test:"}"#, query: ["dryRun": "1"])
        let difference = try answer.document(ConfigurationDiff.self)
        #expect(difference.changes.map(\.object) == ["camera.front"])
        #expect(difference.changes.map(\.action) == [.startCamera])
        #expect(stage.units.calls == [])
        #expect(try await control.get(CameraListDocument.self, "cameras").cameras == [])
        #expect(stage.file("run/service/camera-front.json") == nil)
    }

    @Test func `of two editors the second is refused`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        let tag = await control.send(.get, "cameras/a").eTag
        #expect(await control.send(.patch, "cameras/a", #"{"name":"One"}"#, ifMatch: tag).status == 200)
        let second = await control.send(.patch, "cameras/a", #"{"name":"Two"}"#, ifMatch: tag)
        #expect(second.status == 412)
        #expect(second.problem?.code == .conflict)
        #expect(await control.send(.delete, "cameras/a", ifMatch: tag).status == 412)
        #expect(await control.send(.patch, "cameras/a", #"{"name":"Two"}"#, ifMatch: "nonsense").status == 412)
        #expect(try await control.get(CameraDocument.self, "cameras/a").name == "One")

        let relay = #"{"url":"rtmp://127.0.0.1/two"}"#
        #expect(await control.send(.put, "relays/two", relay).status == 200)
        let old = await control.send(.get, "relays/two").eTag
        #expect(await control.send(.put, "relays/two", #"{"url":"rtmp://127.0.0.1/x"}"#, ifMatch: old).status == 200)
        #expect(await control.send(.put, "relays/two", relay, ifMatch: old).status == 412)
    }

    @Test func `an object of a file is refused with the place that defines it`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        try stage.write("\n\ncamera.front = { source = \"test:\" }\n", to: "conf.d/10-cams.toml")
        let control = try await stage.start()
        let requests: [(APIRequest.Method, String, String)] = [
            (.patch, "cameras/front", #"{"name":"x"}"#), (.delete, "cameras/front", ""),
            (.post, "cameras/front/disable", ""), (.post, "cameras", #"{"id":"front","source":"test:"}"#),
            (.put, "cameras/order", #"{"ids":["front"]}"#),
        ]
        for (method, path, body) in requests {
            let answer = await control.send(method, path, body)
            #expect(answer.status == 409, "\(method) \(path)")
            #expect(answer.problem?.code == .definedInFile)
            #expect(answer.problem?.detail.contains("conf.d/10-cams.toml:3") == true, "\(answer.text)")
        }
        #expect(
            await control.send(.put, "relays/main", #"{"url":"rtmp://127.0.0.1/x"}"#).problem?.code == .definedInFile)
        #expect(await control.send(.put, "kas", #"{"url":"http://127.0.0.1/kas"}"#).problem?.code == .definedInFile)
    }

    @Test(arguments: [
        "../../etc/passwd", "a/b", "front;id", "", "A", "-a", "a--b", String(repeating: "a", count: 25), "😀",
    ])
    func `an invalid ID never becomes a path or a unit`(id: String) async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        let body = JSONDocument.text(CameraRequest(id: id, source: "test:"))
        let answer = await control.send(.post, "cameras", body)
        #expect(answer.status == 422)
        #expect(stage.units.calls == [])
        let core = control.core
        await #expect(throws: CodedError.self) { try await core.stopStream(id) }
        await #expect(throws: CodedError.self) { try await core.setPassword(of: id, [1]) }
        await #expect(throws: CodedError.self) { try await core.setRelaySecret(id, [1]) }
    }

    @Test func `what is not possible is refused before anything is written`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        let generations = stage.file("state/generations/000002.json")
        for body in [
            #"{"id":"a"}"#, #"{"source":"test:"}"#, #"{"id":"a","source":"exec:reboot"}"#,
            #"{"id":"a","source":"rtsp://user:password@host/"}"#,
            #"{"id":"a","source":"test:","settings":{"bitrat":1}}"#,
            #"{"id":"a","source":"test:","settings":{"name":"x"}}"#, "[", "{}",
        ] {
            let answer = await control.send(.post, "cameras", body)
            #expect((400...422).contains(answer.status), "\(body): \(answer.text)")
            #expect(answer.problem?.hint.isEmpty == false)
        }
        #expect(
            await control.send(.post, "cameras", #"{"id":"a","source":"test:","settings":{"bitrat":1}}"#).text.contains(
                "bitrate"))
        #expect(stage.units.calls == [])
        #expect(stage.file("state/generations/000002.json") == generations)
        #expect(
            await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#, isAdministrator: false).status == 403)
    }

    @Test func `a box takes 64 cameras and 16 relays`() async throws {
        let stage = try ControlStage()
        var files = ControlStage.connections
        for number in 0..<63 { files += "camera.c\(number) = { source = \"test:\", active = false }\n" }
        for number in 0..<14 { files += "relay.r\(number) = { url = \"rtmp://127.0.0.1/\(number)\" }\n" }
        try stage.write(files)
        let control = try await stage.start()
        #expect(await control.send(.post, "cameras", #"{"id":"last","source":"test:"}"#).status == 201)
        #expect(await control.send(.post, "cameras", #"{"id":"over","source":"test:"}"#).status == 429)
        #expect(await control.send(.put, "relays/last", #"{"url":"rtmp://127.0.0.1/x"}"#).status == 200)
        #expect(await control.send(.put, "relays/over", #"{"url":"rtmp://127.0.0.1/x"}"#).status == 429)
    }

    @Test func `a change of a relay leaves what it does not name`() async throws {
        let stage = try ControlStage()
        try stage.write("kas = { url = \"http://127.0.0.1:9443/kas\" }\n")
        let control = try await stage.start()
        let whole = #"{"url":"rtmps://a/live","certificateAuthorityFile":"/etc/ca.pem","profile":"drops-metadata"}"#
        #expect(await control.send(.put, "relays/main", whole).status == 200)
        #expect(await control.send(.put, "relays/main", #"{"url":"rtmps://b/live"}"#).status == 200)
        var relay = try await control.get(RelayDocument.self, "relays/main")
        #expect(relay.url == "rtmps://b/live")
        #expect(relay.certificateAuthorityFile == "/etc/ca.pem")
        #expect(relay.profile == "drops-metadata")
        #expect(await control.send(.put, "relays/main", #"{"profile":"keeps-metadata"}"#).status == 200)
        #expect(await control.send(.put, "relays/main", #"{"certificateAuthorityFile":""}"#).status == 200)
        relay = try await control.get(RelayDocument.self, "relays/main")
        #expect(relay.url == "rtmps://b/live")
        #expect(relay.certificateAuthorityFile == nil)
        #expect(relay.profile == "keeps-metadata")
        #expect(await control.send(.put, "relays/main", #"{"url":""}"#).status == 400)
        #expect(await control.send(.put, "relays/new", #"{"profile":"keeps-metadata"}"#).status == 400)
    }

    @Test func `a pin stays until it is taken away, and an invalid one is refused`() async throws {
        let stage = try ControlStage()
        try stage.write("box = { name = \"b\" }\n")
        let control = try await stage.start()
        let pin = "sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let relay = #"{"url":"rtmps://a/live","publicKeyPin":"\#(pin)"}"#
        #expect(await control.send(.put, "relays/main", relay).status == 200)
        #expect(await control.send(.put, "relays/main", #"{"url":"rtmps://b/live"}"#).status == 200)
        #expect(try await control.get(RelayDocument.self, "relays/main").publicKeyPin == pin)
        #expect(await control.send(.put, "relays/main", #"{"publicKeyPin":"sha256//x"}"#).status == 422)
        #expect(await control.send(.put, "relays/main", #"{"publicKeyPin":""}"#).status == 200)
        #expect(try await control.get(RelayDocument.self, "relays/main").publicKeyPin == nil)
        let kas = #"{"url":"https://k/kas","publicKeyPin":"\#(pin)"}"#
        #expect(await control.send(.put, "kas", kas).status == 200)
        // A program that knows no pins.
        #expect(await control.send(.put, "kas", #"{"url":"https://k/kas"}"#).status == 200)
        #expect(try await control.get(KeyAccessDocument.self, "kas").publicKeyPin == pin)
        #expect(await control.send(.put, "kas", #"{"url":"https://k/kas","publicKeyPin":""}"#).status == 200)
        #expect(try await control.get(KeyAccessDocument.self, "kas").publicKeyPin == nil)
    }

    @Test func `a relay that cameras use stays`() async throws {
        let stage = try ControlStage()
        try stage.write("kas = { url = \"http://127.0.0.1:9443/kas\" }\n")
        let control = try await stage.start()
        #expect(await control.send(.put, "relays/main", #"{"url":"rtmp://127.0.0.1/live"}"#).status == 200)
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        #expect(stage.units.calls(of: "a") == ["start"])
        let refused = await control.send(.delete, "relays/main")
        #expect(refused.status == 409)
        #expect(refused.problem?.code == .inUse)
        await control.send(.delete, "cameras/a")
        #expect(await control.send(.delete, "relays/main").status == 204)
        #expect(try await control.get(RelayListDocument.self, "relays").relays == [])
    }

    @Test func `a stop by request holds over a restart of control until the camera changes`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        var control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        let stopped = try await control.send(.post, "streams/a/stop").document(StreamDocument.self)
        #expect(stopped.state == .stopped)
        #expect(stopped.reason == "stopped by request")
        #expect(stage.file("run/service/health.json")?.contains("\"cameras\":[]") == true)
        control = try await stage.start()
        await control.core.tick()
        await control.core.tick()
        await control.core.unitJobs.settled()
        #expect(stage.units.calls(of: "a") == ["start", "stop"])
        await control.send(.patch, "cameras/a", #"{"settings":{"bitrate":500000}}"#)
        #expect(stage.units.calls(of: "a") == ["start", "stop", "restart"])
        await control.send(.post, "streams/a/stop")
        await control.send(.post, "streams/a/start")
        #expect(stage.units.calls(of: "a") == ["start", "stop", "restart", "stop", "start"])
    }

    @Test func `a change of one setting takes no other away, least of all who may view`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        let body = #"{"id":"a","source":"test:","settings":{"viewers":["alice"],"size":"320x180"}}"#
        #expect(await control.send(.post, "cameras", body).status == 201)
        #expect(await control.send(.patch, "cameras/a", #"{"settings":{"bitrate":500000}}"#).status == 200)
        let settings = try #require(stage.file("run/service/camera-a.json") ?? stage.file("run/service/camera-a.json"))
        #expect(settings.contains(#""dissem":["alice"]"#) && settings.contains(#""bitrate":500000"#), "\(settings)")
        #expect(settings.contains(#""width":320"#), "\(settings)")
    }

    @Test func `a camera that takes long to start holds up no other change`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        stage.units.hold()
        let first = await control.router.answer(
            APIRequest(
                .post, "/api/v1/cameras", body: Array(#"{"id":"a","source":"test:"}"#.utf8),
                peer: .init(processIdentifier: 1, userIdentifier: 0, groupIdentifier: 0, isAdministrator: true)))
        #expect(first.status == 201)
        #expect(try first.document(CameraDocument.self).stream.state == .starting)
        let second = await control.router.answer(
            APIRequest(
                .patch, "/api/v1/cameras/a", body: Array(#"{"settings":{"bitrate":500000}}"#.utf8),
                peer: .init(processIdentifier: 1, userIdentifier: 0, groupIdentifier: 0, isAdministrator: true)))
        #expect(second.status == 200)
        stage.units.release()
        await control.core.unitJobs.settled()
        // The change came while it started: it starts once more, with the new file.
        #expect(stage.units.calls(of: "a") == ["start", "restart"])
        #expect(stage.units.running["watchbox-camera@a.service"]?.contains("500000") == true)
    }
}
