import CameraModel
import ControlAPI
import ErrorCatalog
import Foundation
import OpenAPI
import Synchronization
import Systemd
import Testing

@testable import ControlPlane

@Suite(.timeLimit(.minutes(15)))
struct ServiceTests {
    @Test func `it is ready after the first apply, reports what runs, and feeds the watchdog`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let socket = try NotifySocket(path: "\(stage.root)/notify")
        let control = try stage.makeService(
            notifier: Notifier(socketPath: socket.path), watchdog: .milliseconds(30),
            sleep: { _ in try await Task.sleep(for: .milliseconds(10)) })
        let running = Task { try await control.run() }
        let first = try #require(await socket.next())
        #expect(first == "READY=1\nSTATUS=2 cameras, generation 1")
        #expect(stage.file("run/service/camera-a.json") != nil)
        _ = await socket.messages(until: "WATCHDOG=1")
        await control.send(.post, "cameras", #"{"id":"c","source":"test:"}"#)
        let reported = await socket.messages(until: "STATUS=3 cameras, generation 2")
        #expect(reported.last == "STATUS=3 cameras, generation 2")
        try stage.write("nonsense")
        await control.reload()
        let reloaded = await socket.messages(until: "READY=1")
        #expect(reloaded.contains { $0.hasPrefix("RELOADING=1") })
        #expect(reloaded.last?.contains("WB-1005") == true)
        running.cancel()
        #expect(await socket.messages(until: "STOPPING=1").last == "STOPPING=1")
        try await running.value
        #expect(stage.units.running.count == 3)
    }

    @Test func `the other daemons' files hold what they need and no secret`() async throws {
        let stage = try ControlStage()
        try stage.write(
            """
            relay.main = { url = "rtmps://live.example.net/live" }
            relay.lan = { url = "rtmp://[fd00::1]:1936/x" }
            kas = { url = "https://kas.example.net/kas" }
            camera.on = { source = "test:" }
            camera.off = { source = "test:", active = false }
            health = { reboot = false, metrics_listen = "127.0.0.1:9464" }
            relay_server = { enabled = true, listen = "127.0.0.1:1935" }
            kas_server = { enabled = true, listen = "127.0.0.1:9443" }

            """)
        let control = try await stage.start()
        #expect(
            stage.file("run/service/health.json")
                == #"{"cameras":[{"id":"on","relay":"main"}],"kas":{"host":"kas.example.net","name":"kas","port":443,"tls":true},"metricsListen":"127.0.0.1:9464","reboot":false,"relays":[{"host":"fd00::1","name":"lan","port":1936,"tls":false},{"host":"live.example.net","name":"main","port":443,"tls":true}]}"#
        )
        #expect(
            stage.file("run/service/relay.json")
                == #"{"allow":[],"deny":[],"graceSeconds":10,"host":"127.0.0.1","isOpen":false,"port":1935,"#
                + #""stateDirectory":"/var/lib/private/watchbox-relay"}"#)
        #expect(
            stage.file("run/service/kas.json")
                == #"{"host":"127.0.0.1","keyEpochSeconds":86400,"keyOverlapSeconds":604800,"port":9443,"#
                + #""stateDirectory":"/var/lib/private/watchbox-kas"}"#)
        for name in ["health", "relay", "kas"] {
            let mode = try FileManager.default.attributesOfItem(atPath: "\(stage.root)/run/service/\(name).json")
            #expect(mode[.posixPermissions] as? Int == 0o644)
        }
        #expect(
            stage.units.words.sorted() == [
                "start watchbox-camera@on.service", "start watchbox-kas.service", "start watchbox-relay.service",
            ])
        stage.units.forgetCalls()
        try stage.write(
            #"""
            relay.main = { url = "rtmps://live.example.net/live" }
            kas = { url = "https://kas.example.net/kas" }
            camera.on = { source = "test:" }
            relay_server = { enabled = true, listen = "127.0.0.1:1936" }

            """#)
        #expect(await control.send(.post, "config/apply").status == 200)
        #expect(stage.units.words.sorted() == ["restart watchbox-relay.service", "stop watchbox-kas.service"])
        #expect(stage.file("run/service/kas.json") == nil)
    }

    private func answer(_ id: String, _ state: CameraStatistics.State) -> String {
        var statistics = CameraStatistics(camera: id, stream: id)
        statistics.state = state
        statistics.collection = "9f86d081"
        statistics.itemsInCollection = 77
        return JSONDocument.text(
            CameraStatusDocument(
                statistics: statistics, instant: 5, framesPerSecond: 25, bitsPerSecond: 1e6, ivUsedRatio: 0,
                watchdogSeconds: nil, version: "1"))
    }

    @Test func `the box's status is put together from units, cameras and health`() async throws {
        // One of the cameras is silent for all of it.
        let stage = try ControlStage(statusDeadline: .seconds(10))
        try stage.write(ControlStage.two + "camera.c = { source = \"test:\" }\ncamera.d = { source = \"test:\" }\n")
        let control = try await stage.start()
        let live = answer("a", .publishing)
        let a = try SocketStub(path: "\(stage.root)/run/camera/a.sock") { _ in (200, live) }
        // Says that it is another one: not believed.
        let b = try SocketStub(path: "\(stage.root)/run/camera/b.sock") { _ in (200, live) }
        // Never answers.
        let c = try SocketStub(path: "\(stage.root)/run/camera/c.sock", answer: nil)
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.cameras.map(\.id) == ["a", "b", "c", "d"])
        #expect(status.cameras.map(\.stream.state) == [.live, .unknown, .unknown, .unknown])
        #expect(status.cameras[0].stream.framesPerSecond == 25)
        #expect(status.state == .degraded)
        #expect(status.reason == "3 of 4 cameras are not publishing")
        #expect(status.hint == "watchboxctl camera show b")
        #expect(status.health == nil)
        #expect(status.version == "1.2.3")
        #expect(status.uptimeSeconds == 100)
        let key = try await control.get(KeyDocument.self, "keys/a")
        #expect(key.collection == "9f86d081")
        #expect(key.ivUsed == 77)
        #expect(await control.send(.get, "keys/d").status == 504)
        #expect(await control.send(.post, "streams/a/key-frame").status == 204)
        #expect(await control.send(.post, "keys/a/rotate").status == 200)
        #expect(a.requests.contains("POST /api/v1/key-frame HTTP/1.1"))
        #expect(a.requests.contains("POST /api/v1/rotate-key HTTP/1.1"))
        _ = (b, c)
    }

    @Test func `a box whose cameras all publish is ok, and the first frame of each is remembered`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.connections)
        let control = try await stage.start()
        await control.send(.post, "cameras", #"{"id":"a","source":"test:"}"#)
        let watcher = try control.core.hub.watch(topics: ["camera"], after: nil)
        let starting = answer("a", .connecting)
        let live = answer("a", .publishing)
        var stub = try SocketStub(path: "\(stage.root)/run/camera/a.sock") { _ in (200, starting) }
        await control.core.tick()
        try FileManager.default.removeItem(atPath: "\(stage.root)/run/camera/a.sock")
        stub = try SocketStub(path: "\(stage.root)/run/camera/a.sock") { _ in (200, live) }
        await control.core.tick()
        #expect(try await control.get(BoxStatus.self, "status").state == .ok)
        let camera = try await control.get(CameraDocument.self, "cameras/a")
        #expect(camera.lastConnected == 1_700_000_000)
        // One look is not news.
        stage.now.withLock { $0 += .seconds(10) }
        await control.core.tick()
        var reported: [String] = []
        for await event in watcher {
            reported.append(try JSONDocument.decode(EventDocument.self, from: Array(event.data.utf8)).text)
            if reported.last == "live" { break }
        }
        #expect(reported.last == "live")
        _ = stub
    }

    @Test func `health is forwarded, with its own message also when it refuses`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        #expect(await control.send(.get, "health").status == 504)
        #expect(await control.send(.get, "health").problem?.code == .unreachable)
        let report = JSONDocument.text(
            HealthReport(
                state: .fail, time: 1,
                checks: [
                    HealthCheck(
                        check: "clock", state: .fail, since: 1, evidence: "not set", code: .clockUnset, hint: "wait")
                ], ladder: LadderDocument(steps: []), recoveries: ["L1": 2]))
        let problem = JSONDocument.text(Problem(CodedError(.notFound, "there is no check x")))
        let stub = try SocketStub(path: "\(stage.root)/run/health.sock") { request in
            request.contains("acknowledge") ? (404, problem) : (200, report)
        }
        #expect(try await control.get(HealthReport.self, "health").state == .fail)
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.isClockSynchronised == false)
        #expect(status.recoveriesToday == 2)
        #expect(status.state == .degraded)
        #expect(status.reason == "clock: not set")
        let refused = await control.send(.post, "health/x/acknowledge")
        #expect(refused.status == 404)
        #expect(refused.problem?.code == .notFound)
        #expect(await control.send(.get, "health/history", query: ["hours": "25"]).status == 400)
        _ = stub
    }

    @Test func `a box without supervision is not ok, but for the first seconds`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        #expect(try await control.get(BoxStatus.self, "status").state == .ok)
        stage.now.withLock { $0 += .seconds(20) }
        let status = try await control.get(BoxStatus.self, "status")
        #expect(status.state == .degraded)
        #expect(status.reason == "the health daemon does not answer")
        #expect(status.hint == "systemctl status watchbox-health")
        let report = JSONDocument.text(
            HealthReport(state: .ok, time: 1, checks: [], ladder: LadderDocument(steps: []), recoveries: [:]))
        let stub = try SocketStub(path: "\(stage.root)/run/health.sock") { _ in (200, report) }
        #expect(try await control.get(BoxStatus.self, "status").state == .ok)
        _ = stub
    }

    @Test func `metrics name version, cameras and generation`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let control = try await stage.start()
        let answer = await control.router.answer(
            APIRequest(
                .get, "/metrics",
                peer: .init(processIdentifier: 1, userIdentifier: 1, groupIdentifier: 1, isAdministrator: false)))
        #expect(answer.text.contains("watchbox_build_info{version=\"1.2.3\",role=\"control\"} 1\n"))
        #expect(answer.text.contains("watchbox_cameras_configured 2\n"))
        #expect(answer.text.contains("watchbox_config_generation 1\n"))
    }

    @Test func `systemd's refusal is reported with its code`() async throws {
        let stage = try ControlStage()
        try stage.write(ControlStage.two)
        let control = try await stage.start()
        stage.units.fail("watchbox-camera@a.service", .denied("start"))
        let answer = await control.send(.post, "streams/a/restart")
        #expect(answer.status == 500)
        #expect(answer.problem?.code == .systemManager)
    }

    /// `WATCHBOX_WRITE_DOCS=1 swift test --filter OpenAPI` writes it again.
    @Test func `the committed OpenAPI document is the one that the code makes`() async throws {
        let stage = try ControlStage()
        let control = try await stage.start()
        #expect(OpenAPIDocument.undocumented(control.router.routes) == [])
        let made = OpenAPIDocument.text(title: "WatchBox control", version: "1", routes: control.router.routes)
        let path = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("../../../docs/ref/openapi.json")
        if ProcessInfo.processInfo.environment["WATCHBOX_WRITE_DOCS"] == "1" {
            try made.write(to: path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: path, encoding: .utf8) == made)
        for route in control.router.routes { #expect(made.contains("\"\(route.path)\""), "\(route.path)") }
    }
}
