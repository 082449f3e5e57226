import ControlAPI
import ErrorCatalog
import Foundation
import Testing

@testable import Hooks

/// Hooks that post to a server that was not written by us.
@Suite(.timeLimit(.minutes(15)), .enabled(if: Receiver.isInstalled, "python3 is not installed"))
struct HooksServiceTests {
    @Test func `an event arrives once, with what the guide says`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        try await stage.running([HookStage.hook("home", receiver.url + "/ok")]) { service in
            stage.happens(1)
            stage.happens(2, topic: "config", "generation 3: camera edit")
            stage.happens(3, topic: "health", object: nil, "the disk is full")
            let requests = await receiver.requests(2, of: "/ok")
            #expect(
                requests.map(\.body) == [
                    #"{"box":"porch-box","code":"WB-2001","id":1,"missed":0,"object":"front","text":"is not live","#
                        + #""time":"2027-01-15T07:59:59.000Z","topic":"camera","version":1}"#,
                    #"{"box":"porch-box","code":"WB-2001","id":3,"missed":0,"text":"the disk is full","#
                        + #""time":"2027-01-15T07:59:59.000Z","topic":"health","version":1}"#,
                ])
            #expect(requests[0].headers["content-type"] == "application/json")
            #expect(requests[0].headers["idempotency-key"] == "1799999999000001-1")
            #expect(requests[0].headers["authorization"] == nil)
            let state = try await service.state("home") { $0.delivered == 2 }
            #expect(!state.isFailing && state.queued == 0 && state.missed == 0 && state.lastDelivered != nil)
        }
        #expect(receiver.requests.count == 2)
    }

    @Test func `ntfy gets text and headers`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        try await stage.running([HookStage.hook("phone", receiver.url + "/ok", kind: "ntfy")]) { _ in
            stage.happens(1, object: "tür", "is not live\r\nX-Evil: 1")
            let request = try #require(await receiver.requests(1, of: "/ok").first)
            #expect(request.body == "is not live\r\nX-Evil: 1 (WB-2001)")
            #expect(request.headers["title"] == "=?UTF-8?B?cG9yY2gtYm94OiB0w7xy?=")
            #expect(request.headers["priority"] == "4" && request.headers["tags"] == "rotating_light,camera")
            #expect(request.headers["x-evil"] == nil)
        }
    }

    @Test func `after a 503 it is sent again, and the journal says it once`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        try await stage.running([HookStage.hook("home", receiver.url + "/flaky")]) { service in
            stage.happens(1)
            let requests = await receiver.requests(2, of: "/flaky")
            #expect(requests[0] == requests[1], "the same message, with the same key")
            let state = try await service.state("home") { $0.delivered == 1 }
            #expect(!state.isFailing && state.code == nil && state.missed == 0)
        }
        let lines = stage.lines
        #expect(lines.count { $0.contains("status 503") && $0.contains("WB-5201") } == 1)
        #expect(lines.count { $0.contains("messages arrive again") } == 1)
    }

    @Test func `after a 404 it is not sent again, and the next one says that it is missing`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        try await stage.running([HookStage.hook("home", receiver.url + "/gone")]) { service in
            for id in Int64(1)...3 { stage.happens(id) }
            let requests = await receiver.requests(3, of: "/gone")
            #expect(requests.map { $0.body.contains(#""missed":0"#) } == [true, false, false])
            #expect(requests[2].body.contains(#""missed":2"#))
            let state = try await service.state("home") { $0.missed == 3 }
            #expect(state.code == .hookRefused && state.reason == "the receiver answers with status 404")
            #expect(state.delivered == 0 && state.queued == 0)
        }
        #expect(receiver.requests.count == 3)
        #expect(stage.lines.count { $0.contains("status 404") } == 1, "logged once")
    }

    @Test func `a redirect is not followed, and of a long answer the status is enough`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        let hooks = [HookStage.hook("away", receiver.url + "/away"), HookStage.hook("long", receiver.url + "/long")]
        try await stage.running(hooks) { service in
            stage.happens(1)
            let away = try await service.state("away") { $0.missed == 1 }
            #expect(away.reason == "the receiver answers with status 302")
            _ = try await service.state("long") { $0.delivered == 1 }
            for path in ["/away", "/long"] { _ = await receiver.requests(1, of: path) }
        }
        #expect(Set(receiver.requests.map(\.path)) == ["/away", "/long"])
    }

    @Test func `a server that hangs delays no other hook`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        let hooks = [HookStage.hook("hang", receiver.url + "/hang"), HookStage.hook("home", receiver.url + "/ok")]
        try await stage.running(hooks) { service in
            for id in Int64(1)...5 { stage.happens(id) }
            _ = try await service.state("home") { $0.delivered == 5 }
            let hanging = try await service.state("hang") { $0.queued == 5 }
            #expect(hanging.delivered == 0)
        }
    }

    @Test func `a restart neither loses an event nor repeats one`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        stage.happens(7, "before the hook was there")
        let hook = HookStage.hook("home", receiver.url + "/ok")
        try await stage.running([hook]) { service in
            stage.happens(8)
            _ = try await service.state("home") { $0.delivered == 1 }
        }
        stage.happens(9)
        stage.happens(10, topic: "config")
        stage.happens(11)
        try await stage.running([hook]) { service in
            _ = try await service.state("home") { $0.delivered == 2 }
            // Control's restart: the stream ends, and goes on behind the last event.
            stage.endStreams()
            stage.happens(12)
            _ = try await service.state("home") { $0.delivered == 3 }
        }
        let numbers = await receiver.requests(4, of: "/ok").compactMap {
            $0.headers["idempotency-key"]?.split(separator: "-").last
        }
        #expect(numbers == ["8", "9", "11", "12"])
    }

    @Test func `what was under way when its process ended is sent by the next one`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        try await stage.running([HookStage.hook("home", receiver.url + "/hang")]) { _ in
            stage.happens(1)
            stage.happens(2)
            _ = await receiver.requests(1, of: "/hang")
        }
        try await stage.running([HookStage.hook("home", receiver.url + "/ok")]) { service in
            _ = try await service.state("home") { $0.delivered == 2 }
        }
        #expect(await receiver.requests(2, of: "/ok").map(\.body).allSatisfy { $0.contains(#""missed":0"#) })
    }

    @Test func `only the cameras that were named, and nothing of the hooks themselves`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        let hook = HookStage.hook("home", receiver.url + "/ok", events: ["camera", "system"], cameras: ["front"])
        try await stage.running([hook]) { service in
            stage.happens(1, object: "back")
            stage.happens(2, topic: "system", object: "watchbox-hooks.service", "failed")
            stage.happens(3, topic: "system", object: nil, "the secrets can be read again")
            stage.happens(4, object: "front")
            _ = try await service.state("home") { $0.delivered == 2 }
        }
        #expect(
            await receiver.requests(2, of: "/ok").map { $0.body.contains(#""id":3"#) || $0.body.contains(#""id":4"#) }
                == [true, true])
    }

    @Test func `secrets are where they belong, and nowhere else`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        let hooks = [
            HookStage.hook("phone", nil, kind: "ntfy", urlSecret: "hook-phone", tokenSecret: "bearer-phone"),
            HookStage.hook("dead", nil, urlSecret: "hook-dead", tokenSecret: "bearer-phone"),
        ]
        let secrets = [
            "hook-phone": "\(receiver.url)/ok/topic-hunter2?auth=hunter2\n", "bearer-phone": "tk_hunter2",
            "hook-dead": "http://127.0.0.1:1/topic-hunter2",
        ]
        try await stage.running(hooks, secrets: secrets) { service in
            stage.happens(1, "rtmp://user:hunter2@relay.example.net/live/hunter2 refuses token=hunter2")
            let request = try #require(
                await receiver.requests(1, of: "/ok/topic-hunter2?auth=hunter2").first)
            #expect(request.headers["authorization"] == "Bearer tk_hunter2")
            #expect(!request.body.contains("hunter2"), "\(request.body)")
            let state = try await service.state("dead") { $0.isFailing }
            #expect(!"\(state)".contains("hunter2"))
            #expect(!"\(try await service.test("dead"))".contains("hunter2"))
        }
        #expect(!stage.lines.joined().contains("hunter2"))
        let kept = try String(contentsOfFile: stage.root + "/places.json", encoding: .utf8)
        #expect(!kept.contains("hunter2") && kept.contains("phone"))
    }

    @Test func `a hook whose secret is missing says so, and the others go on`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        let hooks = [
            HookStage.hook("phone", nil, urlSecret: "hook-phone"), HookStage.hook("home", receiver.url + "/ok"),
        ]
        try await stage.running(hooks) { service in
            stage.happens(1)
            _ = try await service.state("home") { $0.delivered == 1 }
            let state = try await service.state("phone") { $0.queued == 1 }
            #expect(state.isFailing && state.code == .missingSecret)
            let answer = await service.ask(.post, "/api/v1/hooks/phone/test")
            #expect(answer.status == 422)
        }
    }

    @Test func `a test reports the outcome, and what to do`() async throws {
        let (stage, receiver) = (try HookStage(), try Receiver())
        let hooks = [
            HookStage.hook("home", receiver.url + "/ok"), HookStage.hook("gone", receiver.url + "/gone"),
            HookStage.hook("dead", "http://127.0.0.1:1/x"),
        ]
        try await stage.running(hooks) { service in
            let good = try await service.test("home")
            #expect(good.isDelivered && good.status == 200 && good.code == nil)
            #expect(await receiver.requests(1, of: "/ok").first?.body.contains(#""topic":"test""#) == true)
            let refused = try await service.test("gone")
            #expect(!refused.isDelivered && refused.status == 404 && refused.code == .hookRefused)
            #expect(refused.hint == "Check the hook's URL: watchboxctl hook edit gone --url-file FILE")
            let dead = try await service.test("dead")
            #expect(!dead.isDelivered && dead.status == nil && dead.code == .hookUnreachable)
            #expect(await service.ask(.post, "/api/v1/hooks/nobody/test").status == 404)
        }
    }
}
