import BoxMemory
import CameraModel
import ControlAPI
import CredentialStore
import ErrorCatalog
import Foundation
import Synchronization
import Testing

@testable import ControlPlane

struct SecretTests {
    private static let secret = "Xy7-very-secret-Zz9"

    @Test func `a camera waits for a secret that is missing, and starts when it is there`() async throws {
        let stage = try ControlStage()
        try stage.write(
            """
            relay.main = { secret = "relay-main" }
            relay.plain = { url = "rtmp://127.0.0.1/plain" }
            kas = { url = "http://127.0.0.1:9443/kas" }
            camera.a = { source = "test:" }
            camera.b = { source = "test:", relay = "plain" }

            """)
        let control = try await stage.start()
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@b.service"])
        let waiting = try await control.get(StreamDocument.self, "streams/a")
        #expect(waiting.code == .missingSecret)
        #expect(waiting.state == .stopped)
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.state == .degraded)
        stage.units.forgetCalls()

        #expect(await control.send(.put, "relays/main/secret", #"{"secret":"rtmp://h/\#(Self.secret)"}"#).status == 204)
        #expect(stage.units.words == ["start watchbox-camera@a.service"])
        #expect(try await control.get(RelayDocument.self, "relays/main").hasSecret)
        // Another one: the cameras of that relay start again, no other does.
        #expect(await control.send(.put, "relays/main/secret", #"{"secret":"rtmp://h/2"}"#).status == 204)
        #expect(stage.units.words == ["start watchbox-camera@a.service", "restart watchbox-camera@a.service"])
        #expect(stage.file("run/service/camera-a.restart") == nil)
    }

    @Test func `a camera's unit is given its own relay's URL, and the box's token unless it has one of its own`()
        async throws
    {
        let stage = try ControlStage()
        try stage.write(
            """
            relay.main = { secret = "relay-main" }
            relay.other = { secret = "relay-other" }
            kas = { url = "http://127.0.0.1:9443/kas", secret = "kas-token" }
            camera.a = { source = "test:", relay = "main" }
            camera.b = { source = "test:", relay = "other" }

            """)
        let control = try await stage.start()
        for (path, secret) in [
            ("relays/main/secret", "rtmp://h/1"), ("relays/other/secret", "rtmp://h/2"), ("kas/token", "of the box"),
        ] {
            #expect(await control.send(.put, path, #"{"secret":"\#(secret)"}"#).status == 204)
        }
        func given(_ camera: String) throws -> [String] {
            try FileManager.default.contentsOfDirectory(atPath: "\(stage.root)/run/secret/box-camera-\(camera)")
                .sorted()
        }
        #expect(try given("a") == ["kas-token", "relay-main"])
        #expect(try given("b") == ["kas-token", "relay-other"])
        try await stage.makeCredentials().set(Array("narrowed".utf8), name: "kas-token", scope: "camera-a")
        #expect(await control.send(.put, "relays/main/secret", #"{"secret":"rtmp://h/3"}"#).status == 204)
        #expect(try given("a") == ["relay-main"])
        #expect(stage.file("run/secret/box-camera-a/relay-main") == "rtmp://h/3")
    }

    @Test func `a secret is never shown again, logged or written in clear outside memory`() async throws {
        let stage = try ControlStage()
        try stage.write("relay.main = { url = \"rtmp://127.0.0.1/live\" }\n")
        let control = try await stage.start()
        await control.send(.put, "kas", #"{"url":"http://127.0.0.1:9443/kas"}"#)
        await control.send(.put, "relays/own", #"{"url":"rtmp://127.0.0.1/own"}"#)
        await control.send(.post, "cameras", #"{"id":"a","source":"test:","settings":{"secret":"password"}}"#)
        let body = #"{"secret":"\#(Self.secret)"}"#
        var answers = ""
        for path in ["cameras/a/password", "kas/token", "relays/own/secret"] {
            let answer = await control.send(.put, path, body)
            #expect(answer.status == 204, "\(path): \(answer.text)")
            answers += answer.text
        }
        for path in [
            "status", "cameras", "cameras/a", "relays", "kas", "streams", "config", "config/export", "config/history",
            "config/diff",
        ] {
            answers += await control.send(.get, path).text
        }
        let refused = await control.send(
            .put, "cameras/a/password", #"{"secret":"\#(Self.secret)\#(String(repeating: "x", count: 5000))"}"#)
        #expect(refused.status == 400)
        answers += refused.text
        #expect(!answers.contains(Self.secret))
        #expect(try await control.get(CameraDocument.self, "cameras/a").hasPassword)
        #expect(try await control.get(KeyAccessDocument.self, "kas").hasToken)
        #expect(try await control.get(RelayDocument.self, "relays/own").hasSecret)

        var places: [String] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: stage.root) {
            guard let bytes = FileManager.default.contents(atPath: "\(stage.root)/\(path)") else { continue }
            if bytes.range(of: Data(Self.secret.utf8)) != nil { places.append(path) }
        }
        #expect(places.allSatisfy { $0.hasPrefix("run/secret/") }, "\(places)")
        #expect(!places.isEmpty)
    }

    @Test func `a camera that is removed takes its secrets with it`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        await control.send(.put, "cameras/a/password", #"{"secret":"one"}"#)
        await control.send(.delete, "cameras/a")
        #expect(stage.units.calls(of: "a") == ["start", "stop"])
        #expect(stage.file("run/service/camera-a.json") == nil)
        #expect(try stage.makeCredentials().names(scope: "camera-a") == [])
        #expect(await control.send(.get, "cameras/a").status == 404)
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        #expect(try await control.get(CameraDocument.self, "cameras/a").hasPassword == false)
    }

    @Test func `a camera that takes the place of a removed one is announced as another`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections + "camera.f = { source = \"test:\" }\n")
        let control = try await stage.start()
        func instance(_ id: String) throws -> String? {
            let text = try #require(stage.file("run/service/camera-\(id).json"))
            return try JSONDocument.decode(CameraConfiguration.self, from: Array(text.utf8)).instance
        }
        let ofFile = try #require(try instance("f"))
        #expect(ofFile.hasPrefix("file-"))
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        let first = try #require(try instance("a"))
        await control.send(.patch, "cameras/a", #"{"name":"other"}"#)
        _ = try await stage.start()
        #expect(try instance("a") == first)
        await control.send(.delete, "cameras/a")
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        #expect(try instance("a") != first)
        let second = try #require(try instance("a"))
        #expect(second.count == 36)
        // A file takes it over, and gives it back.
        try stage.write(ControlStage.connections + "camera.a = { source = \"test:\" }\n")
        #expect(await control.send(.post, "config/apply").status == 200)
        #expect(try instance("a") == second)
        // Another one of its name, of a file as well.
        try stage.write(ControlStage.connections + "camera.f = { source = \"file:///srv/other.mp4\" }\n")
        let answer = await control.send(.post, "config/apply")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(try instance("f") != ofFile)
    }

    @Test func `setting a password restarts the camera that uses it only`() async throws {
        let stage = try ControlStage()
        try stage.write(
            ControlStage.two + "camera.c = { source = \"test:\", user = \"admin\", secret = \"password\" }\n")
        let control = try await stage.start()
        #expect(stage.units.calls(of: "c") == [])
        stage.units.forgetCalls()
        #expect(await control.send(.put, "cameras/c/password", #"{"secret":"one"}"#).status == 204)
        #expect(await control.send(.put, "cameras/c/password", #"{"secret":"two"}"#).status == 204)
        #expect(await control.send(.put, "cameras/a/password", #"{"secret":"three"}"#).status == 204)
        #expect(stage.units.words == ["start watchbox-camera@c.service", "restart watchbox-camera@c.service"])
        #expect(await control.send(.delete, "cameras/c/password").status == 204)
        #expect(stage.units.calls(of: "c") == ["start", "restart", "stop"])
        #expect(await control.send(.delete, "cameras/c/password").status == 404)
    }

    @Test func `killed while a secret is set, a camera does not go on with the old one`() async throws {
        let files = """
            relay.main = { secret = "relay-main" }
            kas = { url = "http://127.0.0.1:9443/kas" }
            camera.a = { source = "test:" }

            """
        func box() async throws -> (ControlStage, ControlService) {
            let stage = try ControlStage()
            try stage.write(files)
            let control = try await stage.start()
            await control.send(.put, "relays/main/secret", #"{"secret":"rtmp://h/1"}"#)
            stage.units.forgetCalls()
            stage.steps.reset()
            return (stage, control)
        }
        let (whole, done) = try await box()
        #expect(await done.send(.put, "relays/main/secret", #"{"secret":"rtmp://h/2"}"#).status == 204)
        let steps = whole.steps.names
        let setting = try #require(steps.firstIndex(of: "credentials: set"))
        for step in 1...steps.count {
            let (stage, control) = try await box()
            stage.steps.kill(at: step)
            await control.send(.put, "relays/main/secret", #"{"secret":"rtmp://h/2"}"#)
            stage.steps.reset()
            _ = try await stage.start()
            let restarts = stage.units.calls(of: "a").filter { $0 == "restart" }.count
            // The step with this number did not happen any more.
            let isSet = step > setting + 1
            if isSet { #expect(restarts >= 1, "step \(step): \(steps[step - 1])") }
            #expect(restarts <= 2)
            #expect(stage.file("run/service/camera-a.restart") == nil, "step \(step)")
        }
    }
}

/// While no one can know whether a secret is there.
struct UnreadableSecretTests {
    private static let files = """
        relay.main = { secret = "relay-main" }
        kas = { url = "http://127.0.0.1:9443/kas", secret = "kas-token" }
        camera.a = { source = "test:" }
        camera.b = { source = "test:" }

        """

    private func box() async throws -> (ControlStage, ControlService) {
        let stage = try ControlStage()
        try stage.write(Self.files)
        let control = try await stage.start()
        await control.send(.put, "relays/main/secret", #"{"secret":"rtmp://h/1"}"#)
        await control.send(.put, "kas/token", #"{"secret":"token"}"#)
        await control.core.tick()
        try #require(stage.units.running.count == 2)
        stage.units.forgetCalls()
        return (stage, control)
    }

    /// The store refuses a directory that others may write into.
    private func setReadable(_ isReadable: Bool, _ stage: ControlStage) throws {
        let path = "\(stage.root)/state/sealed/box"
        try FileManager.default.setAttributes([.posixPermissions: isReadable ? 0o700 : 0o777], ofItemAtPath: path)
    }

    @Test func `what runs goes on, through commits, stops, ticks and a restart of control`() async throws {
        let (stage, control) = try await box()
        try setReadable(false, stage)
        #expect(throws: CredentialError.self) { try stage.makeCredentials().names(scope: "box") }
        #expect(await control.send(.post, "cameras", #"{"id":"c","source":"test:"}"#).status == 201)
        #expect(await control.send(.post, "streams/c/stop").status < 300)
        for _ in 0..<5 { await control.core.tick() }
        await control.core.unitJobs.settled()
        #expect(stage.units.calls(of: "a") + stage.units.calls(of: "b") == [])
        #expect(stage.file("run/service/camera-a.json") != nil)
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.configurationProblem?.contains("store cannot be read") == true, "\(status)")
        let events = try #require(control.core.memory).events(after: 0, limit: 1000)
        #expect(events.count { $0.text.contains("store cannot be read") } == 1)

        let next = try await stage.start()
        for _ in 0..<5 { await next.core.tick() }
        await next.core.unitJobs.settled()
        #expect(stage.units.calls(of: "a") + stage.units.calls(of: "b") == [])
        // With secrets that cannot be read it would not start again.
        #expect(await next.send(.post, "streams/a/restart").status >= 400)
        #expect(stage.units.calls(of: "a") == [])
        // A stop is a stop.
        #expect(await next.send(.post, "streams/b/stop").status < 300)
        #expect(stage.units.calls(of: "b") == ["stop"])

        try setReadable(true, stage)
        stage.now.withLock { $0 += .seconds(60) }
        await next.core.tick()
        await next.core.unitJobs.settled()
        #expect(stage.units.calls(of: "a") == [])
        #expect(try await next.get(BoxStatus.self, "status").configurationProblem == nil)
        #expect(await next.send(.post, "streams/c/start").status < 300)
        #expect(Set(stage.units.running.keys) == ["watchbox-camera@a.service", "watchbox-camera@c.service"])
    }

    @Test func `a change meanwhile comes when the store can be read again`() async throws {
        let (stage, control) = try await box()
        try setReadable(false, stage)
        try stage.write(
            Self.files.replacingOccurrences(
                of: "camera.a = { source = \"test:\" }", with: "camera.a = { source = \"test:\", size = \"640x360\" }"))
        #expect(await control.send(.post, "config/apply", "{}").status == 200)
        await control.core.tick()
        #expect(stage.units.calls(of: "a") == [])
        try setReadable(true, stage)
        stage.now.withLock { $0 += .seconds(60) }
        await control.core.tick()
        await control.core.unitJobs.settled()
        #expect(stage.units.calls(of: "a") == ["restart"])
    }

    @Test func `a secret that could not be set leaves the restart that another change owes`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections + "camera.c = { source = \"test:\", secret = \"password\" }\n")
        let control = try await stage.start()
        await control.send(.put, "cameras/c/password", #"{"secret":"one"}"#)
        let mark = "\(stage.root)/run/service/camera-c.restart"
        try "owed by another change".write(toFile: mark, atomically: true, encoding: .utf8)
        chmod(mark, 0o600)
        stage.steps.refuse { $0 == "credentials: set" }
        #expect(await control.send(.put, "cameras/c/password", #"{"secret":"two"}"#).status >= 400)
        #expect(stage.file("run/service/camera-c.restart") == "owed by another change")
        stage.steps.reset()
        try FileManager.default.removeItem(atPath: mark)
        stage.steps.refuse { $0 == "credentials: set" }
        #expect(await control.send(.put, "cameras/c/password", #"{"secret":"two"}"#).status >= 400)
        #expect(stage.file("run/service/camera-c.restart") == nil)
    }
}
